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
    from collections.abc import Callable

    from tracefast.cli.text.rows import Rows

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
    if tree:
        if request.form is not Format.TABLE:
            raise CommandError("--tree prints text only", "leave out --format, or --tree")
        if request.sort is not None:
            raise CommandError("--tree is always in order of time", "leave out --sort")
    from tracefast import _core
    from tracefast.cli.inputs.one_input import show_one_input

    def show(rows: "Rows") -> None:
        _print(rows, request, tree=tree, match=match)

    code = None if tree else show_one_input(request, _core.Processes(), show)
    return _report_frame(request, show) if code is None else code


def _report_frame(request: Request, show: "Callable[[Rows], None]") -> int:
    """Print the table that polars makes."""
    from tracefast.analysis.processes import SCHEMA
    from tracefast.analysis.processes import processes as analysis
    from tracefast.cli.inputs.live import run_or_watch
    from tracefast.cli.screen.result_table import check_columns
    from tracefast.cli.text.frame_rows import FrameRows

    check_columns(request, SCHEMA)
    table, complete = run_or_watch(request, analysis, lambda table: show(FrameRows(table)))
    if table is not None:
        show(FrameRows(table))
    return DONE if complete else FAILED


def _print(rows: "Rows", request: Request, *, tree: bool, match: str | None) -> None:
    """Print the table, or the tree."""
    from tracefast.cli.screen.matching import filtered_rows, without_mentioned

    # Each log is in order, but not all together.
    starts = rows.records("source", "ts_start")
    rows = rows.ordered(
        [(source is None, source, start is None, start) for source, start in starts]
    )
    others = 0
    if request.form is Format.TABLE and not request.wide and request.where is None:
        rows, others = without_mentioned(rows)
    kept = filtered_rows(rows, request, match, "image")
    if tree:
        from tracefast.cli.screen.process_tree import print_tree
        from tracefast.cli.text.frame_rows import frame_of

        filtered = match is not None or request.where is not None
        print_tree(frame_of(rows), frame_of(kept) if filtered else None, request)
    else:
        from tracefast.cli.screen.print_rows import print_rows

        print_rows(kept, request, main=_MAIN, as_text=_in_text, spare=_SPARE)
    if others and match is None:
        request.note(
            f"note: {plural(others, 'other task')} of the machine, of which the log shows no"
            " calls and no start; --wide lists them"
        )


def _in_text(rows: "Rows", width: int | None) -> "Rows":
    """Choose the columns of a table in text, and write arguments as a shell takes them."""
    from tracefast.cli.text.command_lines import with_command_lines

    return with_command_lines(rows, ("source", *_MAIN), short=width is not None)
