"""`tracefast events`: one row per event, or the records of one of them."""

from typing import Annotated

import typer

from tracefast.cli.command_line.exit_codes import DONE, FAILED
from tracefast.cli.command_line.request import Request, table_command

# What a table in text shows; the names last, as they may be long.
_MAIN = (
    "count",
    "share",
    "ts_first",
    "ts_last",
    "tasks",
    "cpus",
    "dur_ns",
    "dur_p50_ns",
    "dur_max_ns",
    "kind",
    "name",
)
# What narrow terminals do without, the first one first.
_SPARE = ("cpus", "tasks", "dur_max_ns", "ts_last", "dur_p50_ns", "share", "ts_first", "kind")


@table_command()
def events(
    request: Request,
    *,
    match: Annotated[
        str | None, typer.Option(metavar="GLOB", help="Only names that match, such as 'sched_*'.")
    ] = None,
    event: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Show the fields of this ftrace event instead, one row per record."
        ),
    ] = None,
) -> int:
    """Show which events a log has: how many of each, when, by how many tasks, how long.

    One row per kind and name, the most frequent first. Durations are those of calls and functions
    for which the log shows one: total, median, maximum.

    With --event, one row per record of that event, one column per field.

    \b
    Examples:
      tracefast events trace.txt
      tracefast events app.strace --sort dur_ns --top 10
      tracefast events trace.txt --match 'sched_*'
      tracefast events trace.txt --event sched_switch --format csv
      tracefast events app.parquet --format ndjson | jq .name
    """
    if event is not None:
        from tracefast.cli.commands.event_fields import report_fields

        return report_fields(request, event, match=match)
    from tracefast.analysis.events import SCHEMA
    from tracefast.analysis.events import events as analysis
    from tracefast.cli.inputs.event_sources import run_analysis
    from tracefast.cli.screen.result_table import check_columns, filter_rows, print_table

    check_columns(request, SCHEMA)
    table, complete = run_analysis(request, analysis)
    if table is not None:
        # Each log is in order, but not all together.
        table = table.sort(
            *("count", "kind", "name", "source"), descending=[True, False, False, False]
        )
        print_table(filter_rows(table, request, match, "name"), request, main=_MAIN, spare=_SPARE)
    return DONE if complete else FAILED
