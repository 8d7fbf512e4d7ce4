"""What is read more than once: re-reads, read-by-many, header-then-all, end-of-file-probes."""

from collections.abc import Iterator, Sequence
from typing import Final

import polars as pl

from tracefast.analysis.insights.files.data import calls_on, of_files, path_of, total
from tracefast.analysis.insights.finding import Finding, Rule, Threshold
from tracefast.analysis.insights.log import FETCHES, READS, Log
from tracefast.analysis.insights.tables import Tables
from tracefast.analysis.insights.weights import weight_of_calls
from tracefast.quantities import Range, percent, plural, size

TWICE: Final = Threshold(
    "bytes that a process read, by distinct bytes", 2, "", "everything was read twice"
)
READERS: Final = Threshold(
    "processes that read the same bytes", 3, "", "two may be a writer and its check"
)
PROBES: Final = Threshold(
    "share of the reads of a file that only meet its end", 0.1, "share", "one after ten is cheap"
)
# What one process read again: what is read again at all, less what others read.
_OWN: Final = (pl.col("read_reread_bytes") - pl.col("read_shared_bytes")).clip(0)


def _read_again(tables: Tables) -> pl.DataFrame:
    return (
        tables.data_files.with_columns(_OWN.alias("again"))
        .filter(
            pl.col("again") > 0,
            (TWICE.value - 1) * (pl.col("read_unique_bytes") + pl.col("read_shared_bytes"))
            <= pl.col("again"),
        )
        .sort("again", descending=True, nulls_last=True, maintain_order=True)
    )


def re_reads(log: Log) -> Iterator[Finding]:
    """Find files that the same process reads again and again."""
    files = log.chosen(_read_again)
    yield from _again(log, files, RE_READS, "by the same process")


RE_READS: Final = Rule(
    code="re-reads",
    title="A process reads the same bytes again and again.",
    looks_for="Files of which one process reads every byte at least twice, on average. The page"
    " cache answers the second read, as long as it has the room, but every read copies the bytes"
    " again.",
    advice="Keep what was read, or map the file (mmap): all reads of a mapping share the pages.",
    find=re_reads,
    thresholds=(TWICE,),
    tables=frozenset({"files", "roles"}),
)


def _rewound(tables: Tables) -> pl.DataFrame:
    return (
        tables.data_files.with_columns(_OWN.alias("again"))
        .filter(
            pl.col("read_rewinds") > 0,
            pl.col("again") > 0,
            # What is read twice as a whole is for `re_reads`.
            pl.col("again")
            < (TWICE.value - 1) * (pl.col("read_unique_bytes") + pl.col("read_shared_bytes")),
        )
        .sort("again", descending=True, nulls_last=True, maintain_order=True)
    )


def header_then_all(log: Log) -> Iterator[Finding]:
    """Find files whose start is read, and then read again with the rest."""
    files = log.chosen(_rewound)
    rewinds = total(files, "read_rewinds")
    yield from _again(
        log,
        files,
        HEADER_THEN_ALL,
        f"after {plural(rewinds, 'jump')} back to the start",
        access=["backward"],
        more={"rewinds": rewinds},
    )


HEADER_THEN_ALL: Final = Rule(
    code="header-then-all",
    title="The start of a file is read, and then read again with the rest.",
    looks_for="Files that are read from the start, and after a jump back to the start once more:"
    " to find out what they are, to skip a header, to hand them to a library.",
    advice="Read the start once and keep it: read what is left after it, or give the library the"
    " bytes (io.BytesIO, fmemopen) instead of a file that it reads from the start.",
    find=header_then_all,
    tables=frozenset({"files", "roles"}),
)


def _again(
    log: Log,
    files: pl.DataFrame,
    rule: Rule,
    how: str,
    *,
    access: Sequence[str] = (),
    more: dict[str, float] | None = None,
) -> Iterator[Finding]:
    if files.is_empty():
        return
    reads, moved, again = (total(files, name) for name in ("reads", "read_bytes", "again"))
    part = again / moved
    all_of_it = log.time(total(files, "read_ns"), reads, READS)
    time = Range(int(all_of_it.low * part), int(all_of_it.high * part))
    weight = log.weight(time, again)
    if weight is None:
        return
    took = f", which took {time}" if time.high else ""
    yield Finding(
        weight=weight,
        evidence=f"{size(again)} of {size(moved)} ({percent(part)}) that were read of"
        f" {of_files(files)} were read again {how}{took}",
        numbers={"files": files.height, "bytes": moved, "bytes_again": again, **(more or {})},
        object=path_of(files),
        calls=calls_on(files, FETCHES, access),
        saving=time if time.high else None,
        advice=rule.advice,
    )


