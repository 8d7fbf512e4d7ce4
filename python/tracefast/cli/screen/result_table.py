"""Print a table of polars: filtered, sorted, cut to its top."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import polars as pl

from tracefast.analysis.conditions import evaluate_condition
from tracefast.cli.command_line.request import Request
from tracefast.cli.messages.column_suggestions import suggest_column
from tracefast.cli.messages.errors import CommandError
from tracefast.cli.screen.matching import filtered_rows, matching_rows
from tracefast.cli.screen.print_rows import (
    LINES_BELOW,
    ROW,
    RowsAsText,
    print_rows,
    rows_to_print,
    write_rows,
)
from tracefast.cli.text.frame_rows import FrameRows, frame_of
from tracefast.cli.text.rows import Rows

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
    return frame_of(filtered_rows(FrameRows(frame), request, match, *columns))


def rows_where(rows: Rows, condition: str) -> Rows:
    """Keep the rows of a frame for which an SQL condition is true."""
    frame = frame_of(rows)
    return FrameRows(frame.filter(evaluate_condition(frame, condition)))


def filter_matching(
    frame: pl.DataFrame, request: Request, match: str | None, *columns: str
) -> pl.DataFrame:
    """Keep the rows in which one of the columns matches a pattern; note it if none does.

    Parameters
    ----------
    frame, request, match, columns
        As for `filter_rows`; the condition of the request is not applied.
    """
    return frame_of(matching_rows(FrameRows(frame), request, match, *columns))


def print_table(
    frame: pl.DataFrame,
    request: Request,
    *,
    main: Sequence[str],
    as_text: AsText | None = None,
    spare: Sequence[str] = (),
    noun: tuple[str, str] = ROW,
    below: int = LINES_BELOW,
    several: bool = False,
) -> None:
    """Sort a table, cut it to its top, and print it.

    Parameters
    ----------
    frame
        The table.
    as_text
        Makes another table for text out of the rows that are printed.
    request, main, spare, noun, below, several
        As for :func:`tracefast.cli.screen.print_rows.print_rows`.
    """
    print_rows(
        frame,
        request,
        main=main,
        as_text=None if as_text is None else _of_frames(as_text),
        spare=spare,
        noun=noun,
        below=below,
        several=several,
    )


def _of_frames(as_text: AsText) -> RowsAsText:
    return lambda rows, width: as_text(frame_of(rows), width)


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
    top = frame.slice(0, rows_to_print(request, frame.height))
    write_rows(FrameRows(top), request, columns, frame.height - top.height, verbatim=True)
