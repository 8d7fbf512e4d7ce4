"""`tracefast blocks`: one row per block device and operation."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from tracefast.cli.command_line.exit_codes import DONE, FAILED
from tracefast.cli.command_line.request import Request, table_command
from tracefast.cli.commands.charts.options import with_plots
from tracefast.cli.commands.charts.over_time import EveryOption, report_over_time
from tracefast.cli.messages.errors import CommandError
from tracefast.cli.messages.stderr import note_lines
from tracefast.cli.output.form import Format
from tracefast.quantities import plural

if TYPE_CHECKING:
    import polars as pl

By = Literal["file"]

# What a table in text shows; the task last, as its name may be long.
_MAIN = (
    "dev",
    "op",
    "requests",
    "op_bytes",
    "sequential_share_1",
    "sequential_share_4",
    "readahead_share",
    "size_median",
    "size_max",
    "completed",
    "latency_p50_ns",
    "latency_p99_ns",
    "latency_max_ns",
    "in_flight_max",
    "task_top",
)
# What narrow terminals do without, the first one first; never how much of it was sequential.
_SPARE = (
    *("completed", "size_max", "latency_max_ns", "in_flight_max", "latency_p99_ns"),
    *("size_median", "latency_p50_ns", "readahead_share", "task_top", "requests"),
)

# The same by file; the path last.
_BY_FILE = (
    *("op", "requests", "bytes", "readahead_share", "latency_p50_ns", "latency_max_ns"),
    *("dev", "file_dev", "ino", "path"),
)
_BY_FILE_SPARE = ("file_dev", "dev", "latency_max_ns", "readahead_share", "latency_p50_ns")

_NONE = "no requests to block devices: trace the events block_rq_issue, filemap:*"
# Of joined events.
_NONE_IN_JOINED = (
    "joined events show what devices moved for calls: tracefast files FILE; for all requests, give "
    "ftrace's log (record --both --keep-log), and --strace LOG for the paths"
)

_PLURALS = {"read": ("read",), "write": ("write",), "flush": ("flush", "flushes")}


@table_command(other_output="plot")
@with_plots
def blocks(
    request: Request,
    *,
    match: Annotated[
        str | None,
        typer.Option(
            metavar="GLOB", help="Only devices that match, such as '254:*'; by file, paths."
        ),
    ] = None,
    by: Annotated[
        By | None, typer.Option("--by", help="One row per file and operation.", show_default=False)
    ] = None,
    every: EveryOption = None,
    inode_map: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="With --by file: paths, as find prints them: find DIR -printf '%D %i %p\\n'.",
        ),
    ] = None,
    strace: Annotated[
        str | None,
        typer.Option(
            metavar="LOG", help="With --by file: strace's log of the same run, for the paths."
        ),
    ] = None,
) -> int:
    """Show what reached the block devices: requests, their order, sizes and latencies.

    One row per device and operation, the most bytes first. This needs ftrace's events
    block_rq_issue and, for latencies, block_rq_complete, or the tracer blk.

    A request is sequential if it starts where the one before it ended (seq 1), or where one of the
    last four streams ended (seq 4). Programs that read in parallel are sequential in the second
    sense only.

    \b
    Examples:
      tracefast blocks trace.txt
      tracefast blocks trace.txt --match '254:*' --format csv
      tracefast blocks trace.txt --every 100ms
      tracefast blocks trace.txt --hist
      tracefast blocks trace.txt --plot latency -o latency.svg
      tracefast blocks reads.ftrace --by file --strace reads.strace
      tracefast blocks trace.parquet --format ndjson | jq .sequential_share_4
    """
    import polars as pl

    from tracefast.analysis.blocks import SCHEMA
    from tracefast.analysis.blocks import blocks as analysis
    from tracefast.cli.inputs.event_sources import run_analysis
    from tracefast.cli.screen.result_table import check_columns, filter_rows, print_table

    if every is not None:
        others = {"--by": by, "--inode-map": inode_map, "--strace": strace}
        return report_over_time(request, "blocks", analysis, every, match=match, others=others)
    if by is not None:
        return _by_file(request, match, inode_map, strace)
    if inode_map is not None or strace is not None:
        raise CommandError("--inode-map, --strace: only with --by file", "give --by file")
    check_columns(request, SCHEMA)
    table, complete = run_analysis(request, analysis)
    if table is not None:
        if table.is_empty():
            request.warn(
                "no requests to block devices: trace the events block_rq_issue, block_rq_complete"
            )
        # Each log is in order, but not all together.
        table = table.sort(pl.col("bytes"), descending=True, maintain_order=True)
        table = filter_rows(table, request, match, "dev")
        if request.form is Format.TABLE and not request.wide:
            # Under this name, text has it in units that fit.
            table = table.with_columns(op_bytes="bytes")
        below = _missing_completions(table) if request.form is Format.TABLE else []
        print_table(table, request, main=_MAIN, spare=_SPARE, below=len(note_lines(below)))
        request.note_lines(below)
    return DONE if complete else FAILED


def _by_file(request: Request, match: str | None, inode_map: str | None, strace: str | None) -> int:
    """Show what reached the devices by file."""
    import polars as pl

    import tracefast
    from tracefast.analysis.kernel_times import has_columns
    from tracefast.analysis.requests.by_file import SCHEMA
    from tracefast.cli.inputs.event_sources import run_analysis
    from tracefast.cli.screen.result_table import check_columns, filter_rows, print_table

    if inode_map is not None and strace is not None:
        raise CommandError("--inode-map and --strace: choose one", "leave out one of them")
    check_columns(request, SCHEMA)
    other = None if strace is None else tracefast.scan(strace)
    joined: list[bool] = []

    def analysis(events: pl.LazyFrame) -> pl.LazyFrame:
        joined.append(has_columns(events, ("disk_bytes",)))
        return tracefast.blocks(events, by="file", inode_map=inode_map, strace=other)

    table, complete = run_analysis(request, analysis)
    if table is not None:
        if table.is_empty():
            request.warn(_NONE_IN_JOINED if any(joined) else _NONE)
        table = filter_rows(table, request, match, "path")
        print_table(table, request, main=_BY_FILE, spare=_BY_FILE_SPARE)
    return DONE if complete else FAILED


def _missing_completions(table: "pl.DataFrame") -> list[str]:
    """Say how many requests the latencies are about, if not about all."""
    import polars as pl

    missing = table.filter(pl.col("completed").fill_null(0) < pl.col("requests"))
    if missing.is_empty():
        return []
    if missing["completed"].null_count() == table.height:
        return ["note: no completions in the log, so no latencies: trace block_rq_complete"]
    sums = missing.group_by("op", maintain_order=True).agg(pl.sum("completed", "requests"))
    parts = [
        f"{completed:,} of {plural(requests, *_PLURALS.get(op, (f'{op} request',)))}"
        for op, completed, requests in sums.rows()
    ]
    note = (
        f"note: latencies and max parallel are those of {', '.join(parts)}: the log has no"
        " completions of the others (set_event_pid hides those that happen while another task"
        " runs), or it may be another request's"
    )
    return [note]
