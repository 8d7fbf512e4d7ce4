"""One row per block device and operation: requests, their order, sizes and latencies."""

from collections.abc import Iterable
from itertools import groupby
from operator import itemgetter
from typing import Final

import polars as pl

from tracefast._polars.declared_schema import declared_schema
from tracefast._polars.given_events import Events
from tracefast._polars.map_rows import map_rows
from tracefast.analysis.decoded_fields import LOST, Dtypes, decoded

SCHEMA: Final = declared_schema("blocks")

# Streams that `sequential_share_4` keeps open.
STREAMS: Final = 4

_ISSUE: Final = "block_rq_issue"
_COMPLETE: Final = "block_rq_complete"
_REQUEUE: Final = "block_rq_requeue"
_NAMES: Final = (_ISSUE, _COMPLETE, _REQUEUE)
# The tracer of the block layer: its actions D, C and R correspond to these events.
_BLK: Final = "blk"
_ACTIONS: Final = {"D": _ISSUE, "C": _COMPLETE, "R": _REQUEUE}
# From this share of completed requests on, completions show which requests were requeued.
_MOST: Final = 0.95
_SECTOR_BYTES: Final = 512

_OPERATIONS: Final = {
    "R": "read",
    "W": "write",
    "D": "discard",
    "F": "flush",
    "Z": "zone",
    "N": "none",
}
_RECORD: Final[Dtypes] = {
    "source": pl.Categorical(),
    "ts": pl.Datetime("ns"),
    "cpu": pl.UInt16,
    "comm": pl.Categorical(),
}
_FIELDS: Final[Dtypes] = {
    "dev": pl.Categorical(),
    "rwbs": pl.Categorical(),
    "action": pl.Categorical(),
    "bytes": pl.Int64,
    "sector": pl.Int64,
    "nr_sector": pl.Int64,
    "event_comm": pl.Categorical(),
}
_KEY: Final = ("dev", "op")


def blocks(events: Events) -> pl.LazyFrame:
    """Give one row per block device and operation: requests, order, sizes, latencies.

    The table is made from ftrace's events ``block_rq_issue`` and ``block_rq_complete``, or from the
    output of the tracer ``blk`` if a log has no such events.

    Parameters
    ----------
    events
        The events of a log, of Parquet files, or a part of them.

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

    Examples
    --------
    >>> import tracefast as tf
    >>> table = tf.blocks(tf.scan("demo.ftrace")).collect()
    >>> table.select("dev", "op", "requests", "bytes", "latency_max_ns", "task_top").rows()
    [('254:0', 'read', 1, 8192, 100000, 'true')]
    """
    records = decoded(
        events,
        (*_NAMES, _BLK),
        record=_RECORD,
        fields=_FIELDS,
        question="tracefast.blocks",
        lost=True,
    )
    return map_rows(records, _of_records, SCHEMA)


def _of_records(records: pl.DataFrame) -> pl.DataFrame:
    """Aggregate the records of whole logs, which are in order."""
    tables = [_of_log(log) for log in records.partition_by("source", maintain_order=True)]
    table = pl.concat([pl.DataFrame(schema=SCHEMA), *tables])
    return table.sort("bytes", "requests", "source", *_KEY, descending=[True, True, *[False] * 3])


def _of_log(log: pl.DataFrame) -> pl.DataFrame:
    log = log.with_row_index("row")
    rows = _without_requeues(_records(log))
    issued = rows.filter(pl.col("name") == _ISSUE)
    done = _completed(rows, log)
    size = pl.col("size")
    table = (
        issued.group_by(_KEY)
        .agg(
            pl.len().alias("requests"),
            size.sum().alias("bytes"),
            _ranked(size, 50).alias("size_median"),
            size.max().alias("size_max"),
            pl.col("ahead").mean().alias("readahead_share"),
            _commonest("comm").alias("task_top"),
        )
        .join(_order(issued), on=_KEY, how="left")
        .join(_latencies(done), on=_KEY, how="left")
        .with_columns(
            pl.lit(log["source"][0], pl.String).alias("source"),
            # Without any completion in the log their number is not known.
            pl.when(pl.lit((rows["name"] == _COMPLETE).any())).then(
                pl.col("completed").fill_null(0)
            ),
        )
    )
    return table.select(pl.col(name).cast(dtype) for name, dtype in SCHEMA.items())


