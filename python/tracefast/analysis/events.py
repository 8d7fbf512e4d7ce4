"""One row per event: how often it occurs in the log, when, and how long its calls took."""

from typing import Final

import polars as pl

from tracefast._polars.declared_schema import declared_schema
from tracefast._polars.given_events import Events, rows_of
from tracefast._polars.map_rows import map_rows

SCHEMA: Final = declared_schema("event_counts")

# Rows with the same values in these columns are of one event.
_KEY: Final = ("source", "kind", "name")

# Columns whose values are all needed, to count the distinct ones or to rank them.
_MEASURES: Final = ("task", "cpu", "dur_ns")

_NEEDED: Final = {
    **{name: SCHEMA[name] for name in (*_KEY, "dur_ns")},
    "ts": pl.Datetime("ns"),
    "task": pl.UInt32,
    "cpu": pl.UInt16,
}

# The result of `_of_batch`: one row per event and batch, with null in `measure`, and one row per
# event, measure and distinct value. `count` is how often each occurs in the batch.
_COUNTED: Final[dict[str, pl.DataType | type[pl.DataType]]] = {
    "source": pl.String,
    "kind": pl.String,
    "name": pl.String,
    "measure": pl.String,
    "value": pl.Int64,
    "count": pl.Int64,
    "ts_first": pl.Datetime("ns"),
    "ts_last": pl.Datetime("ns"),
}


def events(events: Events) -> pl.LazyFrame:
    """Give one row per event that the log names: count, times, tasks, processors, durations.

    An event is a pair of `kind` and `name`: a system call, a tracepoint, a function, a signal.
    Lines that were not understood and events without a name are counted under the name null.

    Parameters
    ----------
    events
        The events of a log, of Parquet files, or a part of them.

    Returns
    -------
    polars.LazyFrame
        Largest `count` first. Null means that the log does not say. Columns that end in ``_ns`` are
        nanoseconds.

        `source` : String
            The log.
        `kind`, `name` : String
            The event: ``syscall`` and ``read``, ``event`` and ``sched_switch``.
        `count` : UInt64
            How often it occurs in the log.
        `share` : Float64
            Its share of the log's rows.
        `ts_first`, `ts_last` : Datetime
            When it first and last happened; for calls, when they were entered.
        `tasks`, `cpus` : UInt32
            Number of distinct tasks and processors.
        `dur_ns`, `dur_p50_ns`, `dur_max_ns` : Int64
            Sum of the durations, their median (exact, nearest rank), the longest; null where no row
            has one.

    Raises
    ------
    polars.exceptions.ColumnNotFoundError
        The events lack a column that is needed.

    Examples
    --------
    >>> import tracefast as tf
    >>> table = tf.events(tf.scan("demo.strace")).collect()
    >>> table.select("kind", "name", "count", "dur_ns", "dur_p50_ns").head(3).rows()
    [('syscall', 'read', 2, 60000, 20000),
     ('exit', 'exited', 1, None, None),
     ('signal', 'SIGCHLD', 1, None, None)]
    """
    groups = (
        rows_of(events, _NEEDED, "tracefast.events")
        .select(*_KEY, "ts", *_MEASURES)
        .pipe(map_rows, _of_batch, _COUNTED, by_batch=True)
        .group_by(*_KEY, "measure", "value")
        .agg(pl.col("count").sum(), pl.col("ts_first").min(), pl.col("ts_last").max())
    )
    of_value = pl.col("measure").is_not_null()
    # polars divides by a number that is the same in all rows less exactly: by its inverse. With the
    # sum, a log has the same shares alone and among others.
    rows = pl.col("count").sum().over("source") + 0 * pl.col("count")
    return (
        groups.filter(~of_value)
        .join(_measured(groups.filter(of_value)), on=_KEY, how="left", nulls_equal=True)
        .with_columns((pl.col("count") / rows).alias("share"))
        .select(pl.col(name).cast(dtype) for name, dtype in SCHEMA.items())
        .sort("count", *_KEY[1:], "source", descending=[True, False, False, False])
    )


def _of_batch(events: pl.DataFrame) -> pl.DataFrame:
    """Count the events of a batch, and the values of their measures."""
    seen = events.group_by(_KEY).agg(
        pl.len().alias("count"),
        pl.col("ts").min().alias("ts_first"),
        pl.col("ts").max().alias("ts_last"),
    )
    values = (
        events.select(*_KEY, pl.col(_MEASURES).cast(pl.Int64))
        .unpivot(_MEASURES, index=_KEY, variable_name="measure", value_name="value")
        .drop_nulls("value")
        .group_by(*_KEY, "measure", "value")
        .agg(pl.len().alias("count"))
    )
    counted = pl.concat([seen, values], how="diagonal")
    return counted.select(pl.col(name).cast(dtype) for name, dtype in _COUNTED.items())


def _measured(counts: pl.LazyFrame) -> pl.LazyFrame:
    """Aggregate the values of each event.

    Parameters
    ----------
    counts
        How often each value of each measure occurs in an event, which is exact, and much smaller
        than the values themselves.
    """
    of_event = [*_KEY, "measure"]
    ranks = counts.with_columns(
        pl.col("count").cum_sum().over(of_event, order_by="value").alias("rank"),
        pl.col("count").sum().over(of_event).alias("total"),
    )
    value = pl.col("value")
    dur = pl.col("measure") == "dur_ns"
    middle = pl.col("rank") * 2 >= pl.col("total")

    def different(measure: str) -> pl.Expr:
        number = (pl.col("measure") == measure).sum()
        return pl.when(number > 0).then(number)

    return ranks.group_by(_KEY).agg(
        different("task").alias("tasks"),
        different("cpu").alias("cpus"),
        pl.when(dur.any()).then((value * pl.col("count")).filter(dur).sum()).alias("dur_ns"),
        value.filter(dur & middle).min().alias("dur_p50_ns"),
        value.filter(dur).max().alias("dur_max_ns"),
    )
