"""Which part of a file is used, and how: tail-first-archive, read-little-of-much, copy-by-hand."""

from collections.abc import Iterator
from typing import Final

import polars as pl

from tracefast.analysis.insights.files.data import calls_on, of_files, path_of, took, total
from tracefast.analysis.insights.files.reading import MANY_JUMPS
from tracefast.analysis.insights.finding import Finding, Rule, Threshold
from tracefast.analysis.insights.log import CLOSES, FETCHES, LOOKS, OPENS, READS, SEEKS, WRITES, Log
from tracefast.analysis.insights.tables import Tables
from tracefast.quantities import Range, percent, plural, size

FAR: Final = Threshold(
    "longest jumps (90th percentile), by the size of the file",
    0.5,
    "share",
    "from its start to its end and back",
)
BACKWARD: Final = Threshold(
    "reads that start before the one before, but not at 0",
    2,
    "",
    "the end-of-archive record, then the directory before it",
)
LARGE: Final = Threshold("size of the archive", 65_536, "B", "one read would take it whole")
LITTLE: Final = Threshold("share of a file that is read", 0.05, "share", "a header")
MUCH: Final = Threshold("size of the file", 262_144, "B", "twice the kernel's read-ahead")
MANY: Final = Threshold("such files", 20, "", "a few are looked at by chance")
COPIED: Final = Threshold("bytes that are copied", 1 << 20, "B", "less is copied in a millisecond")


def _archives(tables: Tables) -> pl.DataFrame:
    back = pl.col("read_backward") - pl.col("read_rewinds")
    return tables.data_files.filter(
        back >= BACKWARD.value,
        # With more of them, the file is read at random.
        pl.col("read_forward") + pl.col("read_backward") < MANY_JUMPS.value,
        pl.col("size") >= LARGE.value,
        # A file that is read as a whole, again and again, is not such an archive.
        pl.col("read_reread_bytes") < pl.col("read_unique_bytes"),
        pl.col("read_jump_p90") >= FAR.value * pl.col("size"),
    ).sort("read_bytes", descending=True, nulls_last=True, maintain_order=True)


def tail_first_archive(log: Log) -> Iterator[Finding]:
    """Find archives whose end is read first, to find what is in them."""
    files = log.chosen(_archives)
    if files.is_empty():
        return
    reads, moved = total(files, "reads"), total(files, "read_bytes")
    time = log.time(total(files, "read_ns"), reads, READS)
    weight = log.weight(time, moved)
    if weight is None:
        return
    backward = total(files, "read_backward")
    yield Finding(
        weight=weight,
        evidence=f"{backward:,} of {plural(reads, 'read')} of {of_files(files)} go back, with jumps"
        f" over {percent(FAR.value)} of the file and more; {size(moved)} of"
        f" {size(total(files, 'size'))} were read",
        numbers={"files": files.height, "reads": reads, "backward": backward, "bytes": moved},
        object=path_of(files),
        calls=calls_on(files, FETCHES, ["backward"]),
        advice=TAIL_FIRST_ARCHIVE.advice,
    )


TAIL_FIRST_ARCHIVE: Final = Rule(
    code="tail-first-archive",
    title="An archive is opened from its end: record, directory, then the entries.",
    looks_for="Files that are read at the start, then near the end, and from there backwards, as"
    " readers of zip archives do (PyTorch's .pth, .npz, .jar, .whl). On a disk each of these reads"
    " waits for a place of its own, and read-ahead does not help.",
    advice="Open an archive once and keep it open; read the last 64 KiB in one read and find record"
    " and directory in it; for models, map the file (torch.load(mmap=True)) or use a format whose"
    " directory comes first (safetensors).",
    find=tail_first_archive,
    thresholds=(BACKWARD, FAR, LARGE),
    tables=frozenset({"files", "roles"}),
)


def _little(tables: Tables) -> pl.DataFrame:
    return tables.data_files.filter(
        pl.col("reads") > 0,
        pl.col("mmaps") == 0,
        pl.col("size") >= MUCH.value,
        pl.col("read_unique_bytes") > 0,
        pl.col("read_coverage_share") <= LITTLE.value,
    ).sort("size", descending=True, nulls_last=True, maintain_order=True)


def read_little_of_much(log: Log) -> Iterator[Finding]:
    """Find many large files of which only a little is read."""
    files = log.chosen(_little)
    if files.height < MANY.value:
        return
    calls, _, time = log.spent(OPENS | CLOSES | LOOKS | SEEKS | READS, files["file"])
    moved = total(files, "read_bytes")
    weight = log.weight(time, moved)
    if weight is None:
        return
    unique, whole = total(files, "read_unique_bytes"), total(files, "size")
    yield Finding(
        weight=weight,
        evidence=f"{size(unique)} of {size(whole)} ({percent(unique / whole)}) of {of_files(files)}"
        f" were read; opening, seeking and reading: {plural(calls, 'call')}{took(time)}",
        numbers={"files": files.height, "bytes": unique, "size": whole},
        object=path_of(files),
        calls=calls_on(files, FETCHES),
        advice=READ_LITTLE_OF_MUCH.advice,
    )


