"""How much a read takes, and in which order: small-reads, random-reads, seek-then-read."""

from collections.abc import Iterator
from typing import Final

import polars as pl

from tracefast.analysis.insights.files.data import calls_on, of_files, part_of, path_of, took, total
from tracefast.analysis.insights.finding import Finding, Rule, Threshold
from tracefast.analysis.insights.log import FETCHES, READS, SEEKS, Log
from tracefast.analysis.insights.tables import Tables
from tracefast.quantities import percent, plural, size

SMALL: Final = Threshold("bytes of a read, median and mean", 4096, "B", "a page, the kernel's unit")
MANY: Final = Threshold(
    "reads of a file", 100, "", "fewer take about as long as opening the file: 0.1 ms"
)
PARTS: Final = Threshold(
    "reads for each open of the file", 2, "", "fewer may be a small file that is read whole"
)
MANY_JUMPS: Final = Threshold(
    "reads of a file that start elsewhere", 50, "", "fewer are a header, an index, a directory"
)
RANDOM: Final = Threshold(
    "share of the reads that start elsewhere, more than 128 KiB on or before",
    0.5,
    "share",
    "read-ahead still helps a file that is mostly read in order",
)
MANY_SEEKS: Final = Threshold("seeks on a file", 50, "", "fewer are a few microseconds")
# What programs ask for that read in large parts.
_LARGE: Final = 65_536


def _small(tables: Tables) -> pl.DataFrame:
    parts = pl.col("reads") - pl.col("read_eof")
    return tables.data_files.filter(
        parts >= MANY.value,
        # A small file that is opened again and again is read at once each time.
        parts > PARTS.value * pl.col("opens"),
        pl.col("read_size_median") < SMALL.value,
        # A few large reads among small ones move most of it.
        pl.col("read_bytes") < SMALL.value * pl.col("reads"),
        pl.col("read_random_share").fill_null(0) < RANDOM.value,
    ).sort("reads", descending=True, nulls_last=True, maintain_order=True)


def small_reads(log: Log) -> Iterator[Finding]:
    """Find files that are read in order, in parts that are smaller than a page."""
    files = log.chosen(_small)
    if files.is_empty():
        return
    reads, moved = total(files, "reads"), total(files, "read_bytes")
    time = log.time(total(files, "read_ns"), reads, READS)
    weight = log.weight(time, moved)
    if weight is None:
        return
    needed = max(total(files, "opens"), files.height) + moved // _LARGE
    left = max(reads - needed, 0) / reads
    # Those at the end of a file gave nothing.
    each = moved // max(reads - total(files, "read_eof"), 1)
    yield Finding(
        weight=weight,
        evidence=f"{plural(reads, 'read')} of {of_files(files)} took {size(moved)},"
        f" {size(each)} each{took(time)}",
        numbers={"files": files.height, "reads": reads, "bytes": moved, "needed_reads": needed},
        object=path_of(files),
        calls=calls_on(files, FETCHES),
        saving=part_of(time, left),
        advice=SMALL_READS.advice,
    )


SMALL_READS: Final = Rule(
    code="small-reads",
    title="Files are read in order, in parts smaller than a page.",
    looks_for="Files with many reads in order whose median is below a page. Each call costs the"
    " same, however little it moves: a larger buffer needs fewer of them.",
    advice="Read through a buffer of 64 KiB or more: setvbuf in C, BufReader::with_capacity in"
    " Rust, open(…, buffering=1 << 16) in Python instead of buffering=0 or os.read.",
    find=small_reads,
    thresholds=(MANY, PARTS, SMALL),
    tables=frozenset({"files", "roles"}),
)


def _random(tables: Tables) -> pl.DataFrame:
    jumps = pl.col("read_forward") + pl.col("read_backward") - pl.col("read_near")
    # Such a read begins in the one before: the file is read in order, and bytes of it again.
    goes_back = 2 * pl.col("read_backward") > pl.col("jumps")
    overlaps = goes_back & (pl.col("read_jump_median") <= pl.col("read_size_median"))
    return (
        tables.data_files.with_columns(jumps.alias("jumps"))
        .filter(
            pl.col("jumps") >= MANY_JUMPS.value,
            pl.col("read_random_share") >= RANDOM.value,
            ~overlaps.fill_null(value=False),
        )
        .sort("jumps", descending=True, nulls_last=True, maintain_order=True)
    )


