"""`tracefast workers`: pools of worker processes, what starting cost, what all of them read."""

from typing import Annotated, Final

import typer

from tracefast.cli.command_line.exit_codes import DONE, FAILED
from tracefast.cli.command_line.request import Request, table_command
from tracefast.cli.commands.charts.options import with_plots
from tracefast.cli.messages.errors import CommandError
from tracefast.cli.output.form import Format

# What a table in text shows; the program last, as its path may be long.
_MAIN: Final = (
    *("pool", "round", "method", "pid", "start_ns", "modules", "jobs", "busy_ns", "wait_ns"),
    *("files", "read_bytes", "read_shared_bytes", "exit_status", "exit_signal", "image"),
)
# What narrow terminals do without, the first one first.
_SPARE: Final = (
    *("image", "exit_signal", "files", "modules", "method", "exit_status", "read_shared_bytes"),
    *("wait_ns", "read_bytes", "round"),
)
_POOLS: Final = (
    *("pool", "method", "parent_pid", "workers", "rounds", "start_sum_ns", "start_p50_ns"),
    *("busy_share", "wait_share", "imbalance", "read_bytes", "read_shared_bytes"),
    *("saving_low_ns", "saving_high_ns", "saving_method", "image"),
)
_SPARE_POOLS: Final = (
    *("image", "saving_method", "imbalance", "wait_share", "saving_low_ns", "parent_pid"),
    *("saving_high_ns", "start_p50_ns", "read_bytes"),
)

_BATCHES: Final = (
    *("pool", "round", "batch", "wait_ns", "cause", "worker_pid", "worker_busy_ns"),
    *("worker_read_ns", "worker_wait_ns", "worker_files", "worker_read_bytes", "bytes"),
    *("slowest_ns", "slowest_path"),
)
_SPARE_BATCHES: Final = (
    *("bytes", "worker_files", "worker_read_bytes", "worker_wait_ns", "worker_read_ns"),
    *("slowest_path", "slowest_ns", "pool"),
)
_MEMORY: Final = ("ts", "pid", "anon_bytes", "file_bytes", "shm_bytes", "from", "image")
_SPARE_MEMORY: Final = ("image", "from")


@table_command(other_output="plot")
@with_plots
def workers(
    request: Request,
    *,
    match: Annotated[
        str | None, typer.Option(metavar="GLOB", help="Only workers whose program matches.")
    ] = None,
    pools: Annotated[bool, typer.Option("--pools", help="One row per pool.")] = False,
    batches: Annotated[
        bool, typer.Option("--batches", help="One row per message from a worker to its maker.")
    ] = False,
    memory: Annotated[
        bool, typer.Option("--memory", help="The memory of all processes over time.")
    ] = False,
) -> int:
    """Show pools of worker processes: how they were started, what that cost, what all of them read.

    Pools are found without any annotation: workers of Python's multiprocessing (fork, spawn,
    forkserver), of DataLoaders, joblib and servers that fork their workers, and the same program
    started several times at once, as by make and xargs. Of each pool: what starting a worker took
    up to its first job, how busy the workers were, what they read again, and each worker. Formats
    other than table, and --wide, give the rows of the workers instead, --pools those of the pools.

    \b
    Examples:
      strace -f -ttt -T -y -o app.strace python train.py; tracefast workers app.strace
      tracefast workers app.parquet --pools
      tracefast workers app.parquet --batches --sort wait_ns --top 10
      tracefast workers app.parquet --sort start_ns --top 10
      tracefast workers app.parquet --where 'exit_signal IS NOT NULL' --format ndjson
    """
    from tracefast.analysis.memory import SCHEMA as MEMORY
    from tracefast.analysis.memory import memory as memory_over_time
    from tracefast.analysis.workers.batches import SCHEMA as BATCHES
    from tracefast.analysis.workers.batches import batches_of
    from tracefast.analysis.workers.pools import SCHEMA as POOLS
    from tracefast.analysis.workers.pools import pools_of
    from tracefast.analysis.workers.table import SCHEMA, workers_in_detail
    from tracefast.cli.inputs.event_sources import run_analysis
    from tracefast.cli.screen.result_table import (
        check_columns,
        filter_matching,
        filter_rows,
        print_table,
    )
    from tracefast.cli.screen.workers_report import print_workers_report

    if pools + batches + memory > 1:
        raise CommandError(
            "--pools, --batches and --memory are three tables", "leave out all but one of them"
        )
    asked = POOLS if pools else BATCHES if batches else MEMORY if memory else SCHEMA
    check_columns(request, asked)
    rows, complete = run_analysis(request, memory_over_time if memory else workers_in_detail)
    if rows is None:
        return FAILED
    if memory:
        table = filter_rows(filter_matching(rows, match, "image"), request)
        print_table(table, request, main=_MEMORY, spare=_SPARE_MEMORY)
        return DONE if complete else FAILED
    rows = filter_matching(rows, match, "image")
    if batches:
        table = filter_rows(batches_of(rows.lazy()).collect(), request)
        print_table(table, request, main=_BATCHES, spare=_SPARE_BATCHES)
    elif pools:
        table = filter_rows(pools_of(rows.lazy()).collect(), request)
        print_table(table, request, main=_POOLS, spare=_SPARE_POOLS)
    elif request.form is Format.TABLE and not (request.wide or request.sort):
        found = pools_of(rows.lazy()).collect()
        print_workers_report(found, rows, filter_rows(rows, request), request)
    else:
        table = filter_rows(rows.select(SCHEMA.names()), request)
        print_table(table, request, main=_MAIN, spare=_SPARE)
    return DONE if complete else FAILED
