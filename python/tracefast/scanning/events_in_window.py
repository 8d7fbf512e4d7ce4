"""Which events are in a window of time, by the clock of each log."""

import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import groupby
from typing import Final

import polars as pl

from tracefast import _core
from tracefast.inputs.contents import is_pipe
from tracefast.reading import FormatIn, Machine
from tracefast.scanning.sources import Inputs, scan_inputs
from tracefast.scanning.time_window import MIN_EPOCH_S, Moment, Since, Window, not_possible

_S: Final = 1_000_000_000
_DAY: Final = 86_400 * _S
_TIME: Final = pl.Datetime("ns")
# Clocks that show neither the day nor the time of day.
_CLOCKS_WITHOUT_DAY: Final = {"uptime", "ticks", "delta"}


@dataclass(frozen=True)
class Span:
    """The times of one log, in nanoseconds on its clock."""

    first: int
    last: int
    clock: str | None


def in_window(
    events: pl.LazyFrame,
    window: Window,
    inputs: Inputs,
    names: Sequence[str],
    *,
    format_in: FormatIn | None = None,
    machine: Machine | None = None,
    storage_options: Mapping[str, str] | None = None,
) -> pl.Expr:
    """Say which events start in a window of time.

    Parameters
    ----------
    events
        The events of the inputs.
    window
        The window, with at least one limit.
    inputs
        What is known of the inputs.
    names
        The inputs. They are read once more where their first and last times are needed.
    format_in, machine, storage_options
        As for :func:`tracefast.scan`.

    Raises
    ------
    Error
        A log has no times, or its clock does not show what the window needs.

    Examples
    --------
    >>> import tracefast as tf
    >>> names = ["demo.strace"]
    >>> events, window = tf.scan(names), Window.parse("0.0001", "0.0004")
    >>> part = in_window(events, window, Inputs.of(names), names)
    >>> events.filter(part).select("name").collect()["name"].to_list()
    ['read', 'read', 'close']
    """
    conditions: list[pl.Expr] = []
    spans: dict[str, Span] = {}
    if any(moment.since in {Since.START, Since.MIDNIGHT} for moment in window.moments):
        limits = " and ".join(moment.text for moment in window.moments)
        for pipe in filter(is_pipe, names):
            raise not_possible(
                f"{limits}: {pipe} is a pipe, which can be read only once",
                "give times on its own clock (@1700000000.5), or convert it with tracefast.parse",
            )
        found = _spans(inputs, names, format_in, machine, storage_options)
        spans = dict(found)
        if not spans:
            raise not_possible(
                f"{limits}: no times in {', '.join(names)}",
                "leave it out, or record with strace -ttt",
            )
    elif any(moment.since is Since.EPOCH for moment in window.moments):
        _check_dates(events, window)
    if window.start is not None:
        conditions.append(pl.col("ts") >= _limit(spans, window.start))
    if window.end is not None:
        conditions.append(pl.col("ts") < _limit(spans, window.end, end=True))
    return reduce(operator.and_, conditions)


def _limit(spans: dict[str, Span], moment: Moment, *, end: bool = False) -> pl.Expr:
    """Give the limit of each row, which is that of its log."""
    if moment.since in {Since.EPOCH, Since.CLOCK}:
        return pl.lit(moment.ns, dtype=_TIME)
    limits = {name: _resolve(moment, span, end=end) for name, span in spans.items()}
    if len(limits) == 1:
        return pl.lit(next(iter(limits.values())), dtype=_TIME)
    source = pl.col("source").cast(pl.String)
    found = source.replace_strict(limits, default=None, return_dtype=pl.Int64)
    return found.cast(_TIME)


def _resolve(moment: Moment, span: Span, *, end: bool) -> int:
    if moment.since is Since.START:
        return span.first + moment.ns
    if span.clock in _CLOCKS_WITHOUT_DAY:
        raise not_possible(
            f"{moment.text}: the log has no time of day, its clock is {span.clock}",
            "give seconds since its start (12.5), or @ and seconds on its clock",
        )
    time = span.first // _DAY * _DAY + moment.ns
    if time >= span.first:
        return time
    # It is on the next day if the log goes on until then; an end may be later on the last day.
    log_end = (span.last // _DAY + 1) * _DAY - 1 if end else span.last
    return time + _DAY if time + _DAY <= log_end else time


def _spans(
    inputs: Inputs,
    names: Sequence[str],
    format_in: FormatIn | None,
    machine: Machine | None,
    storage_options: Mapping[str, str] | None,
) -> Iterator[tuple[str, Span]]:
    """Find the first and the last time of each log that has times."""
    for content, run in groupby(names, inputs.contents.__getitem__):
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
            rows = scan_inputs(inputs, files, storage_options=storage_options)
            table = _extremes(rows).lazy()
            for file in files:
                clocks |= _clocks(inputs, file)
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


def _clocks(inputs: Inputs, name: str) -> dict[str, str]:
    """Give the clocks of the logs that a Parquet or Arrow file was made from, if it has them."""
    named = name in inputs.shared
    clocks = inputs.files[name].clocks if name in inputs.files else {}
    return {f"{name}:{log}" if named else log: clock for log, clock in clocks.items()}


def _check_dates(events: pl.LazyFrame, window: Window) -> None:
    """Refuse dates if the first time of the events has none."""
    first = events.select("ts").filter(pl.col("ts").is_not_null()).head(1)
    found = first.collect(engine="streaming")["ts"].cast(pl.Int64)
    if found.len() and found[0] < MIN_EPOCH_S * _S:
        text = next(moment.text for moment in window.moments if moment.since is Since.EPOCH)
        raise not_possible(
            f"{text}: the log has no dates, its first time is {found[0] / _S:.6f} s",
            "give seconds since its start (12.5), a time of day (14:05:30) if it has one, or @ "
            "and seconds on its clock",
        )
