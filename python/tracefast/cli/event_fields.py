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
    form: Format | None,
    output: str,
    sort: str | None,
    top: int | None,
    match: str | None,
    wide: bool,
    format_in: FormatIn | None,
    no_clobber: bool,
) -> int:
    """Print the fields of one event.

    Parameters
    ----------
    inputs
        Logs or Parquet files, patterns, ``-``.
    event
        Name of the event.
    form
        The form of the result; None for that of the output's name.
    output
        Path of a file, or ``-``.
    sort
        The column to sort by; None for the order of the records.
    top
        How many rows to print: 0 for all, None for as many as a terminal bears.
    match
        A pattern for names of events: of no use here.
    wide
        Show all columns.
    format_in
        Format of the logs; None to find it from the text.
    no_clobber
        Refuse to replace an output that exists.

    Returns
    -------
    int
        The exit code.

    Raises
    ------
    CommandError
        The event is a system call, has no column to sort by, or options contradict each other.
    """
    from tracefast.analysis.fields import RECORD, REST, fields
    from tracefast.cli.events import answer
    from tracefast.cli.finish import check_sort, finish
    from tracefast.cli.output import choose

    if match is not None:
        raise CommandError("--match and --event: one of them names the event", "leave out one")
    chosen = choose(form, output, no_clobber=no_clobber)
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
    finish(table, main=(*_MAIN, *own), form=chosen, output=output, sort=sort, top=top, wide=wide)
    return DONE if complete else FAILED
