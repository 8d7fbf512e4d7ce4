"""`tracefast processes`: one row per process, or the tree that they form."""

from typing import Annotated

import typer

from tracefast.cli.command_line.options import Format
from tracefast.cli.command_line.request import Request, table_command
from tracefast.cli.messages.errors import DONE, FAILED, CommandError

# What a table in text shows; the program last, as its path may be long.
_MAIN = (
    "pid",
    "ppid",
    "kind",
    "lifetime_ns",
    "threads",
    "children",
    "calls",
    "io_ns",
    "wait_ns",
    "read_bytes",
    "write_bytes",
    "exit_status",
    "exit_signal",
    "image",
)
# What narrow terminals do without, the first one first.
_SPARE = (
    *("children", "wait_ns", "io_ns", "threads", "kind", "write_bytes", "read_bytes", "ppid"),
    *("calls", "exit_signal"),
)


@table_command()
def processes(
    request: Request,
    *,
    tree: Annotated[
        bool,
        typer.Option("--tree", help="Who made whom, as a tree; equal children are one line."),
    ] = False,
    match: Annotated[
        str | None,
        typer.Option(
            metavar="GLOB", help="Only processes whose program is like this, such as '*python*'."
        ),
    ] = None,
) -> int:
    """Show who ran: programs, how long, system calls, bytes, how each process ended.

    One row per process, in order of their start. The threads of a process are one row, and a number
    that was used again is another process. In the tree, children of one process that ran the same
    program, ended in the same way and have such children themselves are one line, with sums and,
    in brackets, medians; --wide shows each of them. The tree has all its lines, also on a terminal,
    unless --top says how many.

    \b
    Examples:
      tracefast processes app.strace
      tracefast processes app.strace --tree
      tracefast processes app.parquet --sort lifetime_ns --top 10
      tracefast processes app.parquet --tree --match 'gcc'
      tracefast processes app.parquet --format ndjson | jq .images
    """
    from tracefast.analysis.processes import columns
    from tracefast.analysis.processes import processes as question
    from tracefast.cli.inputs.event_sources import answer
    from tracefast.cli.screen.result_table import check_columns, chosen, finish

    if tree:
        if request.form is not Format.TABLE:
            raise CommandError("--tree is text", "leave out --format, or --tree")
        if request.sort is not None:
            raise CommandError("--tree is in order of time", "leave out --sort")
    check_columns(request, columns())
    table, complete = answer(request, question)
    if table is not None:
        # Inputs that were asked one by one are in order each, not together.
        table = table.sort("source", "ts_start", nulls_last=True, maintain_order=True)
        if tree:
            from tracefast.cli.screen.process_tree import show

            rows = chosen(table, request, match, "image")
            some = match is not None or request.where is not None
            show(table, rows if some else None, request)
        else:
            finish(chosen(table, request, match, "image"), request, main=_MAIN, spare=_SPARE)
    return DONE if complete else FAILED
