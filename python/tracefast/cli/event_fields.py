"""`tracefast events --event NAME`: the fields of one event, one row per record."""

from functools import partial

from tracefast.cli.errors import DONE, FAILED, CommandError, warn
from tracefast.cli.options import Format
from tracefast.reading import FormatIn

# Columns of the record that a table in text shows before the fields.
_MAIN = ("ts", "cpu", "tid", "comm")


def show(
    inputs: list[str],
    event: str,
    *,
    form: Format,
    output: str,
    sort: str | None,
    top: int | None,
    wide: bool,
    format_in: FormatIn | None,
) -> int:
    """Print the fields of one event.

    Parameters
    ----------
    inputs
        Logs or Parquet files, patterns, ``-``.
    event
        Name of the event.
    form
        The form of the result.
    output
        Path of a file, or ``-``.
    sort
        The column to sort by; None for the order of the records.
    top
        How many rows to print: 0 for all, None for as many as a terminal bears.
    wide
        Show all columns.
    format_in
        Format of the logs; None to find it from the text.

    Returns
    -------
    int
        The exit code.

    Raises
    ------
    CommandError
        The event is a system call, or has no column to sort by.
    """
    from tracefast.analysis.fields import RECORD, REST, fields
    from tracefast.cli.events import answer
    from tracefast.cli.finish import check_sort, finish

    try:
        table, complete = answer(inputs, partial(fields, event=event), format_in)
    except ValueError as error:
        what, _, hint = str(error).partition(": ")
        raise CommandError(f"--event {what}: no fields to show", hint) from error
    if table is None:
        return FAILED
    if table.is_empty():
        warn(f"no event {event}; without --event, the command lists those that there are")
    check_sort(sort, table.columns)
    own = [name for name in table.columns if name not in RECORD]
    # What is left over is worth a column only where something is.
    if table[REST].null_count() == table.height:
        own.remove(REST)
    finish(table, main=(*_MAIN, *own), form=form, output=output, sort=sort, top=top, wide=wide)
    return DONE if complete else FAILED
