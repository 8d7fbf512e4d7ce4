"""Write a table in the form that was asked for."""

import sys
from collections.abc import Iterable, Sequence
from io import BytesIO
from pathlib import Path

import polars as pl

from tracefast.cli.output.form import Format
from tracefast.cli.output.terminal import is_terminal_table, terminal_width
from tracefast.cli.system.colours import bold_heading, has_coloured_tables
from tracefast.cli.text.escaped_columns import as_text, spreadsheet_column, without_bytes
from tracefast.cli.text.escaping import plain_json, spreadsheet_cell
from tracefast.cli.text.records import render_records
from tracefast.cli.text.table_text import fits, render_table
from tracefast.inputs.sources import STDIN
from tracefast.outputs import write_whole

_ISO_8601 = "%Y-%m-%dT%H:%M:%S%.9f"


def write_table(
    frame: pl.DataFrame,
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
    frame
        The table.
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
        parts = _text(frame, columns, spare, output, whole=whole, verbatim=verbatim)
        if output == STDIN and has_coloured_tables():
            parts = map(bold_heading, parts)
        data = "".join(parts).encode()
    else:
        data = encode_table(frame, form)
    write_bytes(data, output, clobber=clobber)


def _text(
    frame: pl.DataFrame,
    columns: Sequence[str],
    spare: Sequence[str],
    output: str,
    *,
    whole: bool,
    verbatim: bool,
) -> Iterable[str]:
    """Write a table as text: in one part, or in one for each row where it is too wide."""
    if not is_terminal_table(Format.TABLE, output):
        return [render_table(frame, columns, None, spare, verbatim=verbatim)]
    width = terminal_width()
    if not whole:
        return [render_table(frame, columns, width, spare, verbatim=verbatim)]
    text = render_table(frame, columns, sys.maxsize)
    return [text] if fits(text, width) else render_records(frame, columns, width)


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


def encode_table(frame: pl.DataFrame, form: Format) -> bytes:
    """Write a table in any form but text."""
    buffer = BytesIO()
    if form is Format.PARQUET:
        frame.write_parquet(buffer)
        return buffer.getvalue()
    # With all nine digits: JSON and CSV have no type for times.
    plain = without_bytes(frame).with_columns(pl.col(pl.Datetime).dt.to_string(_ISO_8601))
    if form is Format.CSV:
        plain = as_text(plain)
        texts = plain.select(pl.col(pl.String).map_batches(spreadsheet_column))
        plain.with_columns(texts.get_columns()).rename(spreadsheet_cell).write_csv(buffer)
        return buffer.getvalue()
    if form is Format.NDJSON:
        plain.write_ndjson(buffer)
    else:
        plain.write_json(buffer)
        buffer.write(b"\n")
    return plain_json(buffer.getvalue().decode()).encode()
