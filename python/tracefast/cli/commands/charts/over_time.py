"""`--every`: tables with a row per window of time."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from tracefast.cli.command_line.exit_codes import DONE, FAILED
from tracefast.cli.command_line.request import Request
from tracefast.cli.command_line.spans import parse_span
from tracefast.cli.messages.errors import CommandError

if TYPE_CHECKING:
    import polars as pl

EveryOption = Annotated[
    str | None,
    typer.Option(
        "--every",
        metavar="TIME",
        help="One row per window of this length, such as 100ms, in order of time.",
    ),
]

# What a table in text shows, and what narrow terminals do without, the first one first.
_MAIN: Final = {
    "files": (
        *("ts", "reads", "read_bytes", "read_ns", "writes", "write_bytes", "write_ns", "path"),
    ),
    "syscalls": ("ts", "calls", "errors", "total_ns", "max_ns", "moved_bytes", "name"),
    "blocks": (
        *("ts", "requests", "op_bytes", "completed", "latency_p50_ns", "latency_max_ns"),
        *("dev", "op"),
    ),
}
_SPARE: Final = {
    "files": ("write_ns", "read_ns", "writes", "reads"),
    "syscalls": ("max_ns", "errors", "moved_bytes"),
    "blocks": ("completed", "latency_max_ns"),
}
# Under these names, text has sizes in units that fit.
_SIZES: Final = {"syscalls": "moved_bytes", "blocks": "op_bytes"}
_NOTHING: Final = {
    "files": "no reads or writes with a time: record with strace -ttt",
    "syscalls": "no system calls with a time: record with strace -ttt",
    "blocks": "no requests to block devices: trace the events block_rq_issue, block_rq_complete",
}
# The column that --match is about.
_MATCHED: Final = {"files": "path", "syscalls": "name", "blocks": "dev"}


def report_over_time(
    request: Request,
    table: str,
    analysis: Callable[..., "pl.LazyFrame"],
    every: str,
    *,
    match: str | None,
    others: dict[str, Any],
) -> int:
    """Print a table by windows of time, and give the exit code.

    Parameters
    ----------
    request
        The options that all tables share.
    table, analysis
        Name of the table, and the function that makes it.
    every
        The length of a window.
    match
        A pattern for paths, names or devices.
    others
        Options that such a table does not take, with their values: false where they are not given.

    Raises
    ------
    CommandError
        One of these is given, or `every` is no span of time.
    """
    import polars as pl

    from tracefast.analysis.over_time.schemas import SCHEMAS
    from tracefast.cli.inputs.event_sources import run_analysis
    from tracefast.cli.output.form import Format
    from tracefast.cli.screen.result_table import check_columns, filter_rows, print_table

    ns = parse_span("--every", every)
    if not ns:
        raise CommandError(f"--every {every}: not longer than 0", "write 100ms, 1s or 1m")
    if refused := next((option for option, value in others.items() if value), None):
        raise CommandError(f"--every and {refused}: not together", f"leave out {refused}")
    check_columns(request, SCHEMAS[table])
    rows, complete = run_analysis(request, lambda events: analysis(events, every=f"{ns}ns"))
    if rows is None:
        return FAILED
    if rows.is_empty():
        request.warn(_NOTHING[table])
    rows = filter_rows(rows, request, match, _MATCHED[table])
    if request.form is Format.TABLE and not request.wide and table in _SIZES:
        rows = rows.with_columns(pl.col("bytes").alias(_SIZES[table]))
    print_table(rows, request, main=_MAIN[table], spare=_SPARE[table])
    return DONE if complete else FAILED
