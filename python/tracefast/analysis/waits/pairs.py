"""Who waited for whom, and how long: the graph of waits."""

from typing import Final

import polars as pl

from tracefast import _core
from tracefast._polars.given_events import Events
from tracefast.analysis.waits import MIN_NS
from tracefast.analysis.waits.table import waits_in_detail

_KEYS: Final = ("source", "waiter_pid", "waiter_image", "waker_pid", "waker_image", "on", "object")


def wait_graph(events: Events) -> pl.LazyFrame:
    r"""Give one row per pair of processes of which one waited for the other, on one thing.

    Parameters
    ----------
    events
        The events of a log or of Parquet files, in their order: all of them, as for
        `tracefast.waits`.

    Returns
    -------
    polars.LazyFrame
        In order of `source`, and of `total_ns` from the longest. Waits of less than a millisecond
        are left out, and so are timers.

        `source` : String
            The log.
        `waiter_pid` : Int32
            The process that waited.
        `waiter_image` : String
            The program that it ran.
        `waker_pid` : Int32
            The process that ended the waits, or that stuck ones wait for; null if it is not known.
        `waker_image` : String
            The program that it ran.
        `on` : String
            What they waited on, as in `tracefast.waits`.
        `object` : String
            Which one.
        `count` : UInt32
            Waits.
        `total_ns`, `max_ns` : Int64
            Their time together, and the longest; open ones so far.
        `open` : UInt32
            Those without an end.

    Raises
    ------
    polars.exceptions.ColumnNotFoundError
        The events lack a column that is needed.

    Examples
    --------
    >>> from pathlib import Path
    >>> import tracefast as tf
    >>> log = Path("sleep.strace")
    >>> _ = log.write_text(
    ...     "7 1700000000.000000 wait4(-1,  <unfinished ...>\n"
    ...     "8 1700000000.020300 +++ exited with 0 +++\n"
    ...     "7 1700000000.020400 <... wait4 resumed>NULL, 0, NULL) = 8 <0.020400>\n"
    ... )
    >>> graph = tf.wait_graph(tf.scan(log)).collect()
    >>> graph.select("waiter_pid", "waker_pid", "on", "count", "total_ns").rows()
    [(7, 8, 'child', 1, 20400000)]
    """
    return pairs(waits_in_detail(events, question="tracefast.wait_graph"))


def pairs(waits: pl.LazyFrame) -> pl.LazyFrame:
    """Group waits by who waited, for whom, on what."""
    length = pl.coalesce("dur_ns", "open_ns")
    return (
        waits.filter(pl.col("on") != "timer")
        .with_columns(
            waiter_pid="pid",
            waiter_image="image",
            waker_pid="met_pid",
            waker_image="met_image",
        )
        .group_by(_KEYS)
        .agg(
            pl.len().cast(pl.UInt32).alias("count"),
            length.sum().alias("total_ns"),
            length.max().alias("max_ns"),
            (pl.col("end") == "open").sum().cast(pl.UInt32).alias("open"),
        )
        .sort("source", "total_ns", *_KEYS[1:], descending=[False, True, *[False] * 6])
    )


# The columns of the table, and their types.
SCHEMA: Final = pairs(
    pl.LazyFrame(schema=pl.Schema(_core.Waits(min_ns=MIN_NS).schema))
).collect_schema()
