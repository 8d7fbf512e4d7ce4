"""Lay cells out in columns."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from tracefast.cli.text.width import cells, padded

GAP: Final = "  "


def align(
    rows: Sequence[Sequence[str]],
    *,
    right: Collection[int] = (),
    max_widths: Mapping[int, int] | None = None,
) -> Iterator[str]:
    """Write rows as lines, the cells of a column below each other.

    Parameters
    ----------
    rows
        Rows of the same number of cells.
    right
        Columns to align at the right, such as those of numbers.
    max_widths
        Columns that are not to be as wide as their longest cell: longer cells move the rest of
        their line.

    Examples
    --------
    >>> list(align([["calls", "name"], ["12", "read"]], right=[0]))
    ['calls  name', '   12  read']
    """
    widths = [max(map(cells, column)) for column in zip(*rows, strict=True)]
    for column, most in (max_widths or {}).items():
        widths[column] = min(widths[column], most)
    for row in rows:
        aligned = (
            padded(cell, width, right=at in right)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield GAP.join(aligned).rstrip()


def room_for_last(rows: Sequence[Sequence[str]], width: int) -> int:
    """Give the width that is left for the last column; below zero where the others need more."""
    others = [max(map(cells, column)) for column in zip(*rows, strict=True)][:-1]
    return width - sum(others) - len(GAP) * len(others)
