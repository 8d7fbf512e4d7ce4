"""The columns of the events, in the types of polars."""

from functools import cache
from typing import Final

import polars as pl

from tracefast import _core
from tracefast.columns.events import JOINED
from tracefast.columns.tables import names_of

# Columns of words that are plain strings, not dictionaries, in Parquet.
_PLAIN: Final = ("name", "source")
JOINED_COLUMNS: Final = tuple(names_of(JOINED))


def event_schema() -> pl.Schema:
    """Give the event schema in the types of polars, as `tracefast.scan` has it.

    `name` and `source` are strings, because polars skips row groups of Parquet by the statistics of
    strings, but not of dictionaries, and is as fast with them. `source` is a string in tables too,
    so that they can be joined with events.

    Examples
    --------
    >>> event_schema()["ts"]
    Datetime(time_unit='ns', time_zone=None)
    >>> event_schema()["name"]
    String
    """
    return _known().copy()


def joined_schema() -> pl.Schema:
    """Give the schema of events that `tracefast.join` made, in the types of polars.

    Examples
    --------
    >>> joined_schema().names()[-1]
    'disk_ns'
    """
    return pl.Schema(_known() | dict.fromkeys(JOINED_COLUMNS, pl.Int64()))


@cache
def _known() -> pl.Schema:
    schema = pl.Schema(_core.schema())
    return pl.Schema(schema | dict.fromkeys(_PLAIN, pl.String()))
