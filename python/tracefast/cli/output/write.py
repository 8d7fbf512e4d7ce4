"""A table on its way out: in the form asked for, whole or not at all."""

import shutil
import sys
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

import polars as pl

from tracefast.cli.command_line.options import Format
from tracefast.cli.messages.errors import CommandError
from tracefast.cli.text.escaped_columns import as_text, spreadsheet_column, without_bytes
from tracefast.cli.text.escaping import plain_json, spreadsheet_cell
from tracefast.cli.text.table_text import render
from tracefast.inputs.sources import STDIN
from tracefast.outputs import exists, write_whole

_SUFFIXES = {
    ".json": Format.JSON,
    ".ndjson": Format.NDJSON,
    ".jsonl": Format.NDJSON,
    ".csv": Format.CSV,
    ".parquet": Format.PARQUET,
}
# Where a table in text is what a name promises.
_TEXTS = ("", ".txt", ".text", ".log", ".out", ".md")
# The heading, a word on rows that are left out, the prompt.
_OTHER_LINES = 3
_LEAST_ROWS = 10
_ISO_8601 = "%Y-%m-%dT%H:%M:%S%.9f"


def choose(form: Format | None, output: str, *, no_clobber: bool) -> Format:
    """Choose the form of a result before any work is done.

    Raises
    ------
    CommandError
        The suffix of the output promises something else than there is; the result would be binary
        on a terminal; or the output exists and is to be kept.
    """
    if not output:
        raise CommandError("the name of the output is empty", "give it a name")
    if form is None:
        suffix = Path(output).suffix.lower()
        if suffix[1:2].isalpha() and suffix not in {*_SUFFIXES, *_TEXTS}:
            raise CommandError(
                f"{output}: this suffix does not say what to write",
                f"name it {', '.join(_SUFFIXES)} or .txt, or give --format",
            )
        form = _SUFFIXES.get(suffix, Format.TABLE)
    if form is Format.PARQUET and output == STDIN and sys.stdout.isatty():
        raise CommandError(
            "standard output is a terminal, and Parquet is binary",
            "write to a file with -o FILE, or into a pipe",
        )
    if no_clobber and output != STDIN and Path(output).exists():
        raise exists(output)
    return form


def on_terminal(form: Format, output: str) -> bool:
    """Say whether the result is a table on a terminal, where less is more."""
    return form is Format.TABLE and output == STDIN and sys.stdout.isatty()


def terminal_width() -> int:
    """Give the columns of the terminal."""
    return shutil.get_terminal_size().columns


def screenful(below: int) -> int:
    """Give the rows for which a terminal has room, at least a few.

    Parameters
    ----------
    below
        Lines below them, besides what is said of rows that are left out, and the prompt.
    """
    return max(shutil.get_terminal_size().lines - _OTHER_LINES - below, _LEAST_ROWS)


def write(
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
        Leave out no column and cut no text, though the lines be longer than those of the terminal.
    spare
        Columns that a narrow terminal does without, the first one first.
    verbatim
        Leave names and values as they are in a table as well.
    """
    if form is Format.TABLE:
        width = None
        if on_terminal(form, output):
            width = sys.maxsize if whole else terminal_width()
        data = render(frame, columns, width, spare, verbatim=verbatim).encode()
    else:
        data = _encode(frame, form)
    deliver(data, output, clobber=clobber)


def deliver(data: bytes, output: str, *, clobber: bool = True) -> None:
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
        It cannot be written; or it exists, even if it came while the result was made.
    """
    if output == STDIN:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    else:
        write_whole(Path(output), data, clobber=clobber)


def _encode(frame: pl.DataFrame, form: Format) -> bytes:
    buffer = BytesIO()
    if form is Format.PARQUET:
        frame.write_parquet(buffer)
        return buffer.getvalue()
    # All nine digits, as JSON and CSV have no type for times.
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
