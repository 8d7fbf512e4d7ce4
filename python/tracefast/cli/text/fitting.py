"""Fit a table to a terminal: which columns it keeps, and where text is cut."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from tracefast.cli.text.layout import GAP
from tracefast.cli.text.shorten import (
    cut_distinct,
    cut_end,
    cut_middle,
    last_name,
    without_common_folders,
)
from tracefast.cli.text.width import cells as text_width

# Text that is no path is not cut below this: how a file was read is at most as long, nearly always.
_MIN_TEXT: Final = 18
# Columns of paths, apart from those whose names end in `path` or `image`.
_PATHS: Final = frozenset({"src", "dst", "object"})
# What says most at its start: a command the program, arguments the descriptor; and times, whose
# names begin with `ts`.
_FROM_START: Final = frozenset({"argv", "args"})
# In the names of what has no path: pipe:[123], TCP:[127.0.0.1:80->127.0.0.1:4711].
_NO_PATH: Final = ":["


@dataclass
class TextColumn:
    """A column of a table in text.

    Attributes
    ----------
    name
        Its name in the table, which the heading may word differently.
    cells
        Its heading and its values.
    numeric
        It has numbers, which are never cut.
    """

    name: str
    cells: list[str]
    numeric: bool

    @property
    def width(self) -> int:
        """The cells that its longest text takes."""
        return max(map(text_width, self.cells))

    def least(self, most: int | None = None) -> int:
        """Give the width below which it says too little: that of the longest last name of a path.

        Parameters
        ----------
        most
            Names that are longer do not count, as they are cut anyway; None to count all.
        """
        if self.numeric:
            return self.width
        names = [needed for needed in self._names() if most is None or needed <= most]
        return min(self.width, max(_MIN_TEXT, *names, 0))

    def _names(self) -> Iterator[int]:
        """Give the widths of the last names of paths, each with what marks its folders as cut."""
        if not (self.name.endswith(("path", "image")) or self.name in _PATHS):
            return
        for text in self.cells[1:]:
            if _NO_PATH not in text:
                name = last_name(text)
                yield text_width(name) + (len(name) < len(text))


def without_spare(columns: list[TextColumn], width: int, spare: Sequence[str]) -> list[TextColumn]:
    """Leave columns out until the last name of every path fits, or none is left to leave out.

    Parameters
    ----------
    columns
        The columns.
    width
        Width of the terminal.
    spare
        Names of columns to leave out, the first one first.

    Examples
    --------
    >>> path = TextColumn("path", ["path", "/srv/demo/checkpoint-000100.pth"], numeric=False)
    >>> calls = TextColumn("calls", ["calls", "10"], numeric=True)
    >>> [column.name for column in without_spare([calls, path], 30, ["calls"])]
    ['calls', 'path']
    >>> [column.name for column in without_spare([calls, path], 29, ["calls"])]
    ['path']
    """
    kept = [column for column in columns if column.name not in spare]
    # A name that does not fit beside what always stays is cut; no column is left out for it.
    others = sum(column.least(_MIN_TEXT) for column in kept) + len(GAP) * (len(kept) - 1)
    least = {
        column.name: column.least(max(width - others + column.least(_MIN_TEXT), _MIN_TEXT))
        for column in columns
    }
    shown = list(columns)
    for name in spare:
        if sum(least[column.name] for column in shown) + len(GAP) * (len(shown) - 1) <= width:
            break
        shown = [column for column in shown if column.name != name]
    return shown


def cut_to_fit(columns: Sequence[TextColumn], width: int) -> None:
    """Cut text until lines fit: folders of paths first, and the widest column first.

    Names of logs stay different.

    Parameters
    ----------
    columns
        The columns; their cells are changed.
    width
        Width of the terminal.

    Examples
    --------
    >>> path = TextColumn("path", ["path", "/srv/demo/checkpoint-000100.pth"], numeric=False)
    >>> cut_to_fit([path], 24)
    >>> path.cells[1]
    '/…/checkpoint-000100.pth'
    """
    room = width - len(GAP) * (len(columns) - 1)
    for column in columns:
        if column.name == "source" and sum(each.width for each in columns) > room:
            column.cells[1:] = without_common_folders(column.cells[1:])
    # Of the longest names, only those that are too long even alone are cut first.
    others = sum(column.least(_MIN_TEXT) for column in columns)
    floors = [
        column.least(max(room - others + column.least(_MIN_TEXT), _MIN_TEXT)) for column in columns
    ]
    _cut(columns, room, floors)
    _cut(columns, room, [_MIN_TEXT] * len(columns))


def _cut(columns: Sequence[TextColumn], room: int, floors: Sequence[int]) -> None:
    """Cut the widest columns of text, each down to its floor at most."""
    while True:
        widths = [column.width for column in columns]
        excess = sum(widths) - room
        texts = [
            at
            for at, column in enumerate(columns)
            if not column.numeric and widths[at] > floors[at]
        ]
        if excess <= 0 or not texts:
            return
        widest = max(texts, key=lambda at: widths[at])
        limit = max(widths[widest] - excess, floors[widest])
        # Not below the next widest column: then both are cut.
        rivals = [widths[at] for at in texts if at != widest]
        limit = max(limit, min(max(rivals, default=0), widths[widest] - 1))
        column = columns[widest]
        head, *rest = column.cells
        if column.name == "source":
            rest = cut_distinct(rest, limit)
        else:
            from_start = column.name in _FROM_START or column.name.startswith("ts")
            cut = cut_end if from_start else cut_middle
            rest = [cut(text, limit) for text in rest]
        column.cells = [cut_middle(head, limit), *rest]