def _shared(tables: Tables) -> pl.DataFrame:
    # Modules are of interest as well: each worker loads them again.
    return tables.read_files.filter(
        pl.col("processes") >= READERS.value,
        pl.col("read_shared_bytes") > 0,
    ).sort("read_shared_bytes", descending=True, nulls_last=True, maintain_order=True)


def read_by_many(log: Log) -> Iterator[Finding]:
    """Find files that several processes each read for themselves."""
    files = log.chosen(_shared)
    if files.is_empty():
        return
    reads, moved, shared = (
        total(files, name) for name in ("reads", "read_bytes", "read_shared_bytes")
    )
    all_of_it = log.time(total(files, "read_ns"), reads, READS)
    time = Range(int(all_of_it.low * shared / moved), int(all_of_it.high * shared / moved))
    weight = log.weight(time, shared)
    if weight is None:
        return
    most = int(files["processes"].max() or 0)  # type: ignore[arg-type]
    first = files.row(0, named=True)
    yield Finding(
        weight=weight,
        evidence=f"{size(shared)} of {of_files(files)} were read by a process after another one had"
        f" read them, by up to {plural(most, 'process', 'processes')}; most of it of"
        f" {first['path'] or 'a file without a name'}: {size(first['read_shared_bytes'])} by"
        f" {first['processes']:,} processes",
        numbers={
            "files": files.height,
            "processes": most,
            "bytes": moved,
            "bytes_shared": shared,
        },
        object=path_of(files),
        calls=calls_on(files, FETCHES),
        saving=time if time.high else None,
        advice=READ_BY_MANY.advice,
    )


READ_BY_MANY: Final = Rule(
    code="read-by-many",
    title="Several processes each read the same bytes.",
    looks_for="Files whose bytes at least three processes read, each for itself: an index, a model,"
    " modules. The page cache holds one copy, but each process copies and decodes its own.",
    advice="Load it before the workers are forked, or in a forkserver (set_forkserver_preload);"
    " map it (mmap) instead of reading it; or give each worker only its part.",
    find=read_by_many,
    thresholds=(READERS,),
    tables=frozenset({"files", "roles"}),
)


def _probed(tables: Tables) -> pl.DataFrame:
    return tables.data_files.filter(
        pl.col("read_eof") > 0,
        # A file that is only looked at, and is empty, has no end to be asked for.
        pl.col("reads") > pl.col("read_eof"),
        pl.col("read_eof") >= PROBES.value * pl.col("reads"),
    ).sort("read_eof", descending=True, nulls_last=True, maintain_order=True)


def end_of_file_probes(log: Log) -> Iterator[Finding]:
    """Find files that are read once more at their end, although that gives nothing."""
    files = log.chosen(_probed)
    if files.is_empty():
        return
    probes, reads = total(files, "read_eof"), total(files, "reads")
    probe_ns = int((files["read_eof"] * files["read_p50_ns"].fill_null(0)).sum())
    time = log.time(probe_ns, probes, READS)
    # Without times, by the part of the calls.
    of_calls = probes / max(int(log.syscalls["calls"].sum()), 1)
    weight = log.weight(time) if log.wall_ns else weight_of_calls(of_calls)
    if weight is None:
        return
    took = f", which took {time}" if time.high else ""
    yield Finding(
        weight=weight,
        evidence=f"{probes:,} of {plural(reads, 'read')} of {of_files(files)} only met the end of"
        f" the file{took}",
        numbers={"files": files.height, "reads": reads, "probes": probes},
        object=path_of(files),
        calls=calls_on(files, FETCHES, ["eof"]),
        saving=time if time.high else None,
        advice=END_OF_FILE_PROBES.advice,
    )


END_OF_FILE_PROBES: Final = Rule(
    code="end-of-file-probes",
    title="Files are read once more after their end.",
    looks_for="Reads that return nothing, because the one before had reached the end. A reader that"
    " does not know the size asks until it gets nothing; CPython's buffered reader asks for what is"
    " left of the wanted bytes, rounded down to whole blocks.",
    advice="Ask for the size (fstat) and stop there; in Python, read the whole file with one"
    " read() of an unbuffered file (buffering=0), or os.pread with the known size.",
    find=end_of_file_probes,
    thresholds=(PROBES,),
    tables=frozenset({"files", "roles"}),
)
