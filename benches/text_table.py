"""Tables in Markdown that are as readable as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]], left: int) -> str:
    """Return a table; all columns but the first `left` ones hold numbers."""
    rule = tuple("---" if column < left else "---:" for column in range(len(head)))
    table = [tuple(head), rule, *map(tuple, rows)]
    widths = [max(len(row[column]) for row in table) for column in range(len(head))]
    lines = []
    for number, row in enumerate(table):
        fill = "-" if number == 1 else " "
        cells = [
            cell.ljust(width, fill) if column < left else cell.rjust(width, fill)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)
