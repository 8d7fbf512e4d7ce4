"""What joined events show of single calls, for the rows of other tables."""

from collections.abc import Mapping

import polars as pl

from tracefast._polars.given_events import Events, rows_of

# A row of a table is about the call that starts on a line of a log.
_KEY = ("source", "line")


def has_columns(events: Events, names: tuple[str, ...]) -> bool:
    """Say whether events have columns of `tracefast.join`.

    Examples
    --------
    >>> import tracefast as tf
    >>> has_columns(tf.scan("demo.strace"), ("kernel_ns",))
    False
    """
    if not isinstance(events, pl.LazyFrame | pl.DataFrame):
        return False
    have = events.lazy().collect_schema()
    return all(name in have for name in names)


def with_times_of_calls(
    table: pl.LazyFrame, events: Events, columns: Mapping[str, str], question: str
) -> pl.LazyFrame:
    """Add to each row what `tracefast.join` says of the call that it is about.

    Parameters
    ----------
    table
        Rows with `source` and `line`, on which the call starts.
    events
        The events, with the columns of the join.
    columns
        New columns, and which column of the events each is.
    question
        Name of the function that was called, for messages.
    """
    calls = (
        calls_of(events, (*_KEY, *columns.values()), question)
        .group_by(_KEY)
        .agg(pl.col(joined).first().alias(name) for name, joined in columns.items())
    )
    return table.join(calls, on=_KEY, how="left", nulls_equal=True, maintain_order="left")


def calls_of(events: Events, columns: tuple[str, ...], question: str) -> pl.LazyFrame:
    """Give columns of the calls that both logs show."""
    rows = rows_of(events, [*columns, "kind", "kernel_ns"], question)
    return rows.filter(
        pl.col("kind").cast(pl.String) == "syscall", pl.col("kernel_ns").is_not_null()
    ).with_columns(pl.col("source").cast(pl.String))