def _records(log: pl.DataFrame) -> pl.DataFrame:
    """Give the records of requests, from the events or the tracer."""
    name = pl.col("name")
    if (log["name"] == _ISSUE).any():
        rows = log.filter(name.is_in(_NAMES))
    else:
        action = pl.col("action").cast(pl.String).replace_strict(_ACTIONS, default=None)
        rows = log.with_columns(
            pl.when(name == _BLK).then(action).otherwise(name).alias("name")
        ).filter(name.is_in(_NAMES))
    rwbs = pl.col("rwbs").cast(pl.String)
    # F before another letter is a flush that precedes the request.
    flushed = (rwbs.str.head(1) == "F") & rwbs.str.slice(1, 1).is_in(list(_OPERATIONS))
    letter = pl.when(flushed).then(rwbs.str.slice(1, 1)).otherwise(rwbs.str.head(1))
    op = letter.replace(_OPERATIONS)
    sectors = pl.col("nr_sector").fill_null(0)
    # Flushes have no sector: the kernel prints another one when they complete.
    flush = (op == "flush") & (sectors == 0)
    end = pl.when(sectors > 0).then(pl.col("sector") + sectors)
    return rows.select(
        "row",
        "name",
        "ts",
        pl.col("dev").cast(pl.String),
        op.alias("op"),
        ((letter != "Z") & rwbs.str.contains("A", literal=True)).alias("ahead"),
        "sector",
        sectors.alias("sectors"),
        flush.alias("flush"),
        # A request may complete or be requeued in parts: the last part ends where it ends.
        pl.when(flush).then(pl.lit(0, pl.Int64)).otherwise(end).alias("end"),
        # Kernels before 4.11 print the bytes of commands only; commands may have no sectors.
        pl.when(sectors > 0)
        .then(sectors * _SECTOR_BYTES)
        .otherwise(pl.col("bytes").fill_null(0))
        .alias("size"),
        # The kernel noted this name when it issued the request; the record's may be a later one.
        pl.coalesce(pl.col("event_comm").cast(pl.String), pl.col("comm").cast(pl.String)).alias(
            "comm"
        ),
    ).drop_nulls(("dev", "op"))


def _without_requeues(rows: pl.DataFrame) -> pl.DataFrame:
    """Leave out requeues, and the issues that repeat one: a request counts once.

    A driver that has no room for a request gives it back, and the kernel issues it again
    (``blk_mq_requeue_request`` in block/blk-mq.c).
    """
    issue = pl.col("name") == _ISSUE
    seen = rows.drop_nulls("end").sort(*_KEY, "end", "row")
    place = pl.struct(*_KEY, "end").rle_id()
    if (rows["name"] == _REQUEUE).any():
        seen = seen.with_columns(place.alias("place")).filter(
            (pl.col("name") == _REQUEUE).any().over("place")
        )
        again = _issued_again(seen.select("place", "name", "row", "sectors").iter_rows())
    else:
        completed = (pl.col("name") == _COMPLETE).any()
        ended = seen.group_by(*_KEY, "end").agg(issue.any().alias("issued"), completed)
        ended = ended.filter("issued")
        if ended.filter("name").height < _MOST * ended.height:
            return rows
        # Flushes are issued one at a time, and their parts are requests of their own.
        seen = seen.filter(~pl.col("flush")).sort(*_KEY, "end", "sectors", "row")
        same = pl.struct(*_KEY, "end", "sectors").rle_id()
        seen = seen.with_columns(same.alias("place")).filter((issue.sum() > 1).over("place"))
        again = _issued_in_vain(seen.select("place", "name", "row").iter_rows())
    numbers = pl.Series(again, dtype=rows["row"].dtype).implode()
    return rows.filter(pl.col("name") != _REQUEUE, ~pl.col("row").is_in(numbers))


def _issued_again(records: Iterable[tuple[int, str, int, int]]) -> list[int]:
    """Give the issues of requests that were requeued before.

    Parameters
    ----------
    records
        A number for the end of the request on the device, the name of the event, the row, and the
        sectors; by the first.

    Examples
    --------
    >>> names = [_ISSUE, _REQUEUE, _ISSUE, _COMPLETE, _ISSUE]
    >>> list(_issued_again((7, name, row, 8) for row, name in enumerate(names)))
    [2]
    """
    again: list[int] = []
    for _, place in groupby(records, itemgetter(0)):
        # The sectors of the requests that the driver has, and of those that it gave back.
        issued: list[int] = []
        requeued: list[int] = []
        for _, name, row, sectors in place:
            if name == _ISSUE:
                issued.append(sectors)
                if sectors in requeued:
                    requeued.remove(sectors)
                    again.append(row)
                continue
            # Of a request that completed in part, the rest is requeued.
            whole = min((size for size in issued if size >= sectors), default=None)
            # The kernel may also requeue a request that the driver never had.
            if whole is not None:
                issued.remove(whole)
                if name == _REQUEUE:
                    requeued.append(sectors)
    return again


def _issued_in_vain(records: Iterable[tuple[int, str, int]]) -> list[int]:
    """Give the issues that no completion belongs to, in a log that shows no requeues.

    As the same sectors may be requested twice at a time, there are as many requests as completions,
    and one more if the last record is an issue.

    Parameters
    ----------
    records
        A number for the sectors, the name of the event, and the row; by the first.

    Examples
    --------
    >>> names = [_ISSUE, _ISSUE, _COMPLETE, _ISSUE, _COMPLETE, _ISSUE, _ISSUE]
    >>> _issued_in_vain((7, name, row) for row, name in enumerate(names))
    [1, 6]
    """
    in_vain: list[int] = []
    for _, place in groupby(records, itemgetter(0)):
        # Issues since the last completion, and those left of earlier ones.
        recent: list[int] = []
        earlier: list[int] = []
        completed = False
        for _, name, row in place:
            if name == _ISSUE:
                if completed:
                    earlier, recent = earlier + recent, []
                recent.append(row)
            else:
                (recent or earlier or [row]).pop(0)
            completed = name == _COMPLETE
        in_vain += earlier + (recent if completed else recent[1:])
    return in_vain


