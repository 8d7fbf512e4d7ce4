"""The rows of a table as lists of Python, for what writes them as text.

A table that a fold made needs no polars for this; one that polars made is
:class:`tracefast.cli.text.frame_rows.FrameRows`.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from tracefast import _core
from tracefast._core import column_values

if TYPE_CHECKING:
    import polars as pl

# Numbers; nanoseconds since 1970; all others: text, and what is written as text.
Kind = Literal["number", "time", "text"]


class Rows(ABC):
    """Rows of a table.

    Examples
    --------
    >>> reads, paths = ("number", [2, None, 7]), ("text", ["/a", "/b", "/c"])
    >>> rows = ListRows({"reads": reads, "path": paths})
    >>> rows.sorted_by("reads").values("path"), rows.take([1]).values("path")
    (['/c', '/a', '/b'], ['/b'])
    """

    @property
    @abstractmethod
    def names(self) -> list[str]:
        """The columns, in order."""

    @abstractmethod
    def __len__(self) -> int:
        """Count the rows."""

    @abstractmethod
    def kind(self, name: str) -> Kind:
        """Say what the values of a column are."""

    @abstractmethod
    def values(self, name: str) -> list[Any]:
        """Give the values of a column."""

    @abstractmethod
    def take(self, chosen: Sequence[int]) -> "Rows":
        """Choose rows by their numbers, in this order."""

    @abstractmethod
    def without(self, name: str) -> "Rows":
        """Leave out a column."""

    def sorted_by(self, name: str) -> "Rows":
        """Sort by a column: numbers largest first, others in their order, nulls last."""
        largest_first = self.kind(name) == "number"
        return self.ordered(
            [
                (value is None, -value if largest_first and value is not None else value)
                for value in self.values(name)
            ]
        )

    def ordered(self, keys: Sequence[Any]) -> "Rows":
        """Sort by the keys of the rows; those that are in order stay as they are."""
        if all(before <= after for before, after in pairwise(keys)):
            return self
        return self.take(sorted(range(len(keys)), key=keys.__getitem__))

    def head(self, most: int) -> "Rows":
        """Choose the first rows."""
        return self if most >= len(self) else self.take(range(most))

    def records(self, *names: str) -> Iterator[tuple[Any, ...]]:
        """Give rows as tuples of the values of some columns."""
        return zip(*(self.values(name) for name in names), strict=True)


class ListRows(Rows):
    """Rows of which there are lists.

    Parameters
    ----------
    columns
        By name, in order: what the values are, and the values.
    """

    def __init__(self, columns: Mapping[str, tuple[Kind, list[Any]]]) -> None:
        self._columns = columns

    @property
    def names(self) -> list[str]:
        """The columns, in order."""
        return list(self._columns)

    def __len__(self) -> int:
        """Count the rows."""
        return max((len(values) for _, values in self._columns.values()), default=0)

    def kind(self, name: str) -> Kind:
        """Say what the values of a column are."""
        return self._columns[name][0]

    def values(self, name: str) -> list[Any]:
        """Give the values of a column."""
        return self._columns[name][1]

    def take(self, chosen: Sequence[int]) -> Rows:
        """Choose rows by their numbers, in this order."""
        columns = self._columns.items()
        return ListRows(
            {name: (kind, [values[row] for row in chosen]) for name, (kind, values) in columns}
        )

    def without(self, name: str) -> Rows:
        """Leave out a column."""
        return ListRows({other: of for other, of in self._columns.items() if other != name})


def declared_rows(table: str, records: Sequence[Mapping[str, Any]]) -> Rows:
    """Give rows with the columns of a table, in its order.

    Parameters
    ----------
    table
        Name of the table.
    records
        The values of each row, by column.

    Examples
    --------
    >>> rows = declared_rows("errors", [])
    >>> rows.kind("count"), rows.kind("name")
    ('number', 'text')
    """
    from tracefast.columns.tables import TABLES

    columns: dict[str, tuple[Kind, list[Any]]] = {}
    for group in TABLES[table]:
        numeric = group.type.startswith(("Int", "UInt", "Float"))
        kind: Kind = "number" if numeric else "time" if group.type == "Datetime" else "text"
        for name in group.names:
            columns[name] = (kind, [record[name] for record in records])
    return ListRows(columns)


class FoldRows(Rows):
    """The table that a fold made; lists of its columns are made when they are asked for.

    Parameters
    ----------
    kinds
        What the values of each column are, in the order of the columns.
    parts
        The table.
    chosen
        The numbers of the rows to have, in this order; None for all.
    """

    def __init__(
        self,
        kinds: Mapping[str, Kind],
        parts: Sequence[_core.Batch],
        chosen: Sequence[int] | None = None,
    ) -> None:
        self._kinds = kinds
        self._parts = parts
        self._chosen = chosen

    @property
    def names(self) -> list[str]:
        """The columns, in order."""
        return list(self._kinds)

    def __len__(self) -> int:
        """Count the rows."""
        return sum(map(len, self._parts)) if self._chosen is None else len(self._chosen)

    def kind(self, name: str) -> Kind:
        """Say what the values of a column are."""
        return self._kinds[name]

    def values(self, name: str) -> list[Any]:
        """Give the values of a column."""
        chosen = self._chosen
        if isinstance(chosen, range) and self._parts and chosen.stop <= len(self._parts[0]):
            # The first rows of many.
            return column_values(self._parts[0], name)[chosen.start : chosen.stop : chosen.step]
        values = [value for part in self._parts for value in column_values(part, name)]
        return values if chosen is None else [values[row] for row in chosen]

    def records(self, *names: str) -> Iterator[tuple[Any, ...]]:
        """Give rows as tuples of the values of some columns, part by part where all are wanted."""
        if self._chosen is not None:
            yield from super().records(*names)
            return
        for part in self._parts:
            yield from zip(*(column_values(part, name) for name in names), strict=True)

    def take(self, chosen: Sequence[int]) -> Rows:
        """Choose rows by their numbers, in this order."""
        before = self._chosen
        rows = chosen if before is None else [before[row] for row in chosen]
        return FoldRows(self._kinds, self._parts, rows)

    def without(self, name: str) -> Rows:
        """Leave out a column."""
        kinds = {other: kind for other, kind in self._kinds.items() if other != name}
        return FoldRows(kinds, self._parts, self._chosen)


# What writes rows takes frames of polars, too.
Table: TypeAlias = "Rows | pl.DataFrame"


def rows_of(table: Table) -> Rows:
    """Give the rows of a table that may be a frame of polars."""
    if isinstance(table, Rows):
        return table
    from tracefast.cli.text.frame_rows import FrameRows

    return FrameRows(table)


def where(values: Iterable[object]) -> list[int]:
    """Give the numbers of the rows for which something holds.

    Examples
    --------
    >>> where([True, None, 7])
    [0, 2]
    """
    return [row for row, value in enumerate(values) if value]
