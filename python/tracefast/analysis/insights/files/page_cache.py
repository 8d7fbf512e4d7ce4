"""What reads fetch into the page cache: page-cache-misses, readahead-wasted."""

from collections.abc import Iterator
from typing import Final

import polars as pl

from tracefast.analysis.insights.files.data import total
from tracefast.analysis.insights.finding import Finding, Rule, Threshold
from tracefast.analysis.insights.log import Log
from tracefast.analysis.insights.weights import weight
from tracefast.quantities import percent, plural, size

MISSES: Final = Threshold("misses that continue no read", 50, "", "fewer are the start of files")
MISS_SHARE: Final = Threshold("share of misses", 0.5, "share", "most pages come from the disk")
WASTE: Final = Threshold(
    "bytes read ahead, by those that reads asked for", 2, "", "read-ahead of one window is useful"
)


def _known(log: Log) -> pl.DataFrame:
    table = log.page_cache
    if table.is_empty() or "ino" not in table.columns:
        return table
    return table.with_columns(pl.format("{} inode {}", "dev", "ino").alias("name"))


def page_cache_misses(log: Log) -> Iterator[Finding]:
    """Find files whose reads do not find their pages, one place after the other."""
    table = _known(log)
    if table.is_empty():
        return
    files = table.filter(
        pl.col("random_misses") >= MISSES.value, pl.col("miss_share") >= MISS_SHARE.value
    ).sort("random_misses", descending=True, nulls_last=True)
    if files.is_empty():
        return
    added = total(files, "added_bytes")
    found = weight(data=added, data_total=total(table, "added_bytes"))
    if found is None:
        return
    misses, lookups = total(files, "random_misses"), total(files, "lookups")
    yield Finding(
        weight=found,
        evidence=f"{misses:,} of {plural(lookups, 'lookup')} in {plural(files.height, 'file')} did"
        f" not find their page and continued no read before; {size(added)} were fetched",
        numbers={"files": files.height, "misses": misses, "lookups": lookups, "bytes": added},
        object=files["path"][0] or files["name"][0],
        lines=log.lines_of_fetches(files),
        advice=PAGE_CACHE_MISSES.advice,
    )


PAGE_CACHE_MISSES: Final = Rule(
    code="page-cache-misses",
    title="Reads at random wait for the disk.",
    looks_for="Files (ftrace, events of filemap and readahead, also if joined with a log of strace)"
    " whose lookups miss, at places that"
    " continue no read before. Its severity is by the share of the bytes that were fetched.",
    advice="Sort the reads by offset; read the file into memory once if it fits"
    " (posix_fadvise(POSIX_FADV_WILLNEED), vmtouch); keep requests in flight (io_uring, threads).",
    find=page_cache_misses,
    thresholds=(MISSES, MISS_SHARE),
)


def readahead_wasted(log: Log) -> Iterator[Finding]:
    """Find files of which the kernel fetched far more than was asked for."""
    table = _known(log)
    if table.is_empty():
        return
    files = (
        table.filter(
            pl.col("readahead_bytes") >= WASTE.value * pl.col("asked_bytes"),
            # Mappings use pages without asking.
            pl.col("faults").fill_null(0) == 0,
        )
        .with_columns((pl.col("readahead_bytes") - pl.col("asked_bytes")).alias("unused"))
        .sort("unused", descending=True, nulls_last=True)
    )
    if files.is_empty():
        return
    unused, ahead = total(files, "unused"), total(files, "readahead_bytes")
    found = weight(data=unused, data_total=total(table, "added_bytes"))
    if found is None:
        return
    yield Finding(
        weight=found,
        evidence=f"of {size(ahead)} that the kernel read ahead in {plural(files.height, 'file')},"
        f" reads asked for {size(ahead - unused)}: {size(unused)} ({percent(unused / ahead)}) at"
        " least were not used",
        numbers={"files": files.height, "readahead_bytes": ahead, "unused_bytes": unused},
        object=files["path"][0] or files["name"][0],
        lines=log.lines_of_fetches(files),
        advice=READAHEAD_WASTED.advice,
    )


READAHEAD_WASTED: Final = Rule(
    code="readahead-wasted",
    title="The kernel reads ahead what nobody reads.",
    looks_for="Files (ftrace, events of filemap and readahead) of which read-ahead fetched at least"
    " twice the pages that reads asked for, and that are not mapped.",
    advice="posix_fadvise(POSIX_FADV_RANDOM) for files that are read at random, or a smaller"
    " read_ahead_kb of the device.",
    find=readahead_wasted,
    thresholds=(WASTE,),
)
