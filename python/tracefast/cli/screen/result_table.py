"""Print a table: filtered, sorted, cut to its top."""

import sys
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Any, Final

import polars as pl

from tracefast.analysis.conditions import evaluate_condition
from tracefast.cli.command_line.request import Request
from tracefast.cli.messages.column_suggestions import suggest_column
from tracefast.cli.messages.errors import CommandError
from tracefast.cli.messages.hints import NO_PHASE
from tracefast.cli.output.form import Format
from tracefast.cli.output.terminal import is_terminal_table, screen_rows, terminal_width
from tracefast.cli.output.write import write_table
from tracefast.cli.text.escaping import printable
from tracefast.cli.text.records import rows_on_screen
from tracefast.cli.text.table_text import fits, render_table

_ROW = ("row", "rows")
# Most commands print a total and a note.
_LINES_BELOW = 2
# Rows among which what was meant by a pattern is looked for.
_COMPARED: Final = 10_000

AsText = Callable[[pl.DataFrame, int | None], pl.DataFrame]


def check_columns(request: Request, schema: Mapping[str, Any]) -> None:
    """Refuse a column to sort by, or a condition, that the table cannot have.

    Parameters
    ----------
    request
        What was asked for.
    schema
        The columns of the table, with their types.

    Raises
    ------
    CommandError
        There is no such column, or the condition is not valid; the hint names what resembles it.
    """
    if request.sort is not None and request.sort not in schema:
        raise CommandError(
            f"--sort {request.sort}: no such column", suggest_column(request.sort, schema)
        )
    if request.where is not None:
        for name in _names(request.where):
            # Double quotes may be meant for text: `evaluate_condition` has a hint for this.
            if name not in schema and f'"{name}"' not in request.where:
                what = f"--where {request.where}: no such column: {name}"
                raise CommandError(what, suggest_column(name, schema))
        evaluate_condition(pl.DataFrame(schema=schema), request.where)


def _names(condition: str) -> list[str]:
    """Give the names of columns in a condition; none if it is not valid."""
    try:
        return pl.sql_expr(condition).meta.root_names()
    except pl.exceptions.PolarsError:
        return []


def filter_rows(
    frame: pl.DataFrame, request: Request, match: str | None = None, *columns: str
) -> pl.DataFrame:
    """Keep the rows that match a pattern and a condition.

    Parameters
    ----------
    frame
        The table.
    request
        What was asked for: the condition.
    match
        A pattern that one of the columns has to match; None for all rows.
    columns
        The columns to match.
    """
    given = frame
    frame = filter_matching(given, match, *columns)
    if match is not None and frame.is_empty() and (near := _nearest(given, match, *columns)):
        request.note(f"note: nothing matches --match {match}; the nearest is {printable(near)}")
    return (
        frame if request.where is None else frame.filter(evaluate_condition(frame, request.where))
    )


def _nearest(frame: pl.DataFrame, pattern: str, *columns: str) -> str | None:
    """Give the value that is most like a pattern; None if nothing is."""
    values = [value for name in columns for value in frame[name].head(_COMPARED) if value]
    by_name = {value.rpartition("/")[2]: value for value in reversed(values)}
    wanted = pattern.rpartition("/")[2]
    found = get_close_matches(wanted, by_name, n=1) or get_close_matches(
        wanted.replace("*", ""), by_name, n=1
    )
    return by_name[found[0]] if found else None


def matches(name: str | None, pattern: str) -> bool:
    """Say whether a name matches a pattern: whole, or its last component."""
    if name is None:
        return False
    return fnmatchcase(name, pattern) or fnmatchcase(name.rpartition("/")[2], pattern)


def filter_matching(frame: pl.DataFrame, pattern: str | None, *columns: str) -> pl.DataFrame:
    """Keep the rows in which one of the columns matches a pattern: whole, or its last component."""
    if pattern is None:
        return frame

    hits = [[matches(value, pattern) for value in frame[column]] for column in columns]
    return frame.filter(pl.Series([any(row) for row in zip(*hits, strict=True)], dtype=pl.Boolean))


def print_table(
    frame: pl.DataFrame,
    request: Request,
    *,
    main: Sequence[str],
    as_text: AsText | None = None,
    spare: Sequence[str] = (),
    noun: tuple[str, str] = _ROW,
    below: int = _LINES_BELOW,
) -> None:
    """Sort a table, cut it to its top, and print it.

    Parameters
    ----------
    frame
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
    """
    sort = request.sort
    if sort is not None:
        frame = frame.sort(
            sort,
            descending=frame[sort].dtype.is_numeric(),
            nulls_last=True,
            maintain_order=True,
        )
    hidden = frame.height
    frame = frame.slice(0, _rows_to_print(request, hidden, below))
    make_text = as_text if request.form is Format.TABLE and not request.wide else None
    terminal = is_terminal_table(request.form, request.output)
    if make_text is not None and terminal and request.top is None:
        # A row may become several lines.
        while (more := make_text(frame, None).height - screen_rows(below)) > 0 and frame.height > 1:
            frame = frame.slice(0, frame.height - min((more + 1) // 2, frame.height - 1))
    hidden -= frame.height
    if "source" in frame.columns and frame["source"].n_unique() <= 1:
        frame = frame.drop("source")
    if make_text is not None:
        frame = make_text(frame, terminal_width() if terminal else None)
        main = frame.columns
    columns = frame.columns if request.wide else ["source", *main]
    if request.wide and terminal and request.top is None:
        # As in `write_table`, which then writes the values of each row below each other.
        whole = render_table(frame, columns, sys.maxsize)
        if not fits(whole, terminal_width()):
            height = frame.height
            frame = frame.slice(0, rows_on_screen(frame, columns, screen_rows(below)))
            hidden += height - frame.height
    _write(frame, request, columns, hidden, spare, noun)


def note_without_phases(frame: pl.DataFrame, request: Request) -> None:
    """Say what to do if a table by phase has none.

    Parameters
    ----------
    frame
        The table, before rows are filtered.
    request
        What was asked for: outside of a time window, there may be phases.
    """
    if not request.in_part and frame["phase"].null_count() == frame.height:
        request.note(NO_PHASE)


def print_query_result(frame: pl.DataFrame, request: Request, columns: Sequence[str]) -> None:
    """Print a table in its own order, names and values as they are, cut to its top.

    Parameters
    ----------
    frame
        The table.
    request
        What was asked for: how many rows, the form.
    columns
        The columns of a table in text.
    """
    top = frame.slice(0, _rows_to_print(request, frame.height, _LINES_BELOW))
    _write(top, request, columns, frame.height - top.height, verbatim=True)


def _rows_to_print(request: Request, height: int, below: int) -> int | None:
    """Say how many rows to print; None for all."""
    if request.top is None:
        if not is_terminal_table(request.form, request.output):
            return None
        # The note on one row that is left out takes as much room as the row.
        rows = screen_rows(below)
        return None if height == rows + 1 else rows
    return request.top or None


def _write(
    frame: pl.DataFrame,
    request: Request,
    columns: Sequence[str],
    hidden: int,
    spare: Sequence[str] = (),
    noun: tuple[str, str] = _ROW,
    *,
    verbatim: bool = False,
) -> None:
    shown = [name for name in dict.fromkeys(columns) if name in frame.columns]
    write_table(
        frame,
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
