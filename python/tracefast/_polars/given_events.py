"""Events that a user passed, as the lazy frame that all analyses work on."""

from collections.abc import Iterable, Mapping
from typing import Protocol, TypeAlias

import polars as pl

from tracefast._polars.compatible_types import Types, of_other_types
from tracefast._polars.source_threads import refuse_fork


class ArrowStream(Protocol):
    """A table of another library, such as pyarrow or pandas, or a reader of `tracefast.read`."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Give the table as an Arrow stream."""


Events: TypeAlias = "pl.LazyFrame | pl.DataFrame | ArrowStream"


def rows_of(events: Events, needed: Types | Iterable[str], question: str) -> pl.LazyFrame:
    """Give events as a lazy frame, and check that it has the columns that are needed.

    Parameters
    ----------
    events
        A frame of polars; or a table that can be passed as Arrow, which is read now.
    needed
        Names of columns, or their types; other types that hold the same data are accepted.
    question
        Name of the function that was called, for messages.

    Raises
    ------
    TypeError
        It is not a table.
    polars.exceptions.ColumnNotFoundError
        Columns are missing; all of them are named.
    polars.exceptions.SchemaError
        Columns have other types, such as floating-point numbers instead of integers.
    RuntimeError
        This process is a fork in which polars would hang.

    Examples
    --------
    >>> rows_of("demo.strace", ["ts"], "tracefast.files")
    Traceback (most recent call last):
    ...
    TypeError: tracefast.files needs events, got str: pass tracefast.scan('demo.strace')
    """
    refuse_fork()
    rows = _lazy(events, question)
    have = rows.collect_schema()
    missing = [name for name in needed if name not in have]
    if missing:
        names = ", ".join(map(repr, missing))
        raise pl.exceptions.ColumnNotFoundError(
            f"{question} needs {'columns' if len(missing) > 1 else 'the column'} {names}, "
            "which these events do not have: filter rows, but keep the columns"
        )
    if isinstance(needed, Mapping) and (odd := of_other_types(have, needed)) is not None:
        raise pl.exceptions.SchemaError(
            f"{question} does not take these types: {odd}; take the events from tracefast.scan, "
            "and keep the types of its columns"
        )
    return rows


def _lazy(events: Events, question: str) -> pl.LazyFrame:
    if isinstance(events, pl.LazyFrame | pl.DataFrame):
        return events.lazy()
    if hasattr(events, "__arrow_c_stream__"):
        return pl.DataFrame(events).lazy()
    given = f"{events!r}" if isinstance(events, str) else "LOG"
    raise TypeError(
        f"{question} needs events, got {type(events).__name__}: pass tracefast.scan({given})"
    )
