"""`tracefast events --event NAME`: the fields of one event, one row per record."""

from typing import Final

import polars as pl

from tracefast.cli.command_line.exit_codes import DONE, FAILED
from tracefast.cli.command_line.request import Request
from tracefast.cli.messages.errors import CommandError
from tracefast.error_hints import suggest

# Columns of the record that a table in text shows before the fields.
_MAIN: Final = ("ts", "cpu", "tid", "comm")
# Kinds of rows that have fields.
_KINDS: Final = ("event", "marker", "function")


def report_fields(request: Request, event: str, *, match: str | None) -> int:
    """Print the fields of one event, and give the exit code.

    Parameters
    ----------
    request
        The options that all tables share.
    event
        Name of the event.
    match
        A pattern for names of events: refused here.

    Raises
    ------
    CommandError
        The event is a system call, there is no such column to sort by, or options contradict each
        other.
    """
    from tracefast.analysis.fields import RECORD, REST, fields
    from tracefast.cli.inputs.event_sources import run_analysis
    from tracefast.cli.screen.result_table import check_columns, filter_rows, print_table

    if match is not None:
        raise CommandError("--match and --event: both choose events", "leave out one of them")
    present: set[str] = set()

    def analysis(events: pl.LazyFrame) -> pl.LazyFrame:
        table = fields(events, event).collect()
        if table.is_empty():
            names = (
                events.filter(pl.col("kind").cast(pl.String).is_in(_KINDS)).select("name").unique()
            )
            present.update(names.collect()["name"].cast(pl.String).drop_nulls())
        return table.lazy()

    try:
        table, complete = run_analysis(request, analysis)
    except ValueError as error:
        call = event.removeprefix("sys_enter_").removeprefix("sys_exit_")
        raise CommandError(
            f"--event {event}: a system call; its fields are columns of the events",
            f"tracefast sql \"SELECT * FROM events WHERE name = '{call}'\" LOG",  # noqa: S608
        ) from error
    if table is None:
        return FAILED
    if table.is_empty():
        hint = suggest(event, sorted(present)) if present else "the log has no events of ftrace"
        request.warn(f"no event {event}: {hint}")
    check_columns(request, table.schema)
    own = [name for name in table.columns if name not in RECORD]
    # The column of the rest is shown only where it holds something.
    if table[REST].null_count() == table.height:
        own.remove(REST)
    print_table(filter_rows(table, request), request, main=(*_MAIN, *own))
    return DONE if complete else FAILED
