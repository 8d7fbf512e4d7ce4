"""`tracefast forks`: what starting processes costs, and what to change."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Final

import typer

from tracefast.cli.command_line.exit_codes import DONE, FAILED
from tracefast.cli.command_line.request import Request, table_command
from tracefast.cli.commands.charts.options import with_plots
from tracefast.cli.messages.errors import CommandError
from tracefast.cli.output.form import Format

if TYPE_CHECKING:
    from collections.abc import Callable

    from tracefast.cli.text.rows import Rows

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
    "argv",
)
# What narrow terminals do without, the first one first. The PID of the child stays, as `processes`
# shows it, too.
_SPARE = (
    *("exit_status", "exec_failed", "exit_signal", "startup_ns", "tid", "lifetime_ns"),
    *("exec_gap_ns", "exec_ns", "errno", "parent_image", "argv", "kind", "call_ns"),
)

# The report has ranges instead.
_AS_LOGGED: Final = (
    "note: times are as logged, with what strace adds to them; without --wide, the cost is without"
    " its share"
)


@table_command(other_output="plot")
@with_plots
def forks(
    request: Request,
    *,
    match: Annotated[
        str | None,
        typer.Option(metavar="GLOB", help="Only programs that match, as parent or as child."),
    ] = None,
    each: Annotated[
        bool, typer.Option("--each", help="One row per created process instead of a summary.")
    ] = False,
    threads: Annotated[
        bool, typer.Option("--threads", help="Include the creation of threads.")
    ] = False,
) -> int:
    """Show which programs started which, how often and how, what it cost, and what to change.

    Programs are listed most expensive first. The cost is the time in the call that creates the
    process and, after fork, the extra time in execve that freeing the parent's memory takes. The
    kind says how a process is created: fork (its own copy of the memory), vfork, posix_spawn,
    thread, shared. max parallel: how many were alive at the same time.

    With --each, one row per created process, in order of time: its call, its execve, how it ended,
    argv: the arguments of its program.
    Formats other than table have all columns, with exact numbers in nanoseconds and bytes.

    \b
    Examples:
      tracefast forks app.strace
      tracefast forks app.parquet --match ffprobe
      tracefast forks app.parquet --format json | jq '.[0].saving_ns'
      tracefast forks app.parquet --each --sort call_ns --top 10
      tracefast forks app.strace --each --threads -o forks.csv
    """
    if each:
        from tracefast import _core
        from tracefast.cli.inputs.one_input import show_one_input

        def show(rows: "Rows") -> None:
            _print_each(rows, request, match=match, threads=threads)

        code = show_one_input(request, _core.Forks(), show)
        return _report_each(request, show) if code is None else code
    return _report_summary(request, match=match, threads=threads)


def _report_each(request: Request, show: "Callable[[Rows], None]") -> int:
    """Print the rows of single processes that polars makes."""
    from tracefast.analysis.forks.kernel_times import SCHEMA as JOINED
    from tracefast.analysis.forks.table import SCHEMA, forks
    from tracefast.cli.inputs.event_sources import run_analysis
    from tracefast.cli.screen.result_table import check_columns
    from tracefast.cli.text.frame_rows import FrameRows

    check_columns(request, SCHEMA | JOINED)
    rows, complete = run_analysis(request, forks)
    if rows is not None:
        # Only joined events have all columns.
        check_columns(request, rows.schema)
        show(FrameRows(rows))
    return DONE if complete else FAILED


def _print_each(rows: "Rows", request: Request, *, match: str | None, threads: bool) -> None:
    """Print the rows of single processes."""
    from tracefast.cli.screen.matching import filtered_rows
    from tracefast.cli.screen.print_rows import print_rows
    from tracefast.cli.text.rows import where

    if not threads:
        rows = rows.take(where(kind != "thread" for kind in rows.values("kind")))
    rows = filtered_rows(rows, request, match, "parent_image", "image")
    print_rows(rows, request, main=_MAIN, as_text=_in_text, spare=_SPARE)


def _report_summary(request: Request, *, match: str | None, threads: bool) -> int:
    """Print which programs started which, and what to change."""
    import polars as pl

    from tracefast.analysis.forks.evidence import fork_rows
    from tracefast.analysis.forks.summary import SCHEMA as SUMMARY
    from tracefast.analysis.forks.summary import report
    from tracefast.analysis.forks.table import SCHEMA
    from tracefast.cli.inputs.event_sources import run_analysis
    from tracefast.cli.screen.forks_report import print_forks_report
    from tracefast.cli.screen.result_table import (
        check_columns,
        filter_matching,
        filter_rows,
        print_table,
    )

    if request.sort in SCHEMA and request.sort not in SUMMARY:
        raise CommandError(
            f"--sort {request.sort}: only single processes have this column", "add --each"
        )
    check_columns(request, SUMMARY)
    rows, complete = run_analysis(request, fork_rows)
    if rows is not None:
        if not threads:
            rows = rows.filter(pl.col("kind").ne_missing("thread"))
        started = rows.height
        rows = filter_matching(rows, request, match, "parent_image", "image")
        found = report(rows, threads=True)
        if request.wide or request.form is not Format.TABLE:
            table = filter_rows(found.summary, request)
            print_table(table, replace(request, wide=True), main=())
            if request.form is Format.TABLE and any(case.traced for case in found.cases):
                request.note(_AS_LOGGED)
        else:
            print_forks_report(found, request, chosen=rows.height < started)
    return DONE if complete else FAILED


def _in_text(rows: "Rows", width: int | None) -> "Rows":
    """Choose the columns of a table in text, and write arguments as a shell takes them."""
    from tracefast.cli.text.command_lines import with_command_lines

    return with_command_lines(rows, ("source", *_MAIN), short=width is not None)
