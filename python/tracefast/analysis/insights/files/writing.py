"""How files are written: small-writes, sync-per-write, unaligned-direct, written-never-read."""

from collections.abc import Container, Iterator
from typing import Final

import polars as pl

from tracefast.analysis.insights.files.data import calls_on, of_files, part_of, path_of, took, total
from tracefast.analysis.insights.finding import Calls, Finding, Rule, Severity, Threshold, Weight
from tracefast.analysis.insights.log import READS, SYNCS, WRITES, Log
from tracefast.analysis.insights.tables import Tables
from tracefast.quantities import Range, plural, size

SMALL: Final = Threshold("bytes of a write, median and mean", 4096, "B", "a page")
MANY: Final = Threshold("writes to a file", 100, "", "fewer take about as long as opening it")
SYNCED: Final = Threshold("calls of fsync and the like on a file", 5, "", "fewer are checkpoints")
WRITES_PER_SYNC: Final = Threshold(
    "writes for each of them, at most", 2, "", "with more, each makes a group of writes safe"
)
REFUSED: Final = Threshold("reads and writes that fail with EINVAL", 1, "", "none should")
# What programs write that write in large parts.
_LARGE: Final = 65_536


def _small(tables: Tables) -> pl.DataFrame:
    return tables.data_files.filter(
        pl.col("writes") >= MANY.value,
        pl.col("write_size_median") < SMALL.value,
        pl.col("write_bytes") < SMALL.value * pl.col("writes"),
    ).sort("writes", descending=True, nulls_last=True, maintain_order=True)


def small_writes(log: Log) -> Iterator[Finding]:
    """Find files that are written in order, in parts that are smaller than a page."""
    files = log.chosen(_small)
    if files.is_empty():
        return
    writes, moved = total(files, "writes"), total(files, "write_bytes")
    time = log.time(total(files, "write_ns"), writes, WRITES)
    weight = log.weight(time, moved)
    if weight is None:
        return
    needed = files.height + moved // _LARGE
    left = max(writes - needed, 0) / writes
    yield Finding(
        weight=weight,
        evidence=f"{plural(writes, 'write')} to {of_files(files)} gave {size(moved)},"
        f" {size(moved // writes)} each{took(time)}",
        numbers={"files": files.height, "writes": writes, "bytes": moved, "needed_writes": needed},
        object=path_of(files),
        calls=calls_on(files, WRITES),
        saving=part_of(time, left),
        advice=SMALL_WRITES.advice,
    )


SMALL_WRITES: Final = Rule(
    code="small-writes",
    title="Files are written in parts smaller than a page.",
    looks_for="Files with many writes whose median is below a page. Each call costs the same,"
    " however little it moves.",
    advice="Collect what is written: a buffer of 64 KiB (setvbuf, BufWriter, io.BufferedWriter), no"
    " flush after each line, or writev for several parts.",
    find=small_writes,
    thresholds=(MANY, SMALL),
    tables=frozenset({"files", "roles"}),
)


def _synced(tables: Tables) -> pl.DataFrame:
    """Give the files that are synced after each write or two, and then what belongs to them."""
    syncs = (
        tables.calls.filter(pl.col("name").is_in(sorted(SYNCS)), pl.col("file").is_not_null())
        .group_by("source", "file")
        .agg(pl.col("calls").sum().alias("syncs"), pl.col("dur_ns").sum().alias("sync_ns"))
        .filter(pl.col("syncs") > 0)
    )
    # A file that is made again under its name, as journals are, is one.
    name = pl.coalesce("path", pl.col("file").cast(pl.String)).alias("name")
    synced, written = (
        pl.col(column).sum().over("source", "name") for column in ("syncs", "writes")
    )
    folder = pl.col("type").eq_missing("directory")
    known = ("source", "file")
    files = (
        tables.files.join(syncs, on=known, maintain_order="left")
        .with_columns(name, folder.alias("is_folder"))
        .join(tables.data_files.select(*known, is_data=True), on=known, how="left")
        .with_columns(
            (
                pl.col("is_data").is_not_null()
                & (synced >= SYNCED.value)
                & (written > 0)
                & (written <= WRITES_PER_SYNC.value * synced)
            ).alias("each_write")
        )
        .filter(pl.col("is_folder") | pl.col("is_data").is_not_null())
    )
    if not files["each_write"].any():
        return files.clear()
    return (
        files.join(_companions(files), on=("source", "name"), how="left", maintain_order="left")
        .filter(pl.col("each_write") | pl.col("belongs").fill_null(value=False))
        .sort("each_write", "sync_ns", descending=True, nulls_last=True)
    )


