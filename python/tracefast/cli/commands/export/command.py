"""`tracefast export`: a timeline or a flame graph that other tools open."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from tracefast.cli.command_line.exit_codes import DONE, FAILED
from tracefast.cli.command_line.request import Request, table_command
from tracefast.cli.messages.errors import CommandError
from tracefast.cli.messages.hints import RECORD_DURATIONS
from tracefast.inputs.sources import STDIN

if TYPE_CHECKING:
    import polars as pl

    from tracefast.exporting import Exported


class ExportForm(StrEnum):
    """Formats of other tools."""

    PERFETTO = "perfetto"
    CHROME = "chrome"
    FOLDED = "folded"
    SPEEDSCOPE = "speedscope"


class By(StrEnum):
    """What the width of a flame is."""

    TIME = "time"
    CALLS = "calls"
    BYTES = "bytes"


# The width is always given, so the output is no table and may have any suffix.
@table_command(without=("where", "sort", "top", "wide", "format_", "jobs"), other_output="weight")
def export(
    request: Request,
    *,
    form: Annotated[
        ExportForm | None,
        typer.Option(
            "--format", help="Output format.  [default: by the suffix of -o]", show_default=False
        ),
    ] = None,
    weight: Annotated[
        By, typer.Option(help="What the width of a flame is, in folded and speedscope.")
    ] = By.TIME,
    match: Annotated[
        str | None,
        typer.Option(metavar="GLOB", help="Only calls on paths that match."),
    ] = None,
    min_: Annotated[
        str,
        typer.Option("--min", metavar="TIME", help="Arrows to waits of at least this time."),
    ] = "1ms",
) -> int:
    """Write a timeline or a flame graph that other tools open.

    Timelines have a track for each thread, with its calls, and arrows from forks to children and
    from wakers to the woken: .pftrace for https://ui.perfetto.dev, or .json.gz. Flame graphs add up
    what programs spend in which calls on which paths, below the stacks of strace -k where the log
    has them: .folded for flamegraph.pl, or .speedscope.json.

    \b
    Examples:
      tracefast export app.strace -o app.pftrace
      tracefast export app.parquet -o app.json.gz --from 10 --to 12
      tracefast export app.strace -o app.folded --weight bytes
      tracefast export app.strace -o app.speedscope.json --match '/data/*'
    """
    from tracefast.cli.command_line.spans import parse_span
    from tracefast.cli.inputs.event_sources import run_analysis
    from tracefast.exporting import format_of

    if request.output == STDIN:
        raise CommandError("export writes a file", "name it: -o FILE.pftrace")
    if form is None and format_of(request.output) is None:
        raise CommandError(
            f"{request.output}: unknown suffix",
            "use .pftrace, .json.gz, .folded or .speedscope.json, or give --format",
        )
    written: list[Exported] = []
    how = _How(form, weight, match, parse_span("--min", min_))
    _, complete = run_analysis(
        request,
        lambda events: _written(events, request, how, written),
        combinable=False,
        by_phase=True,
    )
    if not written:
        return FAILED
    _tell(request, written[-1])
    return DONE if complete else FAILED


class _How(NamedTuple):
    """How to write it."""

    form: ExportForm | None
    weight: By
    match: str | None
    min_ns: int


def _written(
    events: "pl.LazyFrame", request: Request, how: _How, written: "list[Exported]"
) -> "pl.LazyFrame":
    """Write the file; gives a row if there was a call."""
    import polars as pl

    from tracefast import exporting
    from tracefast._polars.folds import COUNTED

    if how.match is not None:
        wanted = _on_paths(how.match)
        if COUNTED in events.collect_schema():
            wanted &= pl.col(COUNTED)
        events = events.with_columns(wanted.alias(COUNTED))
    done = exporting.export(
        events,
        request.output,
        format=None if how.form is None else how.form.value,
        weight=how.weight.value,
        min_ns=how.min_ns,
        clobber=request.clobber,
    )
    written.append(done)
    return pl.LazyFrame({"call": [True] * min(done.calls, 1)})


def _on_paths(pattern: str) -> "pl.Expr":
    """Say which events are on a path that matches."""
    from functools import cache

    import polars as pl

    from tracefast.cli.screen.matching import matches

    @cache
    def matching(name: str) -> bool:
        return matches(name, pattern)

    def each(names: pl.Series) -> pl.Series:
        hits = [name is not None and matching(name) for name in names]
        return pl.Series(hits, dtype=pl.Boolean)

    return pl.any_horizontal(
        pl.col("path", "path2").map_batches(each, return_dtype=pl.Boolean, is_elementwise=True)
    )


def _tell(request: Request, done: "Exported") -> None:
    """Say what was written, and what a reader has to know about it."""
    from tracefast.exporting import MOST_SLICES

    timeline = done.format in {"perfetto", "chrome"}
    if timeline:
        request.note(
            f"{done.calls:,} calls, {done.instants:,} instants, {done.flows:,} arrows, "
            f"{done.samples:,} values of counters"
        )
    else:
        request.note(f"{done.calls:,} calls")
    if done.moved:
        request.note(f"{done.moved:,} calls overlap with another one of their task: further tracks")
    if done.clipped:
        request.note(f"{done.clipped:,} calls start later than in the log, to fit on their track")
    if timeline and done.timeless:
        request.warn(f"{done.timeless:,} calls have no time, and are left out")
    if done.untimed and done.untimed == done.calls:
        request.warn(f"no call has a duration: {RECORD_DURATIONS}")
    if timeline and done.calls > MOST_SLICES:
        request.warn(
            f"{done.calls:,} calls: a browser holds about {MOST_SLICES:,}; take a part with --from "
            "and --to, or --match"
        )
