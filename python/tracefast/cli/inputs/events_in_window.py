"""Events of a part of the time: what `--from` and `--to` mean for the logs at hand."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Final

import polars as pl

import tracefast
from tracefast import _core
from tracefast.cli.command_line.time_window import EPOCH_LOGS, Moment, Since, Window
from tracefast.cli.messages.errors import CommandError
from tracefast.inputs.contents import sniff
from tracefast.reading import FormatIn, Machine

_S: Final = 1_000_000_000
_DAY: Final = 86_400 * _S
_TIME: Final = pl.Datetime("ns")
# Clocks that do not show which day it was, nor what time.
_NO_DAY: Final = {"uptime", "ticks", "delta"}


@dataclass(frozen=True)
class Span:
    """The times of one log, in nanoseconds on its clock."""

    first: int
    last: int
    clock: str | None


def within(
    events: pl.LazyFrame,
    window: Window,
    names: list[str],
    *,
    format_in: FormatIn | None = None,
    machine: Machine | None = None,
) -> pl.LazyFrame:
    """Keep the events of a part of the time: those that began in it.

    Parameters
    ----------
    events
        The events of the logs.
    window
        From when to when.
    names
        The logs or files: those whose start matters are read once more.
    format_in, machine
        As for :func:`tracefast.scan`.

    Raises
    ------
    CommandError
        A log has no times, or none of this kind.

    Examples
    --------
    >>> events = tracefast.scan("demo.strace")
    >>> part = within(events, Window.of("0.0001", "0.0004"), ["demo.strace"])
    >>> part.select("name").collect()["name"].to_list()
    ['read', 'read', 'close']
    """
    if not window:
        return events
    if any(moment.since in {Since.START, Since.MIDNIGHT} for moment in window.moments):
        spans = dict(_spans(names, format_in, machine))
        if not spans:
            raise CommandError(
                f"--from and --to: no times in {', '.join(names)}",
                "record with strace -ttt, and leave the options out here",
            )
    else:
        spans = {}
        if any(moment.since is Since.EPOCH for moment in window.moments):
            _check_dates(events, window)
    if window.start is not None:
        events = events.filter(pl.col("ts") >= _limit(spans, window.start))
    if window.end is not None:
        events = events.filter(pl.col("ts") < _limit(spans, window.end, end=True))
    return events


def _limit(spans: dict[str, Span], moment: Moment, *, end: bool = False) -> pl.Expr:
    """Give the limit of each row: that of its log."""
    if moment.since in {Since.EPOCH, Since.CLOCK}:
        return pl.lit(moment.ns, dtype=_TIME)
    limits = {name: _placed(moment, span, end=end) for name, span in spans.items()}
    if len(limits) == 1:
        return pl.lit(next(iter(limits.values())), dtype=_TIME)
    source = pl.col("source").cast(pl.String)
    found = source.replace_strict(limits, default=None, return_dtype=pl.Int64)
    return found.cast(_TIME)


def _placed(moment: Moment, span: Span, *, end: bool) -> int:
    if moment.since is Since.START:
        return span.first + moment.ns
    if span.clock in _NO_DAY:
        raise CommandError(
            f"{moment.text}: the log shows no time of day, its clock is {span.clock}",
            "give seconds since its start (12.5), or @ and seconds on its clock",
        )
    placed = span.first // _DAY * _DAY + moment.ns
    if placed >= span.first:
        return placed
    # Of the next day, if the log goes on until then; of an end, until some time of that day.
    reached = (span.last // _DAY + 1) * _DAY - 1 if end else span.last
    return placed + _DAY if placed + _DAY <= reached else placed


def _spans(
    names: list[str], format_in: FormatIn | None, machine: Machine | None
) -> Iterator[tuple[str, Span]]:
    """Find the first and the last time of each log that has any."""
    for content, run in groupby(names, sniff):
        files = list(run)
        clocks: dict[str, str] = {}
        if content == "log":
            with _core.Reader(
                files, format_in=format_in, machine=machine, columns=["source", "ts"]
            ) as reader:
                parts = [_extremes(pl.DataFrame(batch).lazy()) for batch in reader]
                report = reader.report
            found = pl.concat(parts).lazy() if parts else _extremes(None).lazy()
            if report is not None:
                clocks = {log["source"]: log["clock"] for log in report.sources}
            table = found.group_by("source").agg(pl.col("first").min(), pl.col("last").max())
        else:
            table = _extremes(tracefast.scan(files)).lazy()
            for file in files:
                clocks |= _clocks(file)
        for source, first, last in table.collect().rows():
            if first is not None:
                yield source, Span(first, last, clocks.get(source))


def _extremes(events: pl.LazyFrame | None) -> pl.DataFrame:
    if events is None:
        return pl.DataFrame(schema={"source": pl.String, "first": pl.Int64, "last": pl.Int64})
    ts = pl.col("ts").cast(pl.Int64)
    return (
        events.group_by(pl.col("source").cast(pl.String))
        .agg(ts.min().alias("first"), ts.max().alias("last"))
        .collect(engine="streaming")
    )


def _clocks(file: str) -> dict[str, str]:
    """Give the clocks of the logs that a file of columns was made of, as far as it tells."""
    report = json.loads(_core.metadata(file).get("tracefast.report", "{}"))
    return {log["source"]: log["clock"] for log in report.get("sources", [])}


def _check_dates(events: pl.LazyFrame, window: Window) -> None:
    """Refuse dates where the first time of the events has none."""
    first = events.select("ts").filter(pl.col("ts").is_not_null()).head(1)
    found = first.collect(engine="streaming")["ts"].cast(pl.Int64)
    if found.len() and found[0] < EPOCH_LOGS * _S:
        text = next(moment.text for moment in window.moments if moment.since is Since.EPOCH)
        raise CommandError(
            f"{text}: the log has no dates, its first time is {found[0] / _S:.6f} s",
            "give seconds since its start (12.5), a time of day (14:05:30) if it shows that, or @ "
            "and seconds on its clock",
        )