def _companions(files: pl.DataFrame) -> pl.DataFrame:
    """Name what belongs to files that are synced after each write: their journals, their folder.

    A database and its journal begin with the same name: `db`, `db-journal`, `db-wal`, `db.wal`.
    """
    names: dict[tuple[str, str], tuple[bool, bool]] = {}
    for source, name, each_write, folder in files.select(
        "source", "name", "each_write", "is_folder"
    ).iter_rows():
        before, _ = names.get((source, name), (False, folder))
        names[source, name] = (before or each_write, folder)
    stems = {key: _stem(key, names) for key, (_, folder) in names.items() if not folder}
    chosen = {stems[key] for key, (each_write, folder) in names.items() if each_write}
    folders = {(source, name.rpartition("/")[0] or "/") for source, name in chosen}
    belongs = [
        (*key, key in folders if folder else stems[key] in chosen)
        for key, (_, folder) in names.items()
    ]
    schema = {"source": pl.String, "name": pl.String, "belongs": pl.Boolean}
    return pl.DataFrame(belongs, schema=schema, orient="row")


def _stem(key: tuple[str, str], names: Container[tuple[str, str]]) -> tuple[str, str]:
    """Give the shortest name of a file with which its own begins, up to a `-` or a `.`."""
    source, path = key
    start = path.rfind("/") + 1
    for at in range(start + 1, len(path)):
        if path[at] in "-." and (source, path[:at]) in names:
            return source, path[:at]
    return key


def sync_per_write(log: Log) -> Iterator[Finding]:
    """Find files that are made safe on the disk after each write or two."""
    synced = log.chosen(_synced)
    if synced.is_empty():
        return
    files, others = (synced.filter(pl.col("each_write") == each) for each in (True, False))
    number, beside = files["name"].n_unique(), others["name"].n_unique()
    calls, writes, more = total(files, "syncs"), total(files, "writes"), total(others, "syncs")
    all_calls = calls + more
    time = log.time(total(synced, "sync_ns"), all_calls, SYNCS)
    weight = log.weight(time)
    if weight is None:
        return
    yield Finding(
        weight=weight,
        evidence=f"{plural(calls, 'call')} of fsync or its like for {plural(writes, 'write')} to"
        f" {plural(number, 'file')}{_and_beside(others, number)} took {time},"
        f" {time.per(all_calls)} each",
        numbers={
            "files": number,
            "syncs": calls,
            "writes": writes,
            "beside_files": beside,
            "beside_syncs": more,
        },
        object=path_of(files),
        calls=calls_on(synced, SYNCS),
        # One at the end is left for each file.
        saving=Range(
            time.low - time.low * (number + beside) // all_calls,
            time.high - time.high * (number + beside) // all_calls,
        ),
        advice=SYNC_PER_WRITE.advice,
    )


def _and_beside(others: pl.DataFrame, number: int) -> str:
    """Say what else was synced."""
    if others.is_empty():
        return ""
    folders, files = (
        others.filter(pl.col("is_folder") == each)["name"].n_unique() for each in (True, False)
    )
    what = " and ".join(
        plural(count, noun) for count, noun in ((files, "file"), (folders, "folder")) if count
    )
    name = others.sort("is_folder", maintain_order=True)["name"][0].rpartition("/")[2]
    verb = "belongs" if files + folders == 1 else "belong"
    return (
        f", and {total(others, 'syncs'):,} on {what} that {verb} to"
        f" {'it' if number == 1 else 'them'} ({name}{', …' if files + folders > 1 else ''}),"
    )


