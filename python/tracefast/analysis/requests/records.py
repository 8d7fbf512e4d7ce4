"""The records of requests to block devices: which are one request, and when it completed."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Final

import polars as pl

from tracefast.analysis.decoded_fields import LOST, Dtypes

ISSUE: Final = "block_rq_issue"
COMPLETE: Final = "block_rq_complete"
_REQUEUE: Final = "block_rq_requeue"
REQUESTS: Final = (ISSUE, COMPLETE, _REQUEUE)
# The tracer of the block layer: its actions D, C and R correspond to these events.
BLK: Final = "blk"
_ACTIONS: Final = {"D": ISSUE, "C": COMPLETE, "R": _REQUEUE}
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
REQUEST_RECORD: Final[Dtypes] = {
    "source": pl.Categorical(),
    "ts": pl.Datetime("ns"),
    "cpu": pl.UInt16,
    "comm": pl.Categorical(),
}
REQUEST_FIELDS: Final[Dtypes] = {
    "dev": pl.Categorical(),
    "rwbs": pl.Categorical(),
    "action": pl.Categorical(),
    "bytes": pl.Int64,
    "sector": pl.Int64,
    "nr_sector": pl.Int64,
    "event_comm": pl.Categorical(),
}
KEY: Final = ("dev", "op")


def request_records(log: pl.DataFrame, names: Sequence[str] = REQUESTS) -> pl.DataFrame:
    """Give the records of requests, from the events or the tracer; or of other such events."""
    name = pl.col("name")
    if names != REQUESTS or (log["name"] == ISSUE).any():
        rows = log.filter(name.is_in(names))
    else:
        action = pl.col("action").cast(pl.String).replace_strict(_ACTIONS, default=None)
        rows = log.with_columns(
            pl.when(name == BLK).then(action).otherwise(name).alias("name")
        ).filter(name.is_in(REQUESTS))
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
        rwbs.str.contains("M", literal=True).alias("meta"),
        # Only where the caller kept it.
        pl.col("^tid$"),
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


def without_requeues(rows: pl.DataFrame) -> pl.DataFrame:
    """Leave out requeues, and the issues that repeat one: a request counts once.

    A driver that has no room for a request gives it back, and the kernel issues it again
    (``blk_mq_requeue_request`` in block/blk-mq.c).
    """
    issue = pl.col("name") == ISSUE
    seen = rows.drop_nulls("end").sort(*KEY, "end", "row")
    place = pl.struct(*KEY, "end").rle_id()
    if (rows["name"] == _REQUEUE).any():
        seen = seen.with_columns(place.alias("place")).filter(
            (pl.col("name") == _REQUEUE).any().over("place")
        )
        again = _issued_again(seen.select("place", "name", "row", "sectors").iter_rows())
    else:
        completed = (pl.col("name") == COMPLETE).any()
        ended = seen.group_by(*KEY, "end").agg(issue.any().alias("issued"), completed)
        ended = ended.filter("issued")
        if ended.filter("name").height < _MOST * ended.height:
            return rows
        # Flushes are issued one at a time, and their parts are requests of their own.
        seen = seen.filter(~pl.col("flush")).sort(*KEY, "end", "sectors", "row")
        same = pl.struct(*KEY, "end", "sectors").rle_id()
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
    >>> names = [ISSUE, _REQUEUE, ISSUE, COMPLETE, ISSUE]
    >>> list(_issued_again((7, name, row, 8) for row, name in enumerate(names)))
    [2]
    """
    again: list[int] = []
    for _, place in groupby(records, itemgetter(0)):
        # The sectors of the requests that the driver has, and of those that it gave back.
        issued: list[int] = []
        requeued: list[int] = []
        for _, name, row, sectors in place:
            if name == ISSUE:
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
    >>> names = [ISSUE, ISSUE, COMPLETE, ISSUE, COMPLETE, ISSUE, ISSUE]
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
            if name == ISSUE:
                if completed:
                    earlier, recent = earlier + recent, []
                recent.append(row)
            else:
                (recent or earlier or [row]).pop(0)
            completed = name == COMPLETE
        in_vain += earlier + (recent if completed else recent[1:])
    return in_vain


def completions(rows: pl.DataFrame, log: pl.DataFrame) -> pl.DataFrame:
    """Pair each request with its completion, where the log leaves no doubt."""
    issue = (pl.col("name") == ISSUE) & ~pl.col("flush")
    again = pl.col("row").shift(-1).over("dev", "op", "sector", "name")
    rows = rows.with_columns(pl.when(issue).then(again).alias("again")).drop_nulls("end")
    whole = _adjacent(rows, [*KEY, "end", "sectors"])
    # The others may complete in parts.
    paired = pl.concat([whole["row"], whole["row_then"]])
    parts = _adjacent(rows.filter(~pl.col("row").is_in(paired.implode())), [*KEY, "end"])
    pairs = pl.concat([whole, parts]).sort("row")
    return pairs.filter(~doubtful(pairs, log)).select(
        *KEY, "row", "row_then", (pl.col("ts_then") - pl.col("ts")).cast(pl.Int64).alias("latency")
    )


def _adjacent(rows: pl.DataFrame, place: list[str]) -> pl.DataFrame:
    """Pair issues with the next record of the same place, if it is a completion."""
    return rows.with_columns(
        pl.col(name).shift(-1).over(place).alias(f"{name}_then")
        for name in ("name", "row", "ts", "sectors")
    ).filter(
        pl.col("name") == ISSUE,
        pl.col("name_then") == COMPLETE,
        pl.col("sectors_then") <= pl.col("sectors"),
        (pl.col("again") > pl.col("row_then")).fill_null(value=True),
    )


def doubtful(pairs: pl.DataFrame, log: pl.DataFrame) -> pl.Series:
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
