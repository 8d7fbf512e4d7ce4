"""Charts of commands, as files: SVG, PNG, a page."""

from collections.abc import Callable
from fnmatch import fnmatchcase
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from tracefast.analysis.files.find_path import PathNotFoundError, find_path, used_paths
from tracefast.cli.command_line.exit_codes import DONE, FAILED
from tracefast.cli.command_line.request import Request
from tracefast.cli.inputs.event_sources import run_analysis
from tracefast.cli.messages.errors import CommandError
from tracefast.cli.output.write import write_bytes
from tracefast.plot.altair import altair
from tracefast.plot.charts import batches, forks, gantt, latency, memory, offsets, sizes, timeline

if TYPE_CHECKING:
    from tracefast.plot.charts.timeline import Measure

SUFFIXES: Final = (".svg", ".png", ".html")
_CHARTS: Final = {
    "batches": batches,
    "forks": forks,
    "gantt": gantt,
    "latency": latency,
    "memory": memory,
    "offsets": offsets,
    "sizes": sizes,
    "timeline": timeline,
}
# What a timeline of a command is about.
_MEASURES: Final[dict[str, "tuple[Measure, ...]"]] = {
    "blocks": ("requests", "request bytes"),
    "files": ("bytes", "open files"),
    "syscalls": ("calls", "bytes"),
    "waits": ("waits", "calls"),
}
_PNG_SCALE: Final = 2.0


def draw(request: Request, command: str, kind: str, *, match: str | None) -> int:
    """Draw a chart of a command and give the exit code.

    Parameters
    ----------
    request
        The options that all tables share.
    command, kind
        Names of the command and of the chart.
    match
        The pattern of paths or names that are drawn; None for all, or for the file with the most
        bytes.

    Raises
    ------
    CommandError
        The output has no suffix of a picture, altair is missing, or no file matches.
    """
    suffix = PurePath(request.output).suffix.lower()
    if suffix not in SUFFIXES:
        raise CommandError(
            f"--plot {kind}: charts go into files",
            f"add -o FILE, with one of {', '.join(SUFFIXES)}",
        )
    try:
        altair()
    except ModuleNotFoundError as error:
        raise CommandError(
            f"--plot {kind}: altair is not installed", "run: pip install 'tracefast[report]'"
        ) from error
    title: list[str] = []
    rows, complete = run_analysis(
        request, _rows(command, kind, match, title.append), combinable=False
    )
    if rows is None:
        return FAILED
    if rows.is_empty():
        request.warn("nothing to draw: the log shows nothing of this")
    module: Any = _CHARTS[kind]
    if command == "blocks" and kind == "latency":
        chart = latency.chart_of_requests(rows)
    else:
        chart = module.chart(rows, title=title[-1]) if title else module.chart(rows)
    write_bytes(_encode(chart, suffix), request.output, clobber=request.clobber)
    return DONE if complete else FAILED


def _rows(
    command: str, kind: str, match: str | None, say: Callable[[str], None]
) -> Callable[[pl.LazyFrame], pl.LazyFrame]:
    """Choose what makes the rows of a chart out of events."""

    def rows(events: pl.LazyFrame) -> pl.DataFrame:
        if kind == "timeline":
            if command == "blocks":
                say("Requests to block devices over time")
            return timeline.rows(events, measures=_MEASURES[command])
        if kind == "offsets":
            name, files = _file(events, match)
            say(name)
            return offsets.rows(events, files)
        if kind == "sizes" and match is not None:
            return sizes.rows(events, files=matching_files(events, match))
        if kind == "latency" and command == "blocks":
            return latency.rows_of_requests(events, match=_device(match))
        if kind == "latency" and match is not None:
            return latency.rows(events, names=matching_names(events, match))
        module: Any = _CHARTS[kind]
        found: pl.DataFrame = module.rows(events)
        return found

    return lambda events: rows(events).lazy()


def _file(events: pl.LazyFrame, match: str | None) -> tuple[str, list[int]]:
    """Find the file to draw: the one that matches, or the one with the most bytes."""
    if match is None:
        return offsets.most_moved(events) or ("", [])
    try:
        return find_path(used_paths(events), match)
    except PathNotFoundError as error:
        raise CommandError(f"--match {error.message}", error.hint) from error


def matching_files(events: pl.LazyFrame, pattern: str) -> list[int]:
    """Give the identities of files whose path, or its last name, matches a pattern."""
    paths = used_paths(events)
    return [file for path, files in paths.items() if _matches(path, pattern) for file in files]


def matching_names(events: pl.LazyFrame, pattern: str) -> list[str]:
    """Give the names of calls and events that match a pattern."""
    names = events.select(pl.col("name").cast(pl.String).unique().drop_nulls()).collect()
    return [name for name in names["name"] if _matches(name, pattern)]


def _device(pattern: str | None) -> Callable[[str], bool] | None:
    """Say of devices whether they match."""
    return None if pattern is None else partial(_matches, pattern=pattern)


def _matches(value: str, pattern: str) -> bool:
    return fnmatchcase(value, pattern) or fnmatchcase(value.rpartition("/")[2], pattern)


def _encode(chart: Any, suffix: str) -> bytes:  # noqa: ANN401 - any chart of altair
    spec = chart.to_dict()
    if suffix == ".html":
        from tracefast.page.shell import chart_page

        # The page has the title above the chart.
        return chart_page(spec, spec.pop("title")).encode()
    import vl_convert

    if suffix == ".png":
        picture: bytes = vl_convert.vegalite_to_png(spec, scale=_PNG_SCALE)
        return picture
    text: str = vl_convert.vegalite_to_svg(spec)
    return text.encode()
