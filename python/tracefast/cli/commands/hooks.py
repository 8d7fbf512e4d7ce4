"""`tracefast hooks`: where the kernel lets one watch the calls of a log, and scripts that do."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Final

import typer

from tracefast.cli.command_line.exit_codes import DONE, FAILED
from tracefast.cli.command_line.request import Request, table_command
from tracefast.cli.messages.errors import CommandError

if TYPE_CHECKING:
    import polars as pl

# So many calls a script watches, unless --top is given.
_SCRIPT_CALLS: Final = 10


class By(StrEnum):
    """What calls are ordered by, before --top takes the first of them."""

    TIME = "time"
    CALLS = "calls"
    ERRORS = "errors"
    BYTES = "bytes"


class Tool(StrEnum):
    """Tools that scripts are written for."""

    BPFTRACE = "bpftrace"
    BCC = "bcc"
    LIBBPF = "libbpf"
    PERF = "perf"
    TRACEFS = "tracefs"
    TRACE_CMD = "trace-cmd"


@table_command(other_output="emit")
def hooks(
    request: Request,
    *,
    match: Annotated[
        str | None, typer.Option(metavar="GLOB", help="Only calls that match, such as 'epoll_*'.")
    ] = None,
    by: Annotated[
        By, typer.Option(help="Order of the calls, of which --top takes the first.")
    ] = By.TIME,
    explain: Annotated[
        str | None,
        typer.Option(metavar="CALL", help="All hook points of one call, and what each tells."),
    ] = None,
    emit: Annotated[
        Tool | None,
        typer.Option(help="Write a script that watches the calls, the first 10 or --top N."),
    ] = None,
    inventory: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            help="Folder with available_events, available_filter_functions or kallsyms of the"
            " kernel to trace.  [default: this machine's]",
            show_default=False,
        ),
    ] = None,
    points: Annotated[
        str | None, typer.Option(metavar="FILE", help="A file with more hook points.")
    ] = None,
) -> int:
    """Show where the kernel lets you watch the calls of a log, and write scripts that do.

    One row per call, the longest total time first: its tracepoints, the functions of the kernel
    that serve it, and how many events per second a probe on both tracepoints would see. Whether
    the kernel has them is looked up in its own lists: those of this machine, which needs root and a
    mounted tracefs, or those in a folder (--inventory).

    A script (--emit) follows a process and its children, and gives calls, errors, bytes and times;
    those for tracefs and trace-cmd record a log for tracefast. It says how to run it.

    \b
    Examples:
      tracefast hooks app.strace
      tracefast hooks app.strace --explain read
      tracefast hooks app.strace --emit bpftrace -o watch.bt
      tracefast hooks app.strace --by errors --top 5 --emit tracefs -o watch.sh
      tracefast hooks app.strace --where "available = 'no'" --wide
    """
    import polars as pl

    from tracefast.analysis.hooks.points import read_points
    from tracefast.analysis.hooks.table import SCHEMA, chosen_inventory, hooks_in_detail
    from tracefast.cli.inputs.event_sources import run_analysis
    from tracefast.cli.screen.hooks.explained_call import print_explained_call
    from tracefast.cli.screen.hooks.table import print_hooks_table
    from tracefast.cli.screen.result_table import check_columns, filter_rows

    if emit is not None and explain is not None:
        raise CommandError("--emit and --explain are two outputs", "leave out one of them")
    check_columns(request, SCHEMA)
    lists, known = chosen_inventory(inventory), read_points(points)
    table, complete = run_analysis(request, lambda events: hooks_in_detail(events, lists, known))
    if table is None:
        return FAILED
    # Each log is in order, but not all together.
    order = {By.TIME: "total_ns", By.CALLS: "calls", By.ERRORS: "errors", By.BYTES: "bytes"}[by]
    table = filter_rows(
        table.sort(pl.col(order), descending=True, nulls_last=True, maintain_order=True),
        request,
        match,
        "name",
    )
    if emit is not None:
        _write_script(table, request, emit)
    elif explain is not None:
        print_explained_call(table.filter(pl.col("name") == explain), request, call=explain)
    else:
        print_hooks_table(table.select(SCHEMA.names()), request)
    return DONE if complete else FAILED


def _write_script(table: "pl.DataFrame", request: Request, tool: Tool) -> None:
    """Write a script for a tool.

    Raises
    ------
    CommandError
        None of the calls can be watched.
    """
    from tracefast.analysis.hooks.scripts.watched_calls import watched_calls
    from tracefast.analysis.hooks.scripts.write import WRITERS
    from tracefast.cli.output.write import write_bytes
    from tracefast.quantities import plural

    if request.sort is not None:
        table = table.sort(
            request.sort, descending=table[request.sort].dtype.is_numeric(), nulls_last=True
        )
    calls = watched_calls(table)
    if not calls:
        raise CommandError(
            "none of the calls has a tracepoint in this kernel", "tracefast hooks LOG says why"
        )
    top = _SCRIPT_CALLS if request.top is None else request.top
    chosen = calls[: top or None]
    write_bytes(WRITERS[tool](chosen).encode(), request.output, clobber=request.clobber)
    without = table.filter(table["tracepoint_enter"].is_null())["name"].n_unique()
    note = f"{plural(len(chosen), 'call')} of {len(calls):,}"
    if len(chosen) < len(calls):
        note += "; --top 0 watches all"
    if without:
        note += f"; {plural(without, 'call has', 'calls have')} no tracepoint"
    request.note(note)
