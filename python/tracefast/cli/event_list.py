"""`tracefast events`: one row per event, or the records of one of them."""

from typing import Annotated

import typer

from tracefast.cli import options
from tracefast.cli.errors import DONE, FAILED, guard

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


@guard
def events(
    inputs: options.Inputs,
    format_: options.FormatOption = None,
    output: options.OutputOption = "-",
    sort: options.SortOption = None,
    top: options.TopOption = None,
    match: Annotated[
        str | None, typer.Option(metavar="GLOB", help="Only names like this, such as 'sched_*'.")
    ] = None,
    event: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="The fields of this event of ftrace instead, a row per record."
        ),
    ] = None,
    wide: options.WideOption = False,
    format_in: options.FormatInOption = None,
    no_clobber: options.ClobberOption = False,
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
        from tracefast.cli.event_fields import show

        return show(
            inputs,
            event,
            form=format_,
            output=output,
            sort=sort,
            top=top,
            match=match,
            wide=wide,
            format_in=format_in,
            no_clobber=no_clobber,
        )
    from tracefast.analysis.events import SCHEMA
    from tracefast.analysis.events import events as question
    from tracefast.cli.events import answer
    from tracefast.cli.finish import check_sort, finish, matching
    from tracefast.cli.output import choose

    form = choose(format_, output, no_clobber=no_clobber)
    check_sort(sort, list(SCHEMA))
    table, complete = answer(inputs, question, format_in)
    if table is not None:
        # Inputs that were asked one by one are in order each, not together.
        table = table.sort("count", descending=True, maintain_order=True)
        table = matching(match, "name")(table)
        finish(table, main=_MAIN, form=form, output=output, sort=sort, top=top, wide=wide)
    return DONE if complete else FAILED
