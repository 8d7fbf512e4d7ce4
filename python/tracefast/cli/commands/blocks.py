"""`tracefast blocks`: one row per block device and operation."""

from typing import Annotated

import typer

from tracefast.cli.command_line.request import Request, table_command
from tracefast.cli.messages.errors import DONE, FAILED

# What a table in text shows; the task last, as its name may be long.
_MAIN = (
    "dev",
    "op",
    "requests",
    "bytes",
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


@table_command()
def blocks(
    request: Request,
    *,
    match: Annotated[
        str | None, typer.Option(metavar="GLOB", help="Only devices like this, such as '254:*'.")
    ] = None,
) -> int:
    """Show what reached the block devices: requests, their order, sizes and latencies.

    One row per device and operation, largest number of bytes first. It needs ftrace's events
    block_rq_issue and, for latencies, block_rq_complete, or the tracer blk.

    A request is sequential if it begins at the sector behind the one before (seq 1), or where one
    of the last four streams ended (seq 4): programs that read side by side are sequential in the
    second sense only.

    \b
    Examples:
      tracefast blocks trace.txt
      tracefast blocks trace.txt --match '254:*' --format csv
      tracefast blocks trace.parquet --format ndjson | jq .sequential_share_4
    """
    import polars as pl

    from tracefast.analysis.blocks import SCHEMA
    from tracefast.analysis.blocks import blocks as question
    from tracefast.cli.inputs.event_sources import answer
    from tracefast.cli.screen.result_table import check_columns, chosen, finish

    check_columns(request, SCHEMA)
    table, complete = answer(request, question)
    if table is not None:
        if table.is_empty():
            request.warn(
                "no requests to block devices: trace the events block_rq_issue, block_rq_complete"
            )
        # Inputs that were asked one by one are in order each, not together.
        table = table.sort(pl.col("bytes"), descending=True, maintain_order=True)
        finish(chosen(table, request, match, "dev"), request, main=_MAIN, spare=_SPARE)
    return DONE if complete else FAILED