READ_LITTLE_OF_MUCH: Final = Rule(
    code="read-little-of-much",
    title="Of many large files only a little is read.",
    looks_for="Twenty files or more, larger than what the kernel reads ahead, of which a twentieth"
    " or less is read. Each costs an open, and the kernel fetches more than is used.",
    advice="Keep what is read of them (sizes, headers, labels) in one small file;"
    " posix_fadvise(POSIX_FADV_RANDOM) keeps the kernel from reading ahead.",
    find=read_little_of_much,
    thresholds=(MANY, MUCH, LITTLE),
    tables=frozenset({"files", "roles"}),
)


def _one_way(tables: Tables) -> pl.DataFrame:
    """Give files of which much is read and nothing written, or the other way round."""
    read, written = pl.col("read_bytes"), pl.col("write_bytes")
    return tables.data_files.filter(
        pl.col("path").is_not_null(),
        ((read >= COPIED.value) & (written == 0)) | ((written >= COPIED.value) & (read == 0)),
    )


def copy_by_hand(log: Log) -> Iterator[Finding]:
    """Find pairs of files of which one has as many bytes read as the other has written."""
    own = log.chosen(_one_way)
    reads, writes = own.filter(pl.col("write_bytes") == 0), own.filter(pl.col("read_bytes") == 0)
    if reads.is_empty() or writes.is_empty():
        return
    by_calls = {
        kind: log.calls.filter(pl.col("name").is_in(sorted(names)), pl.col("file").is_not_null())
        .group_by("file")
        .agg(pl.col("calls").sum().alias("by_calls"))
        for kind, names in (("r", READS), ("w", WRITES))
    }
    # What sendfile and copy_file_range move is counted with the files, but not by these calls.
    reads = reads.join(by_calls["r"], on="file").filter(pl.col("by_calls") == pl.col("reads"))
    writes = writes.join(by_calls["w"], on="file").filter(pl.col("by_calls") == pl.col("writes"))
    pairs = (
        reads.select(
            "file",
            "path",
            "reads",
            "read_eof",
            "read_ns",
            "ts_first",
            "ts_last",
            bytes="read_bytes",
        )
        .join(
            writes.select(
                "write_ns",
                "ts_first",
                "ts_last",
                "writes",
                bytes="write_bytes",
                to="path",
            ),
            on="bytes",
        )
        .filter(
            pl.col("reads") - pl.col("read_eof") == pl.col("writes"),
            # At the same time, where there are times.
            (pl.col("ts_first") <= pl.col("ts_last_right")).fill_null(value=True),
            (pl.col("ts_first_right") <= pl.col("ts_last")).fill_null(value=True),
        )
        .unique("file")
        .sort("bytes", descending=True, nulls_last=True)
    )
    if pairs.is_empty():
        return
    moved, number = total(pairs, "bytes"), total(pairs, "writes")
    one = log.time(total(pairs, "read_ns"), total(pairs, "reads"), READS)
    other = log.time(total(pairs, "write_ns"), number, WRITES)
    time = Range(one.low + other.low, one.high + other.high)
    weight = log.weight(time, 2 * moved)
    if weight is None:
        return
    first = pairs.row(0, named=True)
    yield Finding(
        weight=weight,
        evidence=f"{size(moved)} read of {of_files(pairs)} were written to"
        f" {'another one' if pairs.height == 1 else 'others'}, as many bytes in as many calls:"
        f" {plural(number, 'write')}{took(time)}; the first is {first['to']}",
        numbers={"files": pairs.height, "bytes": moved, "writes": number},
        object=first["path"],
        calls=calls_on(pairs, READS),
        saving=Range(0, time.high) if time.high else None,
        advice=COPY_BY_HAND.advice,
    )


COPY_BY_HAND: Final = Rule(
    code="copy-by-hand",
    title="Files seem to be copied through the program.",
    looks_for="A file that is only read and another one that is only written at the same time, as"
    " many bytes in as many calls. The data are copied into the program and back. That it is a copy"
    " is likely; the log does not show all data.",
    advice="Let the kernel copy: copy_file_range, sendfile, the ioctl FICLONE; in Python"
    " shutil.copyfile, os.copy_file_range.",
    find=copy_by_hand,
    thresholds=(COPIED,),
    tables=frozenset({"files", "roles"}),
)