SYNC_PER_WRITE: Final = Rule(
    code="sync-per-write",
    title="Each write is followed by a wait for the disk.",
    looks_for="Files with a call of fsync, fdatasync, sync_file_range or msync for each write or"
    " two. Each waits until the disk has the data. It counts those on what belongs to such a file,"
    " too, however many writes that gets: files whose names begin with its name, as db-journal and"
    " db.wal do with db, and its folder.",
    advice="Write a group of records, and sync once for all (a transaction, a group commit); if the"
    " file can be made again, sync once at the end, or write it under another name and rename it.",
    find=sync_per_write,
    thresholds=(SYNCED, WRITES_PER_SYNC),
    tables=frozenset({"files", "roles"}),
)


def _refused(tables: Tables) -> pl.DataFrame:
    return tables.refused_direct


def unaligned_direct(log: Log) -> Iterator[Finding]:
    """Find direct reads and writes that the file system refuses, as they are not aligned."""
    refused = log.chosen(_refused)
    if refused.is_empty():
        return
    number = int(refused["calls"].sum())
    yield Finding(
        # The call moved nothing: what it costs is not its time.
        weight=Weight(Severity.MEDIUM, 0.0),
        evidence=f"{plural(number, 'read or write', 'reads and writes')} of"
        f" {plural(refused['file'].n_unique(), 'file')} opened with O_DIRECT failed with EINVAL",
        numbers={"files": refused["file"].n_unique(), "calls": number},
        object=refused["path"][0],
        calls=Calls(names=READS | WRITES, files=refused["file"].to_list(), errno=["EINVAL"]),
        advice=UNALIGNED_DIRECT.advice,
    )


UNALIGNED_DIRECT: Final = Rule(
    code="unaligned-direct",
    title="Direct reads or writes are refused: they are not aligned.",
    looks_for="Reads and writes that fail with EINVAL, on a file that was opened with O_DIRECT:"
    " address, length or position are no multiple of the device's block (open(2), NOTES). It is"
    " medium, as what the program does then is not in the log.",
    advice="Align all three to the block (statx, stx_dio_offset_align): posix_memalign or mmap for"
    " the buffer, whole blocks for length and position; read the last part without O_DIRECT.",
    find=unaligned_direct,
    thresholds=(REFUSED,),
    tables=frozenset({"files"}),
)


def _unread(tables: Tables) -> pl.DataFrame:
    return tables.data_files.filter(
        pl.col("role") == "scratch", pl.col("reads") == 0, pl.col("mmaps") == 0
    ).sort("write_bytes", descending=True, nulls_last=True, maintain_order=True)


def written_never_read(log: Log) -> Iterator[Finding]:
    """Find files that are written, and removed before anybody reads them."""
    files = log.chosen(_unread)
    if files.is_empty():
        return
    writes, moved = total(files, "writes"), total(files, "write_bytes")
    time = log.time(total(files, "write_ns"), writes, WRITES)
    weight = log.weight(time, moved)
    if weight is None:
        return
    yield Finding(
        weight=weight,
        evidence=f"{size(moved)} in {plural(writes, 'write')} to {of_files(files)}, which"
        f" {'was' if files.height == 1 else 'were'} removed and never read{took(time)}",
        numbers={"files": files.height, "writes": writes, "bytes": moved},
        object=path_of(files),
        calls=calls_on(files, WRITES),
        saving=part_of(time, 1),
        advice=WRITTEN_NEVER_READ.advice,
    )


WRITTEN_NEVER_READ: Final = Rule(
    code="written-never-read",
    title="Files are written, and removed without having been read.",
    looks_for="Files with the role scratch of tracefast flow --roles that nobody read or mapped.",
    advice="Do not write it; or keep it in memory (memfd_create, O_TMPFILE on tmpfs) if only its"
    " existence or length is asked for.",
    find=written_never_read,
    tables=frozenset({"files", "roles"}),
)
