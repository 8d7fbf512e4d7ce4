"""Which reads of a file the page cache answered, and which reached a device: of joined events."""

from typing import Final

import polars as pl

from tracefast import _core
from tracefast._polars.given_events import Events, rows_of
from tracefast.analysis.kernel_times import calls_of, has_columns

# What a row of the table is about, besides its log.
_KEYS: Final = {None: ["file"], "process": ["pid", "file"], "open": ["ofd"]}
SCHEMA: Final = pl.Schema(
    {"cached_reads": pl.UInt32, "cold_reads": pl.UInt32, "disk_read_bytes": pl.Int64}
)
_PAGES: Final = ("cached_pages", "missed_pages", "readahead_bytes", "disk_bytes")
_SUMS: Final = {
    "disk_bytes": "added_bytes",
    "readahead_bytes": "readahead_bytes",
    "bytes": "asked_bytes",
}
# Classes of access that continue no read before.
_JUMPS: Final = ("forward", "backward")
_NEEDED: Final = ("missed_pages", "disk_bytes", "kernel_ns")


def with_device_reads(table: pl.LazyFrame, events: Events, by: str | None) -> pl.LazyFrame:
    """Add to the table of files what `tracefast.join` says about reads, if the events have it.

    Parameters
    ----------
    table
        The table of files.
    events
        The events it is made from.
    by
        What else its rows are about; by phase it stays as it is.

    Returns
    -------
    polars.LazyFrame
        With `cached_reads`, which asked for no page that was missing and for which no device moved
        anything; `cold_reads`, the other ones; `disk_read_bytes`, what devices moved for both.
    """
    if by not in _KEYS or not has_columns(events, _NEEDED):
        return table
    key = ["source", *_KEYS[by]]
    rows = rows_of(events, [*key, "kind", "name", "bytes", *_NEEDED], "tracefast.files")
    moved = pl.col("disk_bytes") > 0
    cold = (pl.col("missed_pages") > 0) | moved
    reads = (
        rows.filter(
            pl.col("kind").cast(pl.String) == "syscall",
            pl.col("name").cast(pl.String).is_in(_core.syscalls_that("reads")),
            pl.col("bytes") >= 0,
        )
        .group_by(pl.col("source").cast(pl.String), *key[1:])
        .agg(
            (~cold).sum().cast(pl.UInt32).alias("cached_reads"),
            cold.sum().cast(pl.UInt32).alias("cold_reads"),
            pl.col("disk_bytes").sum().alias("disk_read_bytes"),
            pl.col("disk_bytes").count().alias("known"),
        )
        .with_columns(pl.when(pl.col("known") > 0).then(name).alias(name) for name in SCHEMA)
        .drop("known")
    )
    return table.join(reads, on=key, how="left", nulls_equal=True, maintain_order="left")


def device_reads(events: Events, question: str) -> pl.LazyFrame:
    """Give what reads of each file found in the page cache, by joined events.

    Parameters
    ----------
    events
        Events of `tracefast.join`.
    question
        Name of the function that was called, for messages.

    Returns
    -------
    polars.LazyFrame
        One row per `source`, `file` and `path` (also as `name`), with the columns that rules about
        the page cache read: `lookups`, reads that asked for pages; `random_misses` and
        `miss_share`, those that missed some; `added_bytes`, what devices moved for them;
        `readahead_bytes`, `asked_bytes`; `faults`, here the mappings of the file.
    """
    needed = ("name", "file", "path", "bytes", "access", *_PAGES)
    reads = pl.col("name").cast(pl.String).is_in(_core.syscalls_that("reads"))
    missed = reads & (pl.col("missed_pages") > 0)
    jumps = pl.col("access").cast(pl.String).is_in(_JUMPS)
    lookups = reads & (pl.col("cached_pages") + pl.col("missed_pages") > 0)
    return (
        calls_of(events, ("source", *needed), question)
        .filter(pl.col("file").is_not_null())
        .group_by("source", "file")
        .agg(
            pl.col("path").drop_nulls().first(),
            lookups.sum().cast(pl.Int64).alias("lookups"),
            (missed & jumps).sum().cast(pl.Int64).alias("random_misses"),
            (missed.sum() / lookups.sum()).alias("miss_share"),
            *(pl.col(name).filter(reads).sum().alias(sum_) for name, sum_ in _SUMS.items()),
            pl.col("name").cast(pl.String).is_in(_core.syscalls_that("maps")).sum().alias("faults"),
        )
        .with_columns(pl.col("path").alias("name"))
        .filter(pl.col("lookups") > 0)
    )
