"""`tracefast waits`: who waited for whom, and who can never go on."""

from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Annotated, Final

import typer

from tracefast.cli.command_line.exit_codes import FAILED, code_of
from tracefast.cli.command_line.request import Request, table_command
from tracefast.cli.command_line.spans import parse_span
from tracefast.cli.commands.charts.options import with_plots
from tracefast.cli.messages.errors import CommandError
from tracefast.cli.output.form import Format
from tracefast.quantities import plural

if TYPE_CHECKING:
    import polars as pl

# What a table in text shows; what was waited for last, as it may be long.
_MAIN: Final = (
    "ts",
    "pid",
    "tid",
    "dur_ns",
    "open_ns",
    "name",
    "end",
    "waker_pid",
    "verdict",
    "proof",
    "because_line",
    "image",
    "on",
    "object",
)
# What narrow terminals do without, the first one first.
_SPARE: Final = (
    *("image", "end", "because_line", "proof", "ts", "pid", "on", "waker_pid", "open_ns"),
    "name",
)
_PAIRS: Final = (
    *("waiter_pid", "waker_pid", "count", "total_ns", "max_ns", "open"),
    *("waiter_image", "waker_image", "on", "object"),
)
_SPARE_PAIRS: Final = ("waiter_image", "waker_image", "max_ns", "on", "open", "count")


class FailOn(StrEnum):
    """Verdicts that fail; each includes those that are surer."""

    DEADLOCK = "deadlock"
    LIKELY_DEADLOCK = "likely-deadlock"
    STALLED = "stalled"


@table_command(other_output="plot")
@with_plots
def waits(
    request: Request,
    *,
    match: Annotated[
        str | None, typer.Option(metavar="GLOB", help="Only waits of programs that match.")
    ] = None,
    min_: Annotated[
        str, typer.Option("--min", metavar="TIME", help="Leave out shorter waits that ended.")
    ] = "1ms",
    stuck: Annotated[
        bool, typer.Option("--stuck", help="Only the waits of those who cannot go on.")
    ] = False,
    pairs: Annotated[
        bool, typer.Option("--pairs", help="One row per pair of waiter and waker.")
    ] = False,
    graph: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Draw who waits for whom: .svg, .dot (Graphviz) or .mmd (Mermaid).",
        ),
    ] = None,
    fail_on: Annotated[
        FailOn | None,
        typer.Option(
            help="Exit with 1 if there is such a verdict, or a surer one; with 2 if a log has no"
            " event."
        ),
    ] = None,
) -> int:
    """Show who waited for whom, for how long, and who can never go on.

    First come those who hang, as far as the log proves it: in which call, since when, for whom, and
    the line that explains it. Then the longest waits that ended and who ended them, and the pairs
    of processes of which one waited for the other. Formats other than table, --stuck and --wide
    give the rows of the waits instead, --pairs those of the pairs.

    \b
    Examples:
      strace -f -ttt -T -yy -p PID -o hang.strace; tracefast waits hang.strace
      tracefast waits app.strace --graph waits.svg
      tracefast waits app.parquet --stuck --fail-on deadlock
      tracefast waits app.parquet --pairs --top 10
      tracefast waits app.parquet --min 100ms --sort dur_ns
    """
    import polars as pl

    from tracefast.analysis.waits.pairs import SCHEMA as PAIRS
    from tracefast.analysis.waits.pairs import pairs as pairs_of
    from tracefast.analysis.waits.table import (
        DETAILS,
        JOINED,
        SCHEMA,
        STUCK,
        stuck_rows,
        waits_in_detail,
    )
    from tracefast.analysis.waits.timers import with_own_timers
    from tracefast.cli.inputs.event_sources import run_analysis
    from tracefast.cli.screen.result_table import (
        check_columns,
        filter_matching,
        filter_rows,
        print_table,
    )
    from tracefast.cli.screen.waits_report import print_waits_report

    if stuck and pairs:
        raise CommandError("--stuck and --pairs are two tables", "leave out one of them")
    min_ns = parse_span("--min", min_)
    check_columns(request, PAIRS if pairs else SCHEMA | JOINED)
    suffix = None if graph is None else _suffix(graph)
    gaps: list[str] = []
    empty: list[str] = []
    report = request.form is Format.TABLE and not (stuck or pairs or request.wide or request.sort)
    analysis = partial(waits_in_detail, min_ns=min_ns, gaps=gaps.extend)
    rows, complete = run_analysis(
        request,
        partial(with_own_timers, waits=analysis) if report else analysis,
        without_events=empty.extend,
    )
    if rows is None:
        return FAILED
    if not pairs:
        # Only joined events have some.
        check_columns(request, rows.select(pl.exclude(DETAILS)).schema)
    rows = rows.sort("source", "ts", nulls_last=True, maintain_order=True)
    everything = rows.height
    rows = filter_matching(rows, request, match, "image")
    found = rows["verdict"].unique()
    if graph is not None and suffix is not None:
        from tracefast.cli.output.write import write_bytes
        from tracefast.cli.pictures.wait_graph import draw

        data = draw(pairs_of(rows.lazy()).collect(), stuck_rows(rows.lazy()).collect(), suffix)
        write_bytes(data, graph, clobber=request.clobber)
    rows, others = _without_others(rows, request)
    if pairs:
        table = filter_rows(pairs_of(rows.lazy()).collect(), request)
        print_table(table, request, main=_PAIRS, spare=_SPARE_PAIRS)
    elif report:
        kept = filter_rows(rows, request)
        chosen = kept.height < everything
        print_waits_report(kept, request, gaps=sorted(set(gaps)), chosen=chosen)
    else:
        if stuck:
            rows = stuck_rows(rows.lazy()).collect()
        table = filter_rows(rows.select(pl.exclude(DETAILS)), request)
        print_table(table, request, main=_MAIN, spare=_SPARE)
    if request.form is Format.TABLE:
        _note_what_is_not_shown(request, others, stuck=stuck, empty=rows.is_empty())
    if not complete:
        return FAILED
    return code_of(STUCK, fail_on and fail_on.value, found.drop_nulls(), empty=bool(empty))


