"""Columns that are described together, and how to declare them."""

from typing import NamedTuple

# Units that the end of a name says: `read_ns`, `read_bytes`.
_SUFFIX_UNITS = ("ns", "bytes")


class ColumnGroup(NamedTuple):
    """Columns of one type that are described together.

    In the texts, names of columns are in single backticks, values and code in double ones, as in
    docstrings.
    """

    names: tuple[str, ...]
    """Names of the columns, in the order of the table."""
    type: str
    """Their type: of events that of Arrow, of tables that of polars."""
    unit: str | None
    """The unit of their values; None if they have none, as names, counts and shares."""
    meaning: str
    """What they mean."""
    detail: str = ""
    """What the documentation says beyond that."""


def columns(
    names: str, dtype: str, meaning: str, *, unit: str | None = None, detail: str = ""
) -> ColumnGroup:
    """Declare columns that are described together.

    Parameters
    ----------
    names
        Their names, with a blank between two.
    dtype
        Their type.
    meaning
        What they mean.
    unit
        The unit of their values; by default the one that their names end in.
    detail
        What the documentation says beyond `meaning`.

    Examples
    --------
    >>> columns("min_ns max_ns", "Int64", "Duration of a call.").unit
    'ns'
    """
    listed = tuple(names.split())
    suffixes = {name.rpartition("_")[2] for name in listed}
    if unit is None and len(suffixes) == 1:
        unit = next((suffix for suffix in suffixes if suffix in _SUFFIX_UNITS), None)
    return ColumnGroup(listed, dtype, unit, meaning, detail)
