"""`tracefast workers`: pools of worker processes, what starting cost, what all of them read."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer

from tracefast.cli.command_line.exit_codes import DONE, FAILED
from tracefast.cli.command_line.request import Request, table_command
from tracefast.cli.commands.charts.options import with_plots
from tracefast.cli.messages.errors import CommandError
from tracefast.cli.output.form import Format

if TYPE_CHECKING:
    import polars as pl

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
    *("pool", "round", "batch", "wait_ns", "take_over_ns", "cause", "worker_pid"),
    "worker_busy_ns",
    *("worker_read_ns", "worker_wait_ns", "worker_files", "worker_read_bytes", "bytes"),
    *("slowest_ns", "slowest_path"),
)
_SPARE_BATCHES: Final = (
    *("take_over_ns", "bytes", "worker_files", "worker_read_bytes"),
    *("worker_wait_ns", "worker_read_ns"),
    *("slowest_path", "slowest_ns", "pool"),
)
_SHARED_READS: Final = (
    "pool",
    *("workers", "readers", "read_bytes", "read_shared_bytes", "path"),
)
_SPARE_SHARED_READS: Final = ("pool", "workers")
_READS_BY_FOLDER: Final = (*_SHARED_READS[:-1], "files", "folder")
_MEMORY: Final = ("ts", "pid", "anon_bytes", "file_bytes", "shm_bytes", "from", "image")
_SPARE_MEMORY: Final = ("image", "from")

# Why a table has no rows, and what to try.
_NOTHING: Final = {
    "workers": "no pool of workers: no process hands work to others; if one should, record with"
    " strace -f, from the start of the program",
    "batches": "no message from a worker to its maker: these go through pipes and socket pairs that"
    " the log saw made; record with strace -f -ttt -T, from the start of the program (ftrace does"
    " not show which pipe a descriptor is)",
    "shared-reads": "no file that several workers of a pool read; tracefast files --sort"
    " read_shared_bytes shows those that any processes read",
    "memory": "no change of memory: record mmap, munmap and brk by strace, or the event"
    " kmem:rss_stat by ftrace",
}

By = Literal["folder"]
# A table: its columns, how it is made of workers, and what of it a table in text shows.
Table = tuple[
    "pl.Schema",
    Callable[["pl.LazyFrame"], "pl.LazyFrame"],
    tuple[str, ...],
    tuple[str, ...],
]


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
    shared_reads: Annotated[
        bool,
        typer.Option(
            "--shared-reads", help="One row per file that several workers read, each for itself."
        ),
    ] = False,
    by: Annotated[
        By | None,
        typer.Option("--by", help="With --shared-reads: one row per folder.", show_default=False),
    ] = None,
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
      tracefast workers app.parquet --shared-reads --by folder
      tracefast workers app.parquet --sort start_ns --top 10
      tracefast workers app.parquet --where 'exit_signal IS NOT NULL' --format ndjson
    """
    chosen = {
        "pools": pools,
        "batches": batches,
        "shared-reads": shared_reads,
        "memory": memory,
    }
    if sum(chosen.values()) > 1:
        names = [f"--{name}" for name, is_chosen in chosen.items() if is_chosen]
        raise CommandError(
            f"{' and '.join(names)} are different tables", "leave out all but one of them"
        )
    if by is not None and not shared_reads:
        raise CommandError("--by says how to group --shared-reads", "add --shared-reads")
    if memory:
        return _print_memory(request, match)
    return _print_workers(request, match, next((name for name in chosen if chosen[name]), None), by)


def _print_memory(request: Request, match: str | None) -> int:
    """Print the memory of processes over time."""
    from tracefast.analysis.memory import SCHEMA, memory
    from tracefast.cli.inputs.event_sources import run_analysis
    from tracefast.cli.screen.result_table import (
        check_columns,
        filter_matching,
        filter_rows,
        print_table,
    )

    check_columns(request, SCHEMA)
    rows, complete = run_analysis(request, memory)
    if rows is None:
        return FAILED
    if rows.is_empty():
        _note_nothing(request, "memory")
    table = filter_rows(filter_matching(rows, request, match, "image"), request)
    print_table(table, request, main=_MEMORY, spare=_SPARE_MEMORY)
    return DONE if complete else FAILED


def _note_nothing(request: Request, of: str) -> None:
    """Say why a table has no rows, and what to try."""
    request.note(f"note: {_NOTHING[of]}")


def _print_workers(request: Request, match: str | None, of: str | None, by: By | None) -> int:
    """Print a table of workers, of their pools, of what came from them, or of what they read."""
    from tracefast.analysis.workers import batches, pools, shared_reads
    from tracefast.analysis.workers.table import SCHEMA, workers_in_detail
    from tracefast.cli.inputs.event_sources import run_analysis
    from tracefast.cli.screen.result_table import (
        check_columns,
        filter_matching,
        filter_rows,
        print_table,
    )
    from tracefast.cli.screen.workers_report import print_workers_report

    def reads(rows: "pl.LazyFrame") -> "pl.LazyFrame":
        return shared_reads.shared_reads_of(rows, by=by)

    def plain(rows: "pl.LazyFrame") -> "pl.LazyFrame":
        return rows.select(SCHEMA.names())

    tables: dict[str | None, Table] = {
        None: (SCHEMA, plain, _MAIN, _SPARE),
        "pools": (pools.SCHEMA, pools.pools_of, _POOLS, _SPARE_POOLS),
        "batches": (batches.SCHEMA, batches.batches_of, _BATCHES, _SPARE_BATCHES),
        "shared-reads": (shared_reads.SCHEMA, reads, _SHARED_READS, _SPARE_SHARED_READS),
    }
    if by is not None:
        tables["shared-reads"] = (
            *(shared_reads.BY_FOLDER, reads),
            *(_READS_BY_FOLDER, _SPARE_SHARED_READS),
        )
    schema, table_of, main, spare = tables[of]
    check_columns(request, schema)
    rows, complete = run_analysis(request, workers_in_detail)
    if rows is None:
        return FAILED
    if rows.is_empty():
        _note_nothing(request, "workers")
    kept = filter_matching(rows, request, match, "image")
    if of is None and request.form is Format.TABLE and not (request.wide or request.sort):
        found = pools.pools_of(kept.lazy()).collect()
        wanted = filter_rows(kept, request)
        print_workers_report(found, kept, wanted, request, chosen=wanted.height < rows.height)
    else:
        table = table_of(kept.lazy()).collect()
        if table.is_empty() and of is not None and not kept.is_empty():
            _note_nothing(request, of)
        print_table(filter_rows(table, request), request, main=main, spare=spare)
    return DONE if complete else FAILED
