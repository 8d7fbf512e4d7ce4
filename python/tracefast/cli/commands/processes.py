"""`tracefast processes`: one row per process, or the tree that they form."""

from typing import TYPE_CHECKING, Annotated

import typer

from tracefast.cli.command_line.exit_codes import DONE, FAILED
from tracefast.cli.command_line.request import Request, table_command
from tracefast.cli.commands.charts.options import with_plots
from tracefast.cli.messages.errors import CommandError
from tracefast.cli.output.form import Format
from tracefast.quantities import plural

if TYPE_CHECKING:
    import polars as pl

# What a table in text shows; the program and its arguments last, as they may be long.
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
    "argv",
)
# What narrow terminals do without, the first one first.
_SPARE = (
    *("children", "wait_ns", "io_ns", "threads", "kind", "write_bytes", "read_bytes", "argv"),
    *("ppid", "calls", "exit_signal"),
)


@table_command(other_output="plot", live=True)
@with_plots
def processes(
    request: Request,
    *,
    tree: Annotated[
        bool,
        typer.Option(
            "--tree",
            help="Show which process created which, as a tree; equal children share a line.",
        ),
    ] = False,
    match: Annotated[
        str | None,
        typer.Option(
            metavar="GLOB", help="Only processes whose program matches, such as '*python*'."
        ),
    ] = None,
) -> int:
    """Show which processes ran: program, lifetime, system calls, bytes, how each one ended.

    One row per process, in order of start. The threads of a process are in its row, and a PID that
    was used again is another process. argv: the arguments it was started with. In the tree,
    children of one process that ran the same program, ended in the same way and have equal children
    themselves share a line, with sums and, in parentheses, medians; --wide shows each of them. The
    tree has all its lines, even on a terminal, unless --top limits them.

    \b
    Examples:
      tracefast processes app.strace
      tracefast processes app.strace --tree
      tracefast processes app.parquet --sort lifetime_ns --top 10
      tracefast processes app.parquet --tree --match 'gcc'
      tracefast processes app.parquet --format ndjson | jq .images
    """
    import polars as pl

    from tracefast.analysis.processes import SCHEMA
    from tracefast.analysis.processes import processes as analysis
    from tracefast.cli.inputs.live import run_or_watch
    from tracefast.cli.screen.result_table import check_columns, filter_rows, print_table

    if tree:
        if request.form is not Format.TABLE:
            raise CommandError("--tree prints text only", "leave out --format, or --tree")
        if request.sort is not None:
            raise CommandError("--tree is always in order of time", "leave out --sort")
    check_columns(request, SCHEMA)

    def show(table: pl.DataFrame) -> None:
        # Each log is in order, but not all together.
        table = table.sort("source", "ts_start", nulls_last=True, maintain_order=True)
        others = 0
        if request.form is Format.TABLE and not request.wide and request.where is None:
            table, others = _without_others(table)
        if tree:
            from tracefast.cli.screen.process_tree import print_tree

            rows = filter_rows(table, request, match, "image")
            filtered = match is not None or request.where is not None
            print_tree(table, rows if filtered else None, request)
        else:
            rows = filter_rows(table, request, match, "image")
            print_table(rows, request, main=_MAIN, as_text=_in_text, spare=_SPARE)
        if others and match is None:
            request.note(
                f"note: {plural(others, 'other task')} of the machine, of which the log shows no"
                " calls and no start; --wide lists them"
            )

    table, complete = run_or_watch(request, analysis, show)
    if table is not None:
        show(table)
    return DONE if complete else FAILED


def _without_others(table: "pl.DataFrame") -> tuple["pl.DataFrame", int]:
    """Leave out tasks that are only mentioned, and say how many; where all are, they stay."""
    from tracefast.analysis.processes import only_mentioned

    own = table.filter(~only_mentioned())
    return (table, 0) if own.is_empty() else (own, table.height - own.height)


def _in_text(table: "pl.DataFrame", width: int | None) -> "pl.DataFrame":
    """Choose the columns of a table in text."""
    from tracefast.cli.text.command_lines import with_command_lines

    shown = [name for name in ("source", *_MAIN) if name in table.columns]
    return with_command_lines(table, short=width is not None).select(shown)
