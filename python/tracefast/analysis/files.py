"""One row per file: who opened it, what was read and written, and how long that took."""

from typing import Final

import polars as pl

from tracefast.analysis import uses

SCHEMA: Final[dict[str, pl.DataType | type[pl.DataType]]] = {
    "source": pl.String,
    "file": pl.UInt64,
    "path": pl.String,
    "type": pl.String,
    "size": pl.Int64,
    "processes": pl.UInt32,
    "tasks": pl.UInt32,
    "opens": pl.UInt32,
    "opens_failed": pl.UInt32,
    "stats": pl.UInt32,
    "mmaps": pl.UInt32,
    "mmap_bytes": pl.Int64,
    "ts_first": pl.Datetime("ns"),
    "ts_last": pl.Datetime("ns"),
    "reads": pl.UInt32,
    "read_errors": pl.UInt32,
    "read_bytes": pl.Int64,
    "read_requested": pl.Int64,
    "read_eof": pl.UInt32,
    "read_short": pl.UInt32,
    "read_size_median": pl.Int64,
    "read_size_max": pl.Int64,
    "read_asked_common": pl.Int64,
    "read_ns": pl.Int64,
    "read_p50_ns": pl.Int64,
    "read_p99_ns": pl.Int64,
    "read_max_ns": pl.Int64,
    "writes": pl.UInt32,
    "write_errors": pl.UInt32,
    "write_bytes": pl.Int64,
    "write_requested": pl.Int64,
    "write_short": pl.UInt32,
    "write_size_median": pl.Int64,
    "write_size_max": pl.Int64,
    "write_asked_common": pl.Int64,
    "write_ns": pl.Int64,
    "write_p50_ns": pl.Int64,
    "write_p99_ns": pl.Int64,
    "write_max_ns": pl.Int64,
}


def files(events: pl.LazyFrame | pl.DataFrame) -> pl.LazyFrame:
    """Give one row per file: opens, reads, writes, bytes, errors, time.

    Reads are the calls that take data from the file: read, readv, pread64, preadv, preadv2, the
    input side of sendfile, splice, copy_file_range and tee, and on sockets the recv family;
    writes are the mirror image. A call whose result strace injected never counts.

    Calls that know a path only (a failed open, a stat) are counted with the first file of that
    name, or, where no such file was ever opened, in a row without `file`.

    Parameters
    ----------
    events
        The events of a log, of Parquet files, or a part of them.

    Returns
    -------
    polars.LazyFrame
        Largest sum of `read_bytes` and `write_bytes` first. Columns that end in ``_ns`` are
        nanoseconds, in ``_bytes`` bytes; null means that the log cannot say. Times count every
        call of that kind that has a duration, failed ones too; sizes count those that succeeded.
        Medians and percentiles are exact, nearest rank.

    Examples
    --------
    >>> import tracefast as tf
    >>> table = tf.files(tf.scan("demo.strace")).collect()
    >>> table.select("path", "opens", "reads", "read_eof", "read_bytes").rows()[0]
    ('/srv/demo/data.bin', 1, 2, 1, 4096)
    """
    batches = (
        events.lazy()
        .filter(
            pl.col("kind") == "syscall",
            pl.col("status").ne_missing("injected"),
            pl.any_horizontal(pl.col("path", "file", "path2", "file2").is_not_null()),
        )
        .select(uses.NEEDED.keys())
        # Batch by batch, so that a log of any size streams through.
        .map_batches(
            uses.of_batch,
            predicate_pushdown=False,
            projection_pushdown=False,
            slice_pushdown=False,
            streamable=True,
            schema=uses.SCHEMA,
        )
    )
    # The one aggregation over all uses; what follows works on its small result.
    groups = batches.group_by(*uses.KEY, "measure", "value").agg(_aggregates())
    counted = pl.col("measure").is_not_null()
    table = groups.filter(~counted).join(
        _ranked(groups.filter(counted)), on=uses.KEY, how="left", nulls_equal=True
    )
    return (
        _adopt(table)
        .select(pl.col(name).cast(dtype) for name, dtype in SCHEMA.items())
        .sort(
            pl.col("read_bytes").fill_null(0) + pl.col("write_bytes").fill_null(0),
            "path",
            "source",
            "file",
            descending=[True, False, False, False],
            nulls_last=True,
        )
    )


