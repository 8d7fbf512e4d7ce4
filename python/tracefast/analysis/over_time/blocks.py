"""`blocks` by windows of time."""

from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Final

import polars as pl

from tracefast._polars.map_rows import map_rows
from tracefast.analysis.decoded_fields import decoded
from tracefast.analysis.over_time.schemas import SCHEMAS
from tracefast.analysis.over_time.windows import window_ns, window_of
from tracefast.analysis.requests.records import (
    BLK,
    COMPLETE,
    ISSUE,
    KEY,
    REQUEST_FIELDS,
    REQUEST_RECORD,
    REQUESTS,
    completions,
    request_records,
    without_requeues,
)

if TYPE_CHECKING:
    from tracefast._polars.given_events import Events

SCHEMA: Final = SCHEMAS["blocks"]


def requests_of(log: pl.DataFrame) -> pl.DataFrame:
    """Give the requests of a log, one a row: when they were issued, their size and latency.

    Parameters
    ----------
    log
        The decoded records of one log.

    Returns
    -------
    polars.DataFrame
        `ts`, `dev`, `op`, `size`, `latency` (null where the log has no completion), `known` (the
        log has completions).
    """
    log = log.with_row_index("row")
    rows = without_requeues(request_records(log))
    done = completions(rows, log).select("row", "latency")
    return (
        rows.filter(pl.col("name") == ISSUE)
        .join(done, on="row", how="left", maintain_order="left")
        .select(
            *("ts", *KEY, "size", "latency"),
            pl.lit((rows["name"] == COMPLETE).any()).alias("known"),
        )
    )


def request_rows(events: "Events", question: str) -> pl.LazyFrame:
    """Decode the records that requests are made of."""
    return decoded(
        events,
        (*REQUESTS, BLK),
        record=REQUEST_RECORD,
        fields=REQUEST_FIELDS,
        question=question,
        lost=True,
    )


def blocks_by_time(events: "Events", every: str | timedelta) -> pl.LazyFrame:
    """Give one row per window, device and operation: `blocks` with `every`.

    Examples
    --------
    >>> import tracefast as tf
    >>> rows = blocks_by_time(tf.scan("demo.ftrace"), "1s").collect()
    >>> rows.select("dev", "op", "requests", "bytes", "latency_max_ns").rows()
    [('254:0', 'read', 1, 8192, 100000)]
    """
    ns = window_ns(every)
    return map_rows(request_rows(events, "tracefast.blocks"), partial(_of_records, ns), SCHEMA)


def _of_records(ns: int, records: pl.DataFrame) -> pl.DataFrame:
    tables = [_of_log(log, ns) for log in records.partition_by("source", maintain_order=True)]
    return pl.concat([pl.DataFrame(schema=SCHEMA), *tables])


def _of_log(log: pl.DataFrame, ns: int) -> pl.DataFrame:
    latency = pl.col("latency").filter(pl.col("latency") >= 0)
    table = (
        requests_of(log)
        .group_by(window_of(pl.col("ts"), ns).alias("ts"), *KEY)
        .agg(
            pl.lit(log["source"][0], pl.String).alias("source"),
            pl.len().alias("requests"),
            pl.col("size").sum().alias("bytes"),
            # Without any completion in the log their number is not known.
            pl.when(pl.col("known").any()).then(pl.col("latency").count()).alias("completed"),
            latency.quantile(0.5, "nearest").alias("latency_p50_ns"),
            latency.max().alias("latency_max_ns"),
        )
        .sort("ts", "bytes", *KEY, descending=[False, True, False, False])
    )
    return table.select(pl.col(name).cast(dtype) for name, dtype in SCHEMA.items())
