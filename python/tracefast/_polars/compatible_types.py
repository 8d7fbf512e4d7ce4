"""Types that a column may have elsewhere for the same data: narrower numbers, plain strings."""

from collections.abc import Iterable, Mapping
from typing import Final

import polars as pl

Types = Mapping[str, pl.DataType | type[pl.DataType]]

_WORDS: Final = (pl.String, pl.Categorical, pl.Enum)
# How many columns a message names.
_NAMED: Final = 3


def fitted(name: str, have: pl.DataType, wanted: pl.DataType | type[pl.DataType]) -> pl.Expr | None:
    """Give a column in the type that is wanted; None if the one that it has is of other data.

    Words may be strings, dictionaries or enumerations, times of any unit. Whole numbers may be of
    any width: one that does not fit is an error where it is met. Times in a zone become those of
    UTC. A fraction is no whole number, as those above 2**53 are lost in it.

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
    """Say which columns are of other data than is wanted, and what they are; None if none is.

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
    """Name some things, and how many more there are.

    Examples
    --------
    >>> listed("abcde")
    'a, b, c and 2 more'
    """
    some = list(things)
    more = f" and {len(some) - _NAMED} more" if len(some) > _NAMED else ""
    return ", ".join(some[:_NAMED]) + more


def _called(dtype: pl.DataType | type[pl.DataType]) -> str:
    """Write a type as it is written in Python, but words as what they are."""
    if isinstance(dtype, pl.Datetime):
        zone = "" if dtype.time_zone is None else f", {dtype.time_zone!r}"
        return f"Datetime({dtype.time_unit!r}{zone})"
    return str(dtype)
