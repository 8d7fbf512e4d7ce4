"""What every table goes through on its way to the user: sort, cut, write."""

import sys
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase

import polars as pl

from tracefast.cli.errors import CommandError
from tracefast.cli.options import Format
from tracefast.cli.output import on_terminal, terminal_width, write

_TERMINAL_ROWS = 50

Words = Callable[[pl.DataFrame, int | None], pl.DataFrame]


def check_sort(column: str | None, columns: Sequence[str]) -> None:
    """Refuse a column that the table does not have.

    Raises
    ------
    CommandError
        There is no such column.
    """
    if column is not None and column not in columns:
        raise CommandError(f"--sort {column}: no such column", f"one of: {', '.join(columns)}")


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
    *,
    main: Sequence[str],
    form: Format,
    output: str,
    sort: str | None,
    top: int | None,
    wide: bool,
    words: Words | None = None,
    spare: Sequence[str] = (),
) -> None:
    """Sort a table, cut it to its top, and write it.

    Parameters
    ----------
    frame
        The table.
    main
        The columns that a table in text shows unless `wide` asks for all.
    form
        The form of the result.
    output
        Path of a file, or ``-``.
    sort
        The column to sort by; None to keep the order.
    top
        How many rows to keep: 0 for all, None for as many as a terminal bears.
    wide
        Show all columns.
    words
        Makes the table that is shown as text, if all columns are not asked for, of the rows that
        are left; told the columns of the terminal, None elsewhere. All its columns are shown.
    spare
        Columns that a narrow terminal does without, the first one first.
    """
    if sort is not None:
        frame = frame.sort(
            sort,
            descending=frame[sort].dtype.is_numeric(),
            nulls_last=True,
            maintain_order=True,
        )
    if top is None:
        top = _TERMINAL_ROWS if on_terminal(form, output) else 0
    hidden = max(frame.height - top, 0) if top else 0
    if top:
        frame = frame.head(top)
    several = frame["source"].n_unique() > 1
    if not several:
        frame = frame.drop("source")
    if words is not None and form is Format.TABLE and not wide:
        frame = words(frame, terminal_width() if on_terminal(form, output) else None)
        main = frame.columns
    columns = (
        frame.columns if wide else [name for name in ("source", *main) if name in frame.columns]
    )
    write(frame, form, output, list(dict.fromkeys(columns)), whole=wide, spare=spare)
    if hidden and on_terminal(form, output):
        print(f"{hidden:,} more rows; --top 0 prints all", file=sys.stderr)
