"""One row per block device and operation: requests, their order, sizes and latencies."""

from collections.abc import Iterable
from datetime import timedelta
from typing import TYPE_CHECKING, Final, Literal

import polars as pl

from tracefast._polars.declared_schema import declared_schema
from tracefast._polars.given_events import Events
from tracefast._polars.map_rows import map_rows
from tracefast._polars.percentile import ranked
from tracefast.analysis.requests.each_request import decoded_records
from tracefast.analysis.requests.records import (
    COMPLETE,
    ISSUE,
    KEY,
    completions,
    request_records,
    without_requeues,
)

if TYPE_CHECKING:
    from tracefast.analysis.files.inode_map import InodeMap

By = Literal["file"]

SCHEMA: Final = declared_schema("blocks")

# Streams that `sequential_share_4` keeps open.
STREAMS: Final = 4


def blocks(
    events: Events,
    *,
    by: By | None = None,
    inode_map: "InodeMap | None" = None,
    strace: "Events | None" = None,
    every: str | timedelta | None = None,
) -> pl.LazyFrame:
    """Give one row per block device and operation: requests, order, sizes, latencies.

    The table is made from ftrace's events ``block_rq_issue`` and ``block_rq_complete``, or from the
    output of the tracer ``blk`` if a log has no such events.

    Parameters
    ----------
    events
        The events of a log, of Parquet files, or a part of them.
    by
        ``"file"`` for one row per device, operation and file: the columns are those of the table
        ``blocks_by_file`` of :doc:`tables`. Requests are those of the pages that their task had
        just added to the page cache (``filemap:*``), or, for other tasks such as kernel threads
        that write back, of sectors where such pages are; what ``writeback_single_inode`` says was
        written counts as well.
    inode_map
        With ``by="file"``: paths by device and inode, as for :func:`tracefast.page_cache`.
    strace
        With ``by="file"``, instead of `inode_map`: the events of strace's log of the same run. Its
        calls are matched with those of ftrace's log, as :func:`tracefast.join` does, and name the
        files of their pages.
    every
        One row per window of this length (``"100ms"``, a timedelta), device and operation: the
        columns are those of the table ``blocks_by_time`` of :doc:`tables`. Not with the others.

    Returns
    -------
    polars.LazyFrame
        Largest `bytes` first. Null means that the log cannot say. Columns that end in ``_ns`` are
        nanoseconds, in ``_share`` fractions of 1.

        `source` : String
            The log.
        `dev` : String
            The device, ``major:minor``.
        `op` : String
            ``read``, ``write``, ``discard``, ``flush``, ``zone`` or ``none``: the kind of request
            without its flags.
        `requests` : UInt32
            Requests that were issued to the driver. One that the driver gives back, and the kernel
            issues again, counts once: ``block_rq_requeue`` shows them, and without this event their
            completions do, if at least 95 % of all requests have one.
        `bytes` : Int64, in bytes
            Sum of their sizes.
        `sequential_share_1` : Float64
            Share of the requests that start at the sector after the previous one of the same device
            and operation, in the order in which they were issued. bcc's biopattern counts the same,
            but for reads and writes together, and in the order of completion. The first request is
            not counted.
        `sequential_share_4` : Float64
            Share of the requests that start where one of the last four streams ended, so that
            programs that read side by side do not hide each other's order. A request that continues
            none of them starts a stream, which replaces the least recently used one.
        `size_median`, `size_max` : Int64, in bytes
            Size of a request.
        `completed` : UInt32
            Requests whose completion is in the log, for the same sectors. A request whose sector
            another one asks for before, or that was open where records were lost, has none.
        `latency_p50_ns`, `latency_p99_ns`, `latency_max_ns` : Int64
            Time from the first issue to completion, of the completed requests: median, 99th
            percentile (exact, nearest rank), longest.
        `readahead_share` : Float64
            Share of the requests that the kernel made to read ahead.
        `in_flight_max` : UInt32
            The largest number of completed requests that were open at the same time.
        `task_top` : String
            Name of the task that issued most requests; the kernel's own threads issue many.

    Raises
    ------
    OSError
        `inode_map` cannot be read.
    Error
        The log of `strace` is not of the same run.
    ValueError
        There is no such `by`, or `inode_map` or `strace` are given without it, or both; `every` is
        no span of time, or given with the others.

    Examples
    --------
    >>> import tracefast as tf
    >>> table = tf.blocks(tf.scan("demo.ftrace")).collect()
    >>> table.select("dev", "op", "requests", "bytes", "latency_max_ns", "task_top").rows()
    [('254:0', 'read', 1, 8192, 100000, 'true')]
    """
    if by not in (None, "file"):
        raise ValueError(f"by must be None or 'file', got {by!r}")
    if every is not None:
        if not (by is inode_map is strace is None):
            raise ValueError("every: not with by, inode_map or strace, as rows are of all files")
        from tracefast.analysis.over_time.blocks import blocks_by_time

        return blocks_by_time(events, every)
    if by == "file":
        from tracefast.analysis.join.named_inodes import named_inodes
        from tracefast.analysis.requests.by_file import blocks_by_file

        if strace is not None:
            if inode_map is not None:
                raise ValueError("inode_map and strace: one of them names the files")
            inode_map = named_inodes(strace, events)
        return blocks_by_file(events, inode_map)
    if not (inode_map is strace is None):
        raise ValueError("inode_map, strace: only with by='file', as other rows are of no file")
    return map_rows(decoded_records(events), _of_records, SCHEMA)


