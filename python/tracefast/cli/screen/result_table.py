"""What every table goes through on its way to the user: sort, cut, write."""

from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

import polars as pl

from tracefast.cli.command_line.options import Format
from tracefast.cli.command_line.request import Request
from tracefast.cli.messages.column_suggestions import suggest_column
from tracefast.cli.messages.errors import CommandError
from tracefast.cli.output.write import on_terminal, screenful, terminal_width, write
from tracefast.cli.screen.condition import truth

_ROW = ("row", "rows")
# A total and a note.
_BELOW = 2

Words = Callable[[pl.DataFrame, int | None], pl.DataFrame]


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
        There is no such column, or the condition is none; the hint names what resembles it.
    """
    if request.sort is not None and request.sort not in schema:
        raise CommandError(
            f"--sort {request.sort}: no such column", suggest_column(request.sort, schema)
        )
    if request.where is not None:
        for name in _names(request.where):
            # What stands in double quotes may be text, of which `truth` has a word to say.
            if name not in schema and f'"{name}"' not in request.where:
                what = f"--where {request.where}: no such column: {name}"
                raise CommandError(what, suggest_column(name, schema))
        truth(pl.DataFrame(schema=schema), request.where)


def _names(condition: str) -> list[str]:
    """Give the names of columns in a condition; none of what is no condition."""
    try:
        return pl.sql_expr(condition).meta.root_names()
    except pl.exceptions.PolarsError:
        return []


def chosen(
    frame: pl.DataFrame, request: Request, match: str | None = None, *columns: str
) -> pl.DataFrame:
    """Keep the rows that a pattern and a condition choose.

    Parameters
    ----------
    frame
        The table.
    request
        What was asked for: the condition.
    match
        A pattern that one of the columns is to match; None for any.
    columns
        These columns.
    """
    frame = matching(match, *columns)(frame)
    return frame if request.where is None else frame.filter(truth(frame, request.where))


def matching(pattern: str | None, *columns: str) -> Callable[[pl.DataFrame], pl.DataFrame]:
    """Keep the rows in which one of the columns matches a pattern, whole or from its last slash."""

    def matches(value: str | None) -> bool:
        if value is None or pattern is None:
            return False
        return fnmatchcase(value, pattern) or fnmatchcase(value.rpartition("/")[2], pattern)

    def keep(frame: pl.DataFrame) -> pl.DataFrame:
        if pattern is None:
            return frame
        hits = [[matches(value) for value in frame[column]] for column in columns]
        return frame.filter(
            pl.Series([any(row) for row in zip(*hits, strict=True)], dtype=pl.Boolean)
        )

    return keep


def finish(
    frame: pl.DataFrame,
    request: Request,
    *,
    main: Sequence[str],
    words: Words | None = None,
    spare: Sequence[str] = (),
    noun: tuple[str, str] = _ROW,
    below: int = _BELOW,
) -> None:
    """Sort a table, cut it to its top, and write it.

    Parameters
    ----------
    frame
        The table.
    request
        What was asked for: the order, how many rows, the form.
    main
        The columns that a table in text shows unless all are asked for.
    words
        Makes the table that is shown as text, if all columns are not asked for, of the rows that
        are left; told the columns of the terminal, None elsewhere. All its columns are shown.
    spare
        Columns that a narrow terminal does without, the first one first.
    noun
        What a row is, one and several, to say how many more there are.
    below
        How many lines will be printed below the table, and are to be on the same screen.
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
    frame = frame.slice(0, _rows(request, hidden, below))
    in_words = words if request.form is Format.TABLE and not request.wide else None
    terminal = on_terminal(request.form, request.output)
    if in_words is not None and terminal and request.top is None:
        # A row may become several lines.
        while (more := in_words(frame, None).height - screenful(below)) > 0 and frame.height > 1:
            frame = frame.slice(0, frame.height - min((more + 1) // 2, frame.height - 1))
    hidden -= frame.height
    if frame["source"].n_unique() <= 1:
        frame = frame.drop("source")
    if in_words is not None:
        frame = in_words(frame, terminal_width() if terminal else None)
        main = frame.columns
    columns = frame.columns if request.wide else ["source", *main]
    _write(frame, request, columns, hidden, spare, noun)


def put(frame: pl.DataFrame, request: Request, columns: Sequence[str]) -> None:
    """Write a table in its own order, names and values as they are, cut to its top.

    Parameters
    ----------
    frame
        The table.
    request
        What was asked for: how many rows, the form.
    columns
        The columns that a table in text shows.
    """
    top = frame.slice(0, _rows(request, frame.height, _BELOW))
    _write(top, request, columns, frame.height - top.height, verbatim=True)


def _rows(request: Request, height: int, below: int) -> int | None:
    """Say how many of so many rows are wanted; None for all."""
    if request.top is None:
        if not on_terminal(request.form, request.output):
            return None
        # Where one is left out, it takes no more room than to say so.
        rows = screenful(below)
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
    write(
        frame,
        request.form,
        request.output,
        shown,
        clobber=request.clobber,
        whole=request.wide,
        spare=spare,
        verbatim=verbatim,
    )
    if hidden and on_terminal(request.form, request.output):
        request.note(f"{hidden:,} more {noun[hidden != 1]}; --top 0 prints all")