def random_reads(log: Log) -> Iterator[Finding]:
    """Find files most of whose reads start somewhere else than the one before ended."""
    files = log.chosen(_random)
    if files.is_empty():
        return
    reads, moved = total(files, "reads"), total(files, "read_bytes")
    time = log.time(total(files, "read_ns"), reads, READS)
    weight = log.weight(time, moved)
    if weight is None:
        return
    jumped = total(files, "jumps")
    # As of read_random_share: the first read of a file has none before.
    later = sum(total(files, f"read_{way}") for way in ("consecutive", "forward", "backward"))
    yield Finding(
        weight=weight,
        evidence=f"{jumped:,} of {plural(later, 'further read')} of {of_files(files)} start"
        f" elsewhere than the one before ended ({percent(jumped / later)});"
        f" all {plural(reads, 'read')} took {size(moved)}{took(time)}",
        numbers={"files": files.height, "reads": reads, "jumps": jumped, "bytes": moved},
        object=path_of(files),
        calls=calls_on(files, FETCHES, ["forward", "backward"]),
        advice=RANDOM_READS.advice,
    )


RANDOM_READS: Final = Rule(
    code="random-reads",
    title="Files are read at random.",
    looks_for="Files most of whose reads start far from where the one before ended, as"
    " read_random_share of tracefast files says. The kernel cannot read ahead, and a disk moves far"
    " less than in order. Reads that begin within the one before are no such reads, but re-reads.",
    advice="Sort what is wanted by offset, or store it in the order in which it is read; where it"
    " fits into memory, read the whole file once. posix_fadvise(POSIX_FADV_RANDOM) stops read-ahead"
    " that is not used.",
    find=random_reads,
    thresholds=(MANY_JUMPS, RANDOM),
    tables=frozenset({"files", "roles"}),
)


def _sought(tables: Tables) -> pl.DataFrame:
    seeks = (
        tables.calls.filter(pl.col("name").is_in(sorted(SEEKS)))
        .group_by("source", "file")
        .agg(pl.col("calls").sum().alias("seeks"))
    )
    jumps = pl.col("read_forward") + pl.col("read_backward")
    return (
        tables.data_files.join(seeks, on=["source", "file"], maintain_order="left")
        .with_columns(jumps.alias("jumps"))
        .filter(
            pl.col("seeks") >= MANY_SEEKS.value,
            # Other seeks only ask for the position, or are for what is not read.
            2 * pl.col("jumps") >= pl.col("seeks"),
        )
        .sort("seeks", descending=True, nulls_last=True, maintain_order=True)
    )


def seek_then_read(log: Log) -> Iterator[Finding]:
    """Find files that are read at places to which the program seeks before each read."""
    files = log.chosen(_sought)
    if files.is_empty():
        return
    calls, _, time = log.spent(SEEKS, files["file"])
    weight = log.weight(time)
    if weight is None:
        return
    yield Finding(
        weight=weight,
        evidence=f"{plural(calls, 'seek')} on {of_files(files)} took {time}, for"
        f" {plural(total(files, 'jumps'), 'read')} that start elsewhere than the one before ended",
        numbers={"files": files.height, "seeks": calls, "jumps": total(files, "jumps")},
        object=path_of(files),
        calls=calls_on(files, SEEKS),
        saving=time,
        advice=SEEK_THEN_READ.advice,
    )


SEEK_THEN_READ: Final = Rule(
    code="seek-then-read",
    title="A seek comes before each read, where one call would do both.",
    looks_for="Files with about as many seeks as reads that start elsewhere. pread takes the"
    " position with it, and does not change that of the descriptor, which other threads may use.",
    advice="Use pread (os.pread in Python, read_at of FileExt in Rust) instead of lseek and read.",
    find=seek_then_read,
    thresholds=(MANY_SEEKS,),
    tables=frozenset({"files", "roles"}),
)
