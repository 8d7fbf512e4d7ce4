"""`tracefast syscalls`: one row per name of a system call."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from tracefast.cli.command_line.exit_codes import DONE, FAILED
from tracefast.cli.command_line.request import Request, table_command
from tracefast.cli.commands.charts.options import with_plots
from tracefast.cli.commands.charts.over_time import EveryOption
from tracefast.cli.messages.errors import CommandError

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Literal

    from tracefast.cli.text.rows import Rows


class By(StrEnum):
    """What rows may be split by."""

    PROCESS = "process"
    PHASE = "phase"


@table_command(other_output="plot", live=True)
@with_plots
def syscalls(
    request: Request,
    *,
    by: Annotated[
        By | None, typer.Option(help="One row per process or phase and name, not per name.")
    ] = None,
    every: EveryOption = None,
    strace_c: Annotated[
        bool,
        typer.Option("--strace-c", help="Print the summary that strace -c -w would have printed."),
    ] = False,
    match: Annotated[
        str | None, typer.Option(metavar="GLOB", help="Only names that match, such as 'epoll_*'.")
    ] = None,
) -> int:
    """Show which system calls took the time: counts, durations, waiting or working, errors.

    One row per name, the longest total time first; calls without an end count with what they took
    at least (open). A call waits if something else has to happen before it continues: futex, poll,
    wait, sleep, and reads from pipes, sockets and terminals; also writes to them and locks of fcntl
    that took a millisecond. All other time is work, including that of disks.

    --strace-c prints the table of strace -c -w (wall time), and counts what strace counts.

    \b
    Examples:
      tracefast syscalls app.strace
      tracefast syscalls app.parquet --by process --top 20
      tracefast syscalls app.strace --by phase
      tracefast syscalls app.strace --every 100ms --match futex
      tracefast syscalls app.parquet --match 'epoll_*' --wide
      tracefast syscalls app.parquet --sort errors --format ndjson | jq .name
      tracefast syscalls app.strace --strace-c
    """
    if every is not None:
        from tracefast.analysis.syscalls import syscalls as analysis
        from tracefast.cli.commands.charts.over_time import report_over_time

        others = {"--by": by, "--strace-c": strace_c, "--follow": request.follow}
        return report_over_time(request, "syscalls", analysis, every, match=match, others=others)
    if strace_c:
        _check_strace_c(request, by)
        return _report_strace_counts(request, match)
    from tracefast import _core
    from tracefast.cli.inputs.one_input import show_one_input
    from tracefast.cli.screen.matching import note_without_phases
    from tracefast.cli.screen.syscalls_table import print_syscalls_table

    def show(rows: "Rows") -> None:
        if by is By.PHASE:
            note_without_phases(rows, request)
        print_syscalls_table(rows, request, match=match)

    rows_by: Literal["process", "phase"] | None = None if by is None else by.value
    code = show_one_input(request, _core.Syscalls(by=rows_by), show)
    return _report_frame(request, rows_by, show) if code is None else code


def _report_frame(
    request: Request,
    by: "Literal['process', 'phase'] | None",
    show: "Callable[[Rows], None]",
) -> int:
    """Print the table that polars makes."""
    from tracefast.analysis import syscalls as analysis
    from tracefast.cli.inputs.live import run_or_watch
    from tracefast.cli.screen.result_table import check_columns
    from tracefast.cli.text.frame_rows import FrameRows

    check_columns(request, analysis.columns(by))
    table, complete = run_or_watch(
        request,
        lambda events: analysis.syscalls(events, by=by),
        lambda table: show(FrameRows(table)),
        by_phase=by == "phase",
    )
    if table is not None:
        show(FrameRows(table))
    return DONE if complete else FAILED


def _report_strace_counts(request: Request, match: str | None) -> int:
    """Print the summary of strace."""
    from tracefast.analysis.syscalls import strace_counts
    from tracefast.cli.inputs.event_sources import run_analysis
    from tracefast.cli.screen.strace_summary import print_strace_summary

    counts, complete = run_analysis(request, strace_counts)
    if counts is not None:
        print_strace_summary(counts, request, match=match)
    return DONE if complete else FAILED


def _check_strace_c(request: Request, by: By | None) -> None:
    """Refuse options that the summary of strace does not have.

    Raises
    ------
    CommandError
        One of them is given.
    """
    options = (
        (by, "--by"),
        (request.sort, "--sort"),
        (request.top, "--top"),
        (request.where, "--where"),
        (request.wide or None, "--wide"),
    )
    for value, option in options:
        if value is not None:
            raise CommandError(f"{option}: not available with --strace-c", "leave it out")
