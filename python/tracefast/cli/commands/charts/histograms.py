"""`--hist`: sizes and durations as histograms in text."""

import polars as pl

from tracefast.analysis.forks.table import forks
from tracefast.analysis.requests.each_request import each_request
from tracefast.analysis.waits.table import waits
from tracefast.cli.command_line.exit_codes import DONE, FAILED
from tracefast.cli.command_line.request import Request
from tracefast.cli.commands.charts.draw import matching_files, matching_names
from tracefast.cli.inputs.event_sources import run_analysis
from tracefast.cli.output.form import Format
from tracefast.cli.output.write import write_bytes, write_table
from tracefast.cli.system.colours import has_coloured_tables
from tracefast.cli.text.histogram import histograms
from tracefast.cli.text.units import duration
from tracefast.inputs.sources import STDIN
from tracefast.plot.charts import sizes
from tracefast.plot.histograms import bin_label, durations


def print_histograms(request: Request, command: str, *, match: str | None) -> int:
    """Print the histograms of a command and give the exit code.

    Parameters
    ----------
    request
        The options that all tables share.
    command
        The name of the command.
    match
        The pattern of paths or names that count; None for all.
    """

    def rows(events: pl.LazyFrame) -> pl.LazyFrame:
        return _rows(events, command, match).lazy()

    found, complete = run_analysis(request, rows, combinable=False)
    if found is None:
        return FAILED
    if found.is_empty():
        request.warn("nothing to count: the log shows nothing of this")
    if request.form is not Format.TABLE:
        write_table(found, request.form, request.output, found.columns, clobber=request.clobber)
    else:
        text = _text(found, bold=request.output == STDIN and has_coloured_tables())
        write_bytes(text.encode(), request.output, clobber=request.clobber)
    return DONE if complete else FAILED


def _text(found: pl.DataFrame, *, bold: bool) -> str:
    """Write histograms of durations, and then those of bytes."""
    if "way" in found.columns:
        found = found.with_columns(name=pl.format("bytes of {}s", "way"))
    parts = []
    for low, unit, label in (("low_ns", "ns", duration), ("low_bytes", "bytes", bin_label)):
        if low in found.columns:
            rows = found.filter(pl.col(low).is_not_null())
            parts.append(histograms(rows, "name", unit, label, bold=bold))
    return "\n".join(part for part in parts if part)


def _rows(events: pl.LazyFrame, command: str, pattern: str | None) -> pl.DataFrame:
    match command:
        case "files":
            return sizes.rows(
                events, files=None if pattern is None else matching_files(events, pattern)
            )
        case "blocks":
            requests = each_request(events)
            named = {
                what: requests.with_columns(pl.format(f"{what} of {{}} requests", "op").alias("op"))
                for what in ("latency", "size")
            }
            renamed = {"low_ns": "low_bytes", "high_ns": "high_bytes", "total_ns": "bytes"}
            return pl.concat(
                [
                    durations(named["latency"], "op", "latency"),
                    durations(named["size"], "op", "size").rename(renamed),
                ],
                how="diagonal",
            )
        case "forks":
            processes = forks(events).filter(pl.col("kind").ne_missing("thread"))
            return durations(processes, "kind", "call_ns")
        case "waits":
            return durations(waits(events, min_ns=0), "on", "dur_ns")
        case _:
            calls = events.filter(pl.col("kind").cast(pl.String) == "syscall")
            if pattern is not None:
                names = matching_names(events, pattern)
                calls = calls.filter(pl.col("name").cast(pl.String).is_in(names))
            return durations(calls, "name", "dur_ns")
