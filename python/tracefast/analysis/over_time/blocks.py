"""`blocks` by windows of time."""

from datetime import timedelta
from typing import TYPE_CHECKING

import polars as pl

from tracefast.analysis.over_time.schemas import SCHEMAS
from tracefast.analysis.over_time.windows import window_ns, window_of
from tracefast.analysis.requests.each_request import each_request

if TYPE_CHECKING:
    from tracefast._polars.given_events import Events


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
    latency = pl.col("latency").filter(pl.col("latency") >= 0)
    table = (
        each_request(events)
        .group_by("source", window_of(pl.col("ts"), ns).alias("ts"), "dev", "op")
        .agg(
            pl.len().alias("requests"),
            pl.col("size").sum().alias("bytes"),
            # Without any completion in the log their number is not known.
            pl.when(pl.col("known").any()).then(pl.col("latency").count()).alias("completed"),
            # Nearest rank, as in the whole table.
            latency.sort()
            .get((latency.count() + 1) // 2 - 1, null_on_oob=True)
            .alias("latency_p50_ns"),
            latency.max().alias("latency_max_ns"),
        )
        .sort(
            *("source", "ts", "bytes", "dev", "op"), descending=[False, False, True, False, False]
        )
    )
    return table.select(pl.col(name).cast(dtype) for name, dtype in SCHEMAS["blocks"].items())
