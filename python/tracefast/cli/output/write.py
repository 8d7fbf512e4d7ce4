"""Write a table in the form that was asked for."""

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from tracefast.cli.output.form import Format
from tracefast.cli.output.terminal import is_terminal_table, terminal_width
from tracefast.cli.system.colours import bold_heading, has_coloured_tables
from tracefast.cli.text.records import render_records
from tracefast.cli.text.rows import Table
from tracefast.cli.text.table_text import fits, render_table
from tracefast.inputs.sources import STDIN
from tracefast.outputs import write_whole


def write_table(
    table: Table,
    form: Format,
    output: str,
    columns: Sequence[str],
    *,
    clobber: bool = True,
    whole: bool = False,
    spare: Sequence[str] = (),
    verbatim: bool = False,
) -> None:
    """Write a table.

    Parameters
    ----------
    table
        The table; in forms other than ``table``, a frame of polars.
    form
        Its form.
    output
        Path of a file, or ``-``.
    columns
        What ``table`` shows; the other forms have all columns.
    clobber
        Replace an output that exists.
    whole
        Leave out no column and cut no text. Where lines would be longer than the terminal is wide,
        write the values of each row below each other.
    spare
        Columns to leave out on a narrow terminal, the first one first.
    verbatim
        Leave names and values as they are in a table, too.
    """
    if form is Format.TABLE:
        parts = _text(table, columns, spare, output, whole=whole, verbatim=verbatim)
        if output == STDIN and has_coloured_tables():
            parts = map(bold_heading, parts)
        data = "".join(parts).encode()
    else:
        from tracefast.cli.output.encode import encode_table

        data = encode_table(table, form)
    write_bytes(data, output, clobber=clobber)


def _text(
    table: Table,
    columns: Sequence[str],
    spare: Sequence[str],
    output: str,
    *,
    whole: bool,
    verbatim: bool,
) -> Iterable[str]:
    """Write a table as text: in one part, or in one for each row where it is too wide."""
    if not is_terminal_table(Format.TABLE, output):
        return [render_table(table, columns, None, spare, verbatim=verbatim)]
    width = terminal_width()
    if not whole:
        return [render_table(table, columns, width, spare, verbatim=verbatim)]
    text = render_table(table, columns, sys.maxsize)
    return [text] if fits(text, width) else render_records(table, columns, width)


def write_bytes(data: bytes, output: str, *, clobber: bool = True) -> None:
    """Write a result to a file, whole or not at all, or to standard output.

    Parameters
    ----------
    data
        The result.
    output
        Path of a file, or ``-``.
    clobber
        Replace an output that exists.

    Raises
    ------
    OSError
        It cannot be written; or it exists, even if it was created in the meantime.
    """
    if output == STDIN:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    else:
        write_whole(Path(output), data, clobber=clobber)
