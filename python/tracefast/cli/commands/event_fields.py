"""`tracefast events --event NAME`: the fields of one event, one row per record."""

from typing import Final

import polars as pl

from tracefast.cli.command_line.request import Request
from tracefast.cli.messages.errors import DONE, FAILED, CommandError, resembling

# Columns of the record that a table in text shows before the fields.
_MAIN: Final = ("ts", "cpu", "tid", "comm")
# Kinds of rows that have fields.
_KINDS: Final = ("event", "marker", "function")


def show(
    request: Request,
    event: str,
    *,
    match: str | None,
) -> int:
    """Print the fields of one event.

    Parameters
    ----------
    request
        What all tables are asked for.
    event
        Name of the event.
    match
        A pattern for names of events: of no use here.

    Returns
    -------
    int
        The exit code.

    Raises
    ------
    CommandError
        The event is a system call, there is no column to sort by, or options contradict each other.
    """
    from tracefast.analysis.fields import RECORD, REST, fields
    from tracefast.cli.inputs.event_sources import answer
    from tracefast.cli.screen.result_table import check_columns, chosen, finish

    if match is not None:
        raise CommandError("--match and --event: one of them names the event", "leave out one")
    there: set[str] = set()

    def question(events: pl.LazyFrame) -> pl.LazyFrame:
        table = fields(events, event).collect()
        if table.is_empty():
            names = (
                events.filter(pl.col("kind").cast(pl.String).is_in(_KINDS)).select("name").unique()
            )
            there.update(names.collect()["name"].cast(pl.String).drop_nulls())
        return table.lazy()

    try:
        table, complete = answer(request, question)
    except ValueError as error:
        call = event.removeprefix("sys_enter_").removeprefix("sys_exit_")
        raise CommandError(
            f"--event {event}: a system call, whose fields are columns of the events already",
            f"tracefast sql \"SELECT * FROM events WHERE name = '{call}'\" LOG",  # noqa: S608
        ) from error
    if table is None:
        return FAILED
    if table.is_empty():
        hint = resembling(event, sorted(there)) if there else "the log has none at all"
        request.warn(f"no event {event}; {hint}")
    check_columns(request, table.schema)
    own = [name for name in table.columns if name not in RECORD]
    # What is left over is worth a column only where something is.
    if table[REST].null_count() == table.height:
        own.remove(REST)
    finish(chosen(table, request), request, main=(*_MAIN, *own))
    return DONE if complete else FAILED
