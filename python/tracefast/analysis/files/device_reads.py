"""Which reads of a file the page cache answered, and which reached a device: of joined events."""

from typing import Final

import polars as pl

from tracefast import _core
from tracefast._polars.given_events import Events, rows_of
from tracefast.analysis.kernel_times import has_columns

# What a row of the table is about, besides its log.
_KEYS: Final = {None: ["file"], "process": ["pid", "file"], "open": ["ofd"]}
SCHEMA: Final = pl.Schema(
    {"cached_reads": pl.UInt32, "cold_reads": pl.UInt32, "disk_read_bytes": pl.Int64}
)
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
