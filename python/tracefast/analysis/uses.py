"""Events as uses of files: the rows that the table of files is summed up from."""

from collections.abc import Mapping
from typing import Final

import polars as pl

from tracefast.analysis import vocabulary as calls

# The columns of the events that are needed.
NEEDED: Final[Mapping[str, pl.DataType | type[pl.DataType]]] = {
    "source": pl.String,
    "line": pl.UInt64,
    "ts": pl.Datetime("ns"),
    "dur_ns": pl.Int64,
    "task": pl.UInt32,
    "pid": pl.Int32,
    "name": pl.String,
    "ret": pl.Int64,
    "errno": pl.String,
    "status": pl.String,
    "path": pl.String,
    "path2": pl.String,
    "file": pl.UInt64,
    "file2": pl.UInt64,
    "file_type": pl.String,
    "size": pl.Int64,
    "offset": pl.Int64,
    "offset_known": pl.String,
    "requested": pl.Int64,
    "bytes": pl.Int64,
}

# What makes two uses those of one file: its identity, or its name where only that is known.
KEY: Final = ("source", "file", "name_only")

_READ, _WRITE = 1, 2
WAYS: Final = {"read": _READ, "write": _WRITE}

# What is ranked: medians and percentiles need to know every value.
MEASURES: Final = [f"{way}_{part}" for way in WAYS for part in ("size", "asked", "dur")]


def of_batch(events: pl.DataFrame) -> pl.DataFrame:
    """Turn a batch of events into uses of files, to be summed up.

    Parameters
    ----------
    events
        Events with the columns of `NEEDED`.

    Returns
    -------
    polars.DataFrame
        One row per use, with nulls in `measure`, `value` and `count`; and after them one row per
        file, measure and distinct value, with how often the value occurs in this batch.
    """
    uses = _sides(events.select(pl.col(name).cast(dtype) for name, dtype in NEEDED.items()))
    marked = uses.select(_marks())
    counts = (
        marked.select(*KEY, *MEASURES)
        .unpivot(MEASURES, index=KEY, variable_name="measure", value_name="value")
        .drop_nulls("value")
        .group_by(*KEY, "measure", "value")
        .agg(pl.len().cast(pl.Int64).alias("count"))
    )
    return pl.concat([marked.with_columns(_NO_COUNT), counts], how="diagonal")


_NO_COUNT: Final = [
    pl.lit(None, dtype=pl.String).alias("measure"),
    pl.lit(None, dtype=pl.Int64).alias("value"),
    pl.lit(None, dtype=pl.Int64).alias("count"),
]


def _sides(events: pl.DataFrame) -> pl.DataFrame:
    """Give each event one row, or two: a transfer has a file on either side."""
    name = pl.col("name")
    transfer = name.is_in(calls.TRANSFERS)
    reads = name.is_in([*calls.READS, *calls.RECEIVES, *calls.TRANSFERS])
    writes = name.is_in([*calls.WRITES, *calls.SENDS])
    first = events.with_columns(
        pl.when(reads).then(_READ).when(writes).then(_WRITE).cast(pl.Int32).alias("way")
    )
    second = events.filter(transfer).with_columns(
        pl.col("path2").alias("path"),
        pl.col("file2").alias("file"),
        pl.lit(None, dtype=pl.String).alias("file_type"),
        pl.lit(None, dtype=pl.Int64).alias("size"),
        pl.lit(_WRITE, dtype=pl.Int32).alias("way"),
    )
    return pl.concat([first, second]).filter(
        pl.col("file").is_not_null() | pl.col("path").is_not_null()
    )


def _marks() -> list[pl.Expr]:
    """Give each use the columns that are then only summed up, or whose largest is taken."""
    name = pl.col("name")
    done = pl.col("ret") >= 0
    failed = pl.col("errno").is_not_null() & pl.col("status").ne_missing("interrupted")
    opens, stats = name.is_in(calls.OPENS), name.is_in(calls.STATS)
    mapped = name.is_in(calls.MMAPS) & ~failed
    exact = (pl.col("way") == _READ) & (pl.col("offset_known") == "exact")
    ended = (pl.col("bytes") == 0) & pl.col("requested").ne_missing(0)
    marks = [
        pl.col("source", "file", "path", "pid", "task", "ts", "size"),
        pl.when(pl.col("file").is_null()).then(pl.col("path")).alias("name_only"),
        # Open calls name a file better than others: strace prints a path after its descriptor
        # as it is at that moment, perhaps renamed since.
        (pl.col("line") + pl.when(opens).then(0).otherwise(1 << 62)).alias("rank"),
        (pl.col("ts") + pl.col("dur_ns").fill_null(0).cast(pl.Duration("ns"))).alias("end"),
        pl.when(pl.col("file_type") != "unknown").then(pl.col("file_type")).alias("type"),
        (pl.col("file_type") == "unknown").alias("type_unknown"),
        pl.when(exact).then(pl.col("offset") + pl.col("bytes")).alias("touched"),
        (opens & done).alias("opens"),
        (opens & failed).alias("opens_failed"),
        stats.alias("stats"),
        mapped.alias("mmaps"),
        pl.when(mapped).then(pl.col("requested")).alias("mmap_bytes"),
        ((pl.col("way") == _READ) & done & ended).alias("read_eof"),
    ]
    for way, code in WAYS.items():
        mine = pl.col("way") == code
        size = pl.when(mine & done).then(pl.col("bytes"))
        asked = pl.when(mine & done).then(pl.col("requested"))
        marks += [
            (mine & done).alias(f"{way}s"),
            (mine & failed).alias(f"{way}_errors"),
            mine.alias(f"{way}_calls"),
            size.alias(f"{way}_size"),
            asked.alias(f"{way}_asked"),
            ((size > 0) & (size < asked)).alias(f"{way}_short"),
            pl.when(mine).then(pl.col("dur_ns")).alias(f"{way}_dur"),
        ]
    return marks


SCHEMA: Final = of_batch(pl.DataFrame(schema=dict(NEEDED))).schema
