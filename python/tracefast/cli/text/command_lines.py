"""The arguments of programs as a shell takes them."""

import shlex
from collections.abc import Iterable, Sequence

from tracefast.cli.text.rows import ListRows, Rows


def with_command_lines(rows: Rows, columns: Sequence[str], *, short: bool) -> Rows:
    """Choose columns of a table, and write its column `argv` as text, which becomes the last one.

    Parameters
    ----------
    rows
        The table.
    columns
        The columns; those that the table lacks are left out.
    short
        As for `command_lines`.
    """
    lines = command_lines(rows.values("argv"), short=short)
    shown = [name for name in columns if name in rows.names and name != "argv"]
    chosen = {name: (rows.kind(name), rows.values(name)) for name in shown}
    return ListRows(chosen | {"argv": ("text", lines)})


def command_lines(
    column: Iterable[Sequence[str | None] | None], *, short: bool
) -> list[str | None]:
    """Write the lists of a column `argv` as text.

    Parameters
    ----------
    column
        The arguments of each row, None where the log does not have them.
    short
        Leave out the folders of programs, which have a column of their own.
    """
    return [None if words is None else command_line(words, short=short) for words in column]


def command_line(words: Sequence[str | None], *, short: bool) -> str:
    """Write a command as a shell takes it; what the log cut stays as strace wrote it.

    Parameters
    ----------
    words
        The arguments, the program's name first.
    short
        Leave out the folders of the program, which has a column of its own.

    Examples
    --------
    >>> command_line(["/bin/sh", "-c", "echo done", "..."], short=True)
    "sh -c 'echo done' ..."
    """
    written = ["?" if word is None else shlex.quote(word) for word in words]
    if short and words and words[0]:
        written[0] = shlex.quote(words[0].rpartition("/")[2])
    return " ".join(written)
