"""`tracefast events`: one row per event, or the records of one of them."""

from typing import Annotated

import typer

from tracefast.cli.command_line.request import Request, table_command
from tracefast.cli.messages.errors import DONE, FAILED

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
        str | None, typer.Option(metavar="GLOB", help="Only names like this, such as 'sched_*'.")
    ] = None,
    event: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="The fields of this event of ftrace instead, a row per record."
        ),
    ] = None,
) -> int:
    """Show which events a log has: how many of each, when, by how many tasks, how long.

    One row per kind and name, the most frequent first. Times are those of the calls and functions
    whose duration the log shows: their sum, their median, the longest.

    With --event, one row per record of that event, with its fields in columns of their own.

    \b
    Examples:
      tracefast events trace.txt
      tracefast events app.strace --sort dur_ns --top 10
      tracefast events trace.txt --match 'sched_*'
      tracefast events trace.txt --event sched_switch --format csv
      tracefast events app.parquet --format ndjson | jq .name
    """
    if event is not None:
        from tracefast.cli.commands.event_fields import show

        return show(request, event, match=match)
    from tracefast.analysis.events import SCHEMA
    from tracefast.analysis.events import events as question
    from tracefast.cli.inputs.event_sources import answer
    from tracefast.cli.screen.result_table import check_columns, chosen, finish

    check_columns(request, SCHEMA)
    table, complete = answer(request, question)
    if table is not None:
        # Inputs that were asked one by one are in order each, not together.
        table = table.sort("count", descending=True, maintain_order=True)
        finish(chosen(table, request, match, "name"), request, main=_MAIN, spare=_SPARE)
    return DONE if complete else FAILED
