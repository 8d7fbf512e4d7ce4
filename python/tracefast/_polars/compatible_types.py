"""Other types that a column may have for the same data: narrower integers, plain strings."""

from collections.abc import Iterable, Mapping
from typing import Final

import polars as pl

Types = Mapping[str, pl.DataType | type[pl.DataType]]

_WORDS: Final = (pl.String, pl.Categorical, pl.Enum)
# How many columns a message names.
_NAMED: Final = 3


def fitted(name: str, have: pl.DataType, wanted: pl.DataType | type[pl.DataType]) -> pl.Expr | None:
    """Convert a column to the wanted type; None if its own type is for other data.

    Words may be strings, dictionaries or enumerations, times may have any unit. Integers may have
    any width: a value that does not fit is an error when it is read. Times with a time zone are
    converted to UTC. Floating-point numbers are not accepted as integers, because those above
    2**53 are not exact.

    Parameters
    ----------
    name
        The column.
    have
        Its type.
    wanted
        The type that it should have.

    Examples
    --------
    >>> print(fitted("tid", pl.Int16(), pl.Int32))
    col("tid").strict_cast(Int32)
    >>> fitted("file", pl.Float64(), pl.UInt64) is None
    True
    """
    column = pl.col(name)
    if have == wanted:
        return column
    if have == pl.Null:
        return column.cast(wanted)
    if isinstance(have, pl.Datetime) and wanted == pl.Datetime("ns"):
        zoned = column if have.time_zone is None else column.dt.convert_time_zone("UTC")
        return zoned.dt.replace_time_zone(None).cast(wanted)
    if isinstance(have, _WORDS) and wanted in _WORDS:
        return column.cast(wanted)
    return column.cast(wanted) if have.is_integer() and wanted.is_integer() else None


def of_other_types(have: pl.Schema, wanted: Types) -> str | None:
    """Say which columns have types for other data; None if no column has.

    Examples
    --------
    >>> of_other_types(pl.Schema({"ts": pl.Int64(), "tid": pl.Int16()}), {"ts": pl.Datetime("ns")})
    "column 'ts' is Int64, not Datetime('ns')"
    """
    odd = [
        f"column {name!r} is {_called(have[name])}, not {_called(dtype)}"
        for name, dtype in wanted.items()
        if name in have and fitted(name, have[name], dtype) is None
    ]
    return listed(odd) if odd else None


def listed(things: Iterable[str]) -> str:
    """List the first few items, and say how many more there are.

    Examples
    --------
    >>> listed("abcde")
    'a, b, c and 2 more'
    """
    some = list(things)
    more = f" and {len(some) - _NAMED} more" if len(some) > _NAMED else ""
    return ", ".join(some[:_NAMED]) + more


def _called(dtype: pl.DataType | type[pl.DataType]) -> str:
    """Write a type as in Python."""
    if isinstance(dtype, pl.Datetime):
        zone = "" if dtype.time_zone is None else f", {dtype.time_zone!r}"
        return f"Datetime({dtype.time_unit!r}{zone})"
    return str(dtype)
