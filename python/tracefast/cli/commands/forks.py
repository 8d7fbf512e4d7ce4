"""`tracefast forks`: what starting processes costs, and what to change."""

from dataclasses import replace
from typing import Annotated

import typer

from tracefast.cli.command_line.options import Format
from tracefast.cli.command_line.request import Request, table_command
from tracefast.cli.messages.errors import DONE, FAILED, CommandError

# What a table of rows in text shows; the paths last, as they may be long.
_MAIN = (
    "ts",
    "tid",
    "kind",
    "child_pid",
    "errno",
    "call_ns",
    "exec_gap_ns",
    "exec_failed",
    "exec_ns",
    "startup_ns",
    "lifetime_ns",
    "exit_status",
    "exit_signal",
    "parent_image",
    "image",
)
# What narrow terminals do without, the first one first; not the number by which `processes` knows
# the child.
_SPARE = (
    *("exit_status", "exec_failed", "exit_signal", "startup_ns", "tid", "lifetime_ns"),
    *("exec_gap_ns", "exec_ns", "errno", "parent_image", "kind", "call_ns"),
)


@table_command()
def forks(
    request: Request,
    *,
    match: Annotated[
        str | None,
        typer.Option(metavar="GLOB", help="Only programs like this, as parent or as child."),
    ] = None,
    each: Annotated[
        bool, typer.Option("--each", help="One row per created process, not a summary.")
    ] = False,
    threads: Annotated[
        bool, typer.Option("--threads", help="The creation of threads, too.")
    ] = False,
) -> int:
    """Show who started what, how often and how, where the time went, and what to change.

    The cost is the time in the call that makes a process and, after fork, that in execve beyond
    what it takes without the parent's memory. The kind says how a process is made: fork (memory of
    its own), vfork, posix_spawn, thread, shared.

    With --each, one row per created process, in order of time: its call, the way to its execve,
    what became of it. The other forms of output have the numbers as they are, in nanoseconds and
    bytes, and all columns.

    \b
    Examples:
      tracefast forks app.strace
      tracefast forks app.parquet --match ffprobe
      tracefast forks app.parquet --format json | jq '.[0].saving_ns'
      tracefast forks app.parquet --each --sort call_ns --top 10
      tracefast forks app.strace --each --threads -o forks.csv
    """
    import polars as pl

    from tracefast.analysis.forks.evidence import fork_rows
    from tracefast.analysis.forks.summary import SCHEMA as SUMMARY
    from tracefast.analysis.forks.summary import report
    from tracefast.analysis.forks.table import SCHEMA
    from tracefast.analysis.forks.table import forks as question
    from tracefast.cli.inputs.event_sources import answer
    from tracefast.cli.screen.forks.report import show
    from tracefast.cli.screen.result_table import check_columns, chosen, finish, matching

    if not each and request.sort in SCHEMA and request.sort not in SUMMARY:
        raise CommandError(f"--sort {request.sort}: a column of single processes", "add --each")
    check_columns(request, SCHEMA if each else SUMMARY)
    rows, complete = answer(request, question if each else fork_rows)
    if rows is not None:
        if not threads:
            rows = rows.filter(pl.col("kind").ne_missing("thread"))
        rows = matching(match, "parent_image", "image")(rows)
        if each:
            finish(chosen(rows, request), request, main=_MAIN, spare=_SPARE)
        elif request.wide or request.form is not Format.TABLE:
            table = chosen(report(rows, threads=True).summary, request)
            finish(table, replace(request, wide=True), main=())
        else:
            show(report(rows, threads=True), request)
    return DONE if complete else FAILED
