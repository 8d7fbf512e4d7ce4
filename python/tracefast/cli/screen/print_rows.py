"""Print the rows of a table: sorted, cut to its top."""

import sys
from collections.abc import Callable, Sequence
from typing import Final

from tracefast.cli.command_line.request import Request
from tracefast.cli.output.form import Format
from tracefast.cli.output.terminal import is_terminal_table, screen_rows, terminal_width
from tracefast.cli.output.write import write_table
from tracefast.cli.text.records import rows_on_screen
from tracefast.cli.text.rows import Rows, Table, rows_of
from tracefast.cli.text.table_text import fits, render_table

ROW: Final = ("row", "rows")
# Most commands print a total and a note.
LINES_BELOW: Final = 2

RowsAsText = Callable[[Rows, int | None], Table]


def print_rows(
    table: Table,
    request: Request,
    *,
    main: Sequence[str],
    as_text: RowsAsText | None = None,
    spare: Sequence[str] = (),
    noun: tuple[str, str] = ROW,
    below: int = LINES_BELOW,
    several: bool = False,
) -> None:
    """Sort a table, cut it to its top, and print it.

    Parameters
    ----------
    table
        The table.
    request
        What was asked for: the order, how many rows, the form.
    main
        The columns of a table in text, unless all are asked for.
    as_text
        Makes another table for text out of the rows that are printed, unless all columns are asked
        for. It gets the width of the terminal, None elsewhere. All its columns are shown.
    spare
        Columns to leave out on a narrow terminal, the first one first.
    noun
        What a row is, singular and plural, to say how many more there are.
    below
        How many lines will be printed below the table, on the same screen.
    several
        Name the log of each row, even if only one log has rows.
    """
    rows = rows_of(table)
    if request.sort is not None:
        rows = rows.sorted_by(request.sort)
    hidden = len(rows)
    rows = rows.head(rows_to_print(request, hidden, below))
    make_text = as_text if request.form is Format.TABLE and not request.wide else None
    terminal = is_terminal_table(request.form, request.output)
    if make_text is not None and terminal and request.top is None:
        # A row may become several lines.
        while (more := len(make_text(rows, None)) - screen_rows(below)) > 0 and len(rows) > 1:
            rows = rows.head(len(rows) - min((more + 1) // 2, len(rows) - 1))
    hidden -= len(rows)
    if not several and "source" in rows.names and len(set(rows.values("source"))) <= 1:
        rows = rows.without("source")
    if make_text is not None:
        rows = rows_of(make_text(rows, terminal_width() if terminal else None))
        main = rows.names
    columns = rows.names if request.wide else ["source", *main]
    if request.wide and terminal and request.top is None:
        # As in `write_table`, which then writes the values of each row below each other.
        whole = render_table(rows, columns, sys.maxsize)
        if not fits(whole, terminal_width()):
            height = len(rows)
            rows = rows.head(rows_on_screen(rows, columns, screen_rows(below)))
            hidden += height - len(rows)
    write_rows(rows, request, columns, hidden, spare, noun)


def rows_to_print(request: Request, height: int, below: int = LINES_BELOW) -> int:
    """Say how many of the rows to print.

    Parameters
    ----------
    request
        What was asked for.
    height
        How many rows there are.
    below
        As for `print_rows`.
    """
    if request.top is None:
        if not is_terminal_table(request.form, request.output):
            return height
        # The note on one row that is left out takes as much room as the row.
        rows = screen_rows(below)
        return height if height == rows + 1 else rows
    return request.top or height


def write_rows(
    rows: Rows,
    request: Request,
    columns: Sequence[str],
    hidden: int,
    spare: Sequence[str] = (),
    noun: tuple[str, str] = ROW,
    *,
    verbatim: bool = False,
) -> None:
    """Write rows, and say how many are left out.

    Parameters
    ----------
    rows
        The rows to write.
    request
        What was asked for: the form, the output.
    columns
        The columns in text; those that the table lacks are left out.
    hidden
        How many rows were left out.
    spare, noun
        As for `print_rows`.
    verbatim
        As for :func:`tracefast.cli.output.write.write_table`.
    """
    shown = [name for name in dict.fromkeys(columns) if name in rows.names]
    write_table(
        rows,
        request.form,
        request.output,
        shown,
        clobber=request.clobber,
        whole=request.wide,
        spare=spare,
        verbatim=verbatim,
    )
    if hidden and is_terminal_table(request.form, request.output):
        request.note(f"{hidden:,} more {noun[hidden != 1]}; --top 0 prints all")