def _of_records(records: pl.DataFrame) -> pl.DataFrame:
    """Aggregate the records of whole logs, which are in order."""
    tables = [_of_log(log) for log in records.partition_by("source", maintain_order=True)]
    table = pl.concat([pl.DataFrame(schema=SCHEMA), *tables])
    return table.sort("bytes", "requests", "source", *KEY, descending=[True, True, *[False] * 3])


def _of_log(log: pl.DataFrame) -> pl.DataFrame:
    log = log.with_row_index("row")
    rows = without_requeues(request_records(log))
    issued = rows.filter(pl.col("name") == ISSUE)
    done = completions(rows, log)
    size = pl.col("size")
    table = (
        issued.group_by(KEY)
        .agg(
            pl.len().alias("requests"),
            size.sum().alias("bytes"),
            ranked(size, 50).alias("size_median"),
            size.max().alias("size_max"),
            pl.col("ahead").mean().alias("readahead_share"),
            _commonest("comm").alias("task_top"),
        )
        .join(_order(issued), on=KEY, how="left")
        .join(_latencies(done), on=KEY, how="left")
        .with_columns(
            pl.lit(log["source"][0], pl.String).alias("source"),
            # Without any completion in the log their number is not known.
            pl.when(pl.lit((rows["name"] == COMPLETE).any())).then(
                pl.col("completed").fill_null(0)
            ),
        )
    )
    return table.select(pl.col(name).cast(dtype) for name, dtype in SCHEMA.items())


def _latencies(done: pl.DataFrame) -> pl.DataFrame:
    """Aggregate the pairs: how long they took, and how many were open at the same time."""
    latency = pl.col("latency").filter(pl.col("latency") >= 0)
    steps = pl.concat(
        [
            done.select(*KEY, "row", pl.lit(1, pl.Int32).alias("step")),
            done.select(*KEY, pl.col("row_then").alias("row"), pl.lit(-1, pl.Int32).alias("step")),
        ]
    ).sort("row")
    return (
        done.group_by(KEY)
        .agg(
            pl.len().alias("completed"),
            ranked(latency, 50).alias("latency_p50_ns"),
            ranked(latency, 99).alias("latency_p99_ns"),
            latency.max().alias("latency_max_ns"),
        )
        .join(
            steps.group_by(KEY, maintain_order=True).agg(
                pl.col("step").cum_sum().max().alias("in_flight_max")
            ),
            on=KEY,
        )
    )


def _order(issued: pl.DataFrame) -> pl.DataFrame:
    """Give the shares of requests that start where an earlier one ended."""
    shares: list[dict[str, object]] = []
    # Flushes have no sector.
    placed = issued.filter(pl.col("sectors") > 0).drop_nulls("sector")
    for (dev, op), group in placed.group_by(KEY):
        begins, ends = group["sector"], group["sector"] + group["sectors"]
        shares.append(
            {
                "dev": dev,
                "op": op,
                # With one stream only the previous request matters; the first has none.
                "sequential_share_1": (begins == ends.shift(1)).mean(),
                "sequential_share_4": _share(begins.to_list(), ends.to_list(), STREAMS),
            }
        )
    share = {"sequential_share_1": pl.Float64, "sequential_share_4": pl.Float64}
    return pl.DataFrame(shares, schema={"dev": pl.String, "op": pl.String, **share})


def _share(sectors: Iterable[int], ends: Iterable[int], streams: int) -> float | None:
    """Give the share of requests that continue one of the streams used last.

    Examples
    --------
    >>> (
    ...     _share([0, 100, 8, 108], [8, 108, 16, 116], 1),
    ...     _share([0, 100, 8, 108], [8, 108, 16, 116], 4),
    ... )
    (0.0, 0.666...)
    """
    # Where the streams end, the most recently used one last.
    last: list[int] = []
    requests = hits = 0
    for sector, end in zip(sectors, ends, strict=True):
        requests += 1
        if sector in last:
            last.remove(sector)
            hits += 1
        elif len(last) == streams:
            del last[0]
        last.append(end)
    # The first request has no previous one.
    return hits / (requests - 1) if requests > 1 else None


def _commonest(name: str) -> pl.Expr:
    """Give the most common value; of several, the first in alphabetical order."""
    return pl.col(name).drop_nulls().mode().sort().first()