def _completed(rows: pl.DataFrame, log: pl.DataFrame) -> pl.DataFrame:
    """Pair each request with its completion, where the log leaves no doubt."""
    issue = (pl.col("name") == _ISSUE) & ~pl.col("flush")
    again = pl.col("row").shift(-1).over("dev", "op", "sector", "name")
    rows = rows.with_columns(pl.when(issue).then(again).alias("again")).drop_nulls("end")
    whole = _adjacent(rows, [*_KEY, "end", "sectors"])
    # The others may complete in parts.
    paired = pl.concat([whole["row"], whole["row_then"]])
    parts = _adjacent(rows.filter(~pl.col("row").is_in(paired.implode())), [*_KEY, "end"])
    pairs = pl.concat([whole, parts]).sort("row")
    return pairs.filter(~_doubtful(pairs, log)).select(
        *_KEY, "row", "row_then", (pl.col("ts_then") - pl.col("ts")).cast(pl.Int64).alias("latency")
    )


def _adjacent(rows: pl.DataFrame, place: list[str]) -> pl.DataFrame:
    """Pair issues with the next record of the same place, if it is a completion."""
    return rows.with_columns(
        pl.col(name).shift(-1).over(place).alias(f"{name}_then")
        for name in ("name", "row", "ts", "sectors")
    ).filter(
        pl.col("name") == _ISSUE,
        pl.col("name_then") == _COMPLETE,
        pl.col("sectors_then") <= pl.col("sectors"),
        (pl.col("again") > pl.col("row_then")).fill_null(value=True),
    )


def _doubtful(pairs: pl.DataFrame, log: pl.DataFrame) -> pl.Series:
    """Say which pairs were open while records were lost, which may have held other pairs.

    Records are lost on one processor, between its last record and the note about the loss.
    """
    noted = pl.col("name") == LOST
    gaps = (
        log.with_columns(
            pl.when(~noted).then("row").forward_fill().over("cpu").fill_null(0).alias("begin")
        )
        .filter(noted)
        .select(pl.col("row").alias("end"), "begin")
        .sort("end")
        # The earliest start of the gaps that end there or later.
        .with_columns(pl.col("begin").cum_min(reverse=True))
    )
    if gaps.is_empty():
        return pl.repeat(value=False, n=pairs.height, eager=True, dtype=pl.Boolean)
    next_gap = gaps["end"].search_sorted(pairs["row"], side="right")
    begins = pairs.select(pl.lit(next_gap).alias("gap")).join(
        gaps.with_row_index("gap").with_columns(pl.col("gap").cast(pl.UInt32)),
        on="gap",
        how="left",
        maintain_order="left",
    )["begin"]
    return (begins < pairs["row_then"]).fill_null(value=False)


def _latencies(done: pl.DataFrame) -> pl.DataFrame:
    """Aggregate the pairs: how long they took, and how many were open at the same time."""
    latency = pl.col("latency").filter(pl.col("latency") >= 0)
    steps = pl.concat(
        [
            done.select(*_KEY, "row", pl.lit(1, pl.Int32).alias("step")),
            done.select(*_KEY, pl.col("row_then").alias("row"), pl.lit(-1, pl.Int32).alias("step")),
        ]
    ).sort("row")
    return (
        done.group_by(_KEY)
        .agg(
            pl.len().alias("completed"),
            _ranked(latency, 50).alias("latency_p50_ns"),
            _ranked(latency, 99).alias("latency_p99_ns"),
            latency.max().alias("latency_max_ns"),
        )
        .join(
            steps.group_by(_KEY, maintain_order=True).agg(
                pl.col("step").cum_sum().max().alias("in_flight_max")
            ),
            on=_KEY,
        )
    )


def _order(issued: pl.DataFrame) -> pl.DataFrame:
    """Give the shares of requests that start where an earlier one ended."""
    shares: list[dict[str, object]] = []
    # Flushes have no sector.
    placed = issued.filter(pl.col("sectors") > 0).drop_nulls("sector")
    for (dev, op), group in placed.group_by(_KEY):
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


def _ranked(values: pl.Expr, share: int) -> pl.Expr:
    """Give a percentile by nearest rank: the value at position ceil(share * n)."""
    place = (values.count() * share + 99) // 100 - 1
    return values.drop_nulls().sort().get(place, null_on_oob=True)


def _commonest(name: str) -> pl.Expr:
    """Give the most common value; of several, the first in alphabetical order."""
    return pl.col(name).drop_nulls().mode().sort().first()
