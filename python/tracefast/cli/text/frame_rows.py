"""A frame of polars as rows to write as text."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import polars as pl

from tracefast.cli.text.escaped_columns import as_text, printable_column
from tracefast.cli.text.rows import Kind, Rows, Table

# Types whose values Python has.
_OWN: Final = (pl.String, pl.Boolean, pl.Binary)
_SLICE: Final = 8_192


class FrameRows(Rows):
    """The rows of a frame.

    Examples
    --------
    >>> rows = FrameRows(pl.DataFrame({"reads": [2, None, 7], "path": ["/a", "/b", "/c"]}))
    >>> rows.sorted_by("reads").values("path"), rows.take([1]).values("path")
    (['/c', '/a', '/b'], ['/b'])
    """

    def __init__(self, frame: pl.DataFrame) -> None:
        self.frame = frame

    @property
    def names(self) -> list[str]:
        """The columns, in order."""
        return self.frame.columns

    def __len__(self) -> int:
        """Count the rows."""
        return self.frame.height

    def kind(self, name: str) -> Kind:
        """Say what the values of a column are."""
        return kind_of(self.frame[name])

    def values(self, name: str) -> list[Any]:
        """Give the values of a column."""
        return values_of(self.frame[name])

    def records(self, *names: str) -> Iterator[tuple[Any, ...]]:
        """Give rows as tuples of the values of some columns, some thousand rows at a time."""
        for part in self.frame.select(names).iter_slices(_SLICE):
            yield from zip(*map(values_of, part.get_columns()), strict=True)

    def take(self, chosen: Sequence[int]) -> Rows:
        """Choose rows by their numbers, in this order."""
        if isinstance(chosen, range) and chosen.step == 1:
            return FrameRows(self.frame.slice(chosen.start, len(chosen)))
        return FrameRows(self.frame[pl.Series(chosen, dtype=pl.UInt32)])

    def without(self, name: str) -> Rows:
        """Leave out a column."""
        return FrameRows(self.frame.drop(name))

    def sorted_by(self, name: str) -> Rows:
        """Sort by a column: numbers largest first, others in their order, nulls last."""
        descending = self.frame[name].dtype.is_numeric()
        return FrameRows(
            self.frame.sort(name, descending=descending, nulls_last=True, maintain_order=True)
        )


def kind_of(values: pl.Series) -> Kind:
    """Say what the values of a column are.

    Examples
    --------
    >>> kind_of(pl.Series([1.5])), kind_of(pl.Series([True]))
    ('number', 'text')
    """
    if values.dtype == pl.Datetime:
        return "time"
    return "number" if values.dtype.is_numeric() else "text"


def values_of(values: pl.Series) -> list[Any]:
    """Give the values of a column as Python has them: times as nanoseconds.

    Examples
    --------
    >>> from datetime import datetime, timedelta
    >>> values_of(pl.Series([datetime(1970, 1, 1, 0, 0, 1)]))
    [1000000000]
    >>> values_of(pl.Series([timedelta(seconds=1)])), values_of(pl.Series([["/bin/sh"], None]))
    (['PT1S'], [['/bin/sh'], None])
    """
    dtype = values.dtype
    if isinstance(dtype, pl.Datetime):
        values = values.dt.replace_time_zone(None).dt.cast_time_unit("ns").cast(pl.Int64)
    elif isinstance(dtype, pl.Duration):
        values = values.dt.to_string("iso")
    elif not (dtype.is_numeric() or dtype.is_nested() or isinstance(dtype, _OWN)):
        values = values.cast(pl.String)
    return values.to_list()


def frame_of(table: Table) -> pl.DataFrame:
    """Give the frame that rows are of.

    Raises
    ------
    TypeError
        They are not of a frame: only text can be made of them.
    """
    frame = table.frame if isinstance(table, FrameRows) else table
    if not isinstance(frame, pl.DataFrame):
        raise TypeError("these rows are not of a frame of polars")
    return frame


def verbatim(rows: Rows, name: str) -> list[str | None]:
    """Write the values of a column as they are: numbers with all digits, without separators."""
    values = as_text(frame_of(rows).select(name)).to_series()
    texts = values.cast(pl.String)
    return printable_column(texts).to_list() if values.dtype == pl.String else texts.to_list()