def _aggregates() -> list[pl.Expr]:
    """Aggregate the uses of one file, or the counts of one value among them.

    None of these has a filter or an order of its own: polars would keep all rows for it.
    """
    sums = ("opens", "opens_failed", "stats", "mmaps", "read_eof", "count")
    aggregates = [
        pl.col("path").min_by("rank"),
        pl.col("type").min(),
        pl.col("type_unknown").any(),
        pl.max_horizontal(pl.col("size").max(), pl.col("touched").max()).alias("size"),
        pl.col("pid").unique().alias("processes"),
        pl.col("task").unique().alias("tasks"),
        *(pl.col(name).sum() for name in sums),
        _total("mmap_bytes", among="mmaps"),
        pl.col("ts").min().alias("ts_first"),
        pl.col("end").max().alias("ts_last"),
    ]
    for way in uses.WAYS:
        size, asked, dur = (f"{way}_{part}" for part in ("size", "asked", "dur"))
        aggregates += [
            *(pl.col(f"{way}{part}").sum() for part in ("s", "_errors", "_short")),
            _total(size, among=f"{way}s").alias(f"{way}_bytes"),
            _total(asked, among=f"{way}s").alias(f"{way}_requested"),
            pl.col(size).max().alias(f"{way}_size_max"),
            _total(dur, among=f"{way}_calls").alias(f"{way}_ns"),
            pl.col(dur).max().alias(f"{way}_max_ns"),
        ]
    return aggregates


def _ranked(counts: pl.LazyFrame) -> pl.LazyFrame:
    """Give what depends on the order of the values: medians, percentiles, the commonest one.

    Parameters
    ----------
    counts
        How often each value of each measure stands in a file: that is exact, and far smaller
        than the values themselves.
    """
    of_file = [*uses.KEY, "measure"]
    ranks = counts.with_columns(
        pl.col("count").cum_sum().over(of_file, order_by="value").alias("rank"),
        pl.col("count").sum().over(of_file).alias("total"),
        pl.col("count").max().over(of_file).alias("most"),
    )

    def percentile(measure: str, share: int, name: str) -> pl.Expr:
        # Nearest rank: the value at position ceil(share * n).
        reached = pl.col("rank") * 100 >= pl.col("total") * share
        return pl.col("value").filter((pl.col("measure") == measure) & reached).min().alias(name)

    def commonest(measure: str, name: str) -> pl.Expr:
        hit = (pl.col("measure") == measure) & (pl.col("count") == pl.col("most"))
        return pl.col("value").filter(hit).max().alias(name)

    return ranks.group_by(uses.KEY).agg(
        expression
        for way in uses.WAYS
        for expression in (
            percentile(f"{way}_size", 50, f"{way}_size_median"),
            percentile(f"{way}_dur", 50, f"{way}_p50_ns"),
            percentile(f"{way}_dur", 99, f"{way}_p99_ns"),
            commonest(f"{way}_asked", f"{way}_asked_common"),
        )
    )


def _total(name: str, *, among: str) -> pl.Expr:
    """Sum up; null where there are such calls and the log says nothing of any of them."""
    unknown = (pl.col(among).sum() > 0) & (pl.col(name).count() == 0)
    return pl.when(~unknown).then(pl.col(name).sum()).alias(name)


def _adopt(groups: pl.LazyFrame) -> pl.LazyFrame:
    """Join what is known by path only to the first file of that name.

    Parts in which data moved stay rows of their own, as percentiles cannot be added up.
    """
    moved = pl.sum_horizontal("reads", "read_errors", "writes", "write_errors") > 0
    owner = pl.col("file").sort_by("ts_first", "file").drop_nulls().first().over("source", "path")
    parts = groups.with_columns(
        pl.when(pl.col("file").is_null() & ~moved)
        .then(owner)
        .otherwise(pl.col("file"))
        .alias("file"),
        pl.col("name_only").is_null().alias("own"),
    ).with_columns(pl.when(pl.col("file").is_null()).then(pl.col("name_only")).alias("name_only"))
    sums = ("opens", "opens_failed", "stats", "mmaps")
    # Only the part with the file itself has data calls.
    data = [name for name in SCHEMA if name.startswith(("read", "write"))]
    return (
        parts.group_by(uses.KEY)
        .agg(
            pl.col("path").sort_by("own", descending=True).first(),
            pl.coalesce(
                pl.col("type").drop_nulls().first(),
                pl.when(pl.col("type_unknown").any()).then(pl.lit("unknown")),
            ).alias("type"),
            pl.col("size").max(),
            *(pl.col(name).explode().drop_nulls().n_unique() for name in ("processes", "tasks")),
            *(pl.col(name).sum() for name in sums),
            _total("mmap_bytes", among="mmaps"),
            pl.col("ts_first").min(),
            pl.col("ts_last").max(),
            *(pl.col(name).max() for name in data),
        )
        .drop("name_only")
    )
