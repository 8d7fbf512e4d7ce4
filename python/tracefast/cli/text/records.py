"""Write each row of a table with its values below each other, as psql does with \\x."""

from collections.abc import Iterator, Sequence
from typing import Final

from tracefast.cli.text.escaping import printable
from tracefast.cli.text.layout import GAP
from tracefast.cli.text.rows import Table, rows_of
from tracefast.cli.text.table_text import column_texts, heading, with_values
from tracefast.cli.text.width import cells, padded

_MAX_RULE: Final = 80


def render_records(table: Table, columns: Sequence[str], width: int) -> Iterator[str]:
    """Write each row of a table as a record.

    Parameters
    ----------
    table
        The table.
    columns
        The columns to show, in this order. Those that are zero or null in all rows are left out.
    width
        Width of the terminal; nothing is cut, longer lines continue on the next one.

    Yields
    ------
    str
        The record of a row: its heading, and a line per column.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"reads": [10, 2], "path": ["/srv/a.pth", "/srv/b.pth"]})
    >>> for record in render_records(frame, frame.columns, 24):
    ...     print(record, end="")
    -[ row 1 ]--------------
    reads  10
    path   /srv/a.pth
    -[ row 2 ]--------------
    reads  2
    path   /srv/b.pth
    """
    rows = rows_of(table)
    columns = with_values(rows, columns)
    names = [printable(heading(name, terminal=True)) for name in columns]
    label = max(map(cells, names), default=0)
    values = [column_texts(name, rows.kind(name), rows.values(name)) for name in columns]
    for row in range(len(rows)):
        title = f"-[ row {row + 1:,} ]"
        lines = [
            f"{padded(name, label)}{GAP}{texts[row]}\n"
            for name, texts in zip(names, values, strict=True)
        ]
        yield "".join([f"{title:-<{min(width, _MAX_RULE)}}\n", *lines])


def rows_on_screen(table: Table, columns: Sequence[str], lines: int) -> int:
    """Give the number of records for which a screen has room, at least one.

    Examples
    --------
    >>> import polars as pl
    >>> rows_on_screen(pl.DataFrame({"reads": [10, 2], "path": ["/a", "/b"]}), ["path"], 5)
    2
    """
    return max(lines // (1 + len(with_values(table, columns))), 1)