def _without_others(rows: "pl.DataFrame", request: Request) -> tuple["pl.DataFrame", int]:
    """Leave out waits of tasks that a log of the whole machine only mentions; say how many.

    Where the log shows nothing else, and in other forms than a table in text, they stay.
    """
    import polars as pl

    if request.form is not Format.TABLE or request.wide or request.where is not None:
        return rows, 0
    others = (
        rows.group_by("source", "pid")
        .agg(pl.col("image", "name", "verdict").is_null().all())
        .filter(pl.all_horizontal("image", "name", "verdict"))
    )
    own = rows.join(others, on=["source", "pid"], how="anti", maintain_order="left")
    return (rows, 0) if own.is_empty() else (own, rows.height - own.height)


def _note_what_is_not_shown(request: Request, others: int, *, stuck: bool, empty: bool) -> None:
    """Say why there are no rows of those who hang, or which waits are left out."""
    if stuck and empty:
        request.note("note: the log shows nobody who hangs; without --stuck: who waited longest")
    elif others and not stuck:
        request.note(
            f"note: {plural(others, 'more wait')} of tasks of which the log shows no program and no"
            " call; --wide lists them"
        )


def _suffix(graph: str) -> str:
    """Give the suffix of a picture, if it can be drawn."""
    from pathlib import PurePath

    from tracefast.cli.pictures.layout import can_layout

    suffix = PurePath(graph).suffix
    if suffix not in {".svg", ".dot", ".mmd"}:
        raise CommandError(
            f"--graph {graph}: cannot draw this", "name a file that ends in .svg, .dot or .mmd"
        )
    if suffix == ".svg" and not can_layout():
        raise CommandError(
            f"--graph {graph}: an SVG needs pygraphviz",
            "run: pip install 'tracefast[report]'; .dot and .mmd do not need it",
        )
    return suffix
