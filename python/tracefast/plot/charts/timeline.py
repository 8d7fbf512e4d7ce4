"""What happened when: bytes, calls, open files, waits, requests to block devices."""

from collections.abc import Collection
from typing import TYPE_CHECKING, Final, Literal, get_args

import polars as pl

from tracefast import _core
from tracefast._polars.folds import finished, fold_together, rows_of_fold
from tracefast._polars.given_events import rows_of
from tracefast.analysis.files.accesses import READS, TRANSFERS, WRITES
from tracefast.analysis.requests.each_request import each_request
from tracefast.analysis.waits import MIN_NS
from tracefast.plot.altair import altair
from tracefast.plot.bounds import BINS, nanoseconds, seconds
from tracefast.plot.form import SECONDS, SHORT, WIDTH, amounts, time_axis, tooltip
from tracefast.plot.intervals import at_once, width_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from altair import Chart, VConcatChart

    from tracefast._polars.given_events import Events

Measure = Literal["bytes", "calls", "open files", "waits", "requests", "request bytes"]
# Those of programs; the others are of block devices.
MEASURES: Final[tuple[Measure, ...]] = ("bytes", "calls", "open files", "waits")

_NEEDED: Final = ("kind", "name", "status", "ts", "dur_ns", "bytes")
_TITLES: Final = {
    "bytes": "bytes per second",
    "calls": "calls per second",
    "open files": "open files",
    "waits": "tasks that wait",
    "requests": "open requests",
    "request bytes": "bytes per second",
    "processes": "processes",
}
_HEIGHT: Final = 110
# Ways of bytes, and the calls that move them: what copies from one descriptor to another reads and
# writes.
WAYS: Final = {"read": READS, "written": [*WRITES, *TRANSFERS]}
_EMPTY: Final = pl.Schema(
    {
        "measure": pl.String(),
        "series": pl.String(),
        "start_s": pl.Float64(),
        "end_s": pl.Float64(),
        "value": pl.Float64(),
    }
)


def rows(
    events: "Events",
    *,
    measures: Collection[Measure] = MEASURES,
    bins: int = BINS,
    origin: int | None = None,
) -> pl.DataFrame:
    """Measure equal stretches of time.

    Parameters
    ----------
    events
        The events of a log or of Parquet files.
    measures
        What to measure. ``bytes`` and ``calls`` take a second pass over the events.
    bins
        How many stretches there are.
    origin
        The nanosecond, on the clock of the log, that is second 0; None for the first event.

    Returns
    -------
    polars.DataFrame
        `measure`, `series`, `start_s`, `end_s`, `value`. ``bytes`` (`series` ``read``, ``written``)
        and ``calls`` are per second, counted where the calls were entered. ``open files`` and
        ``waits`` are how many there were at once, on average: files from their open to their last
        close, or to the end of the log; waits of a millisecond or more, as in `tracefast.waits`;
        ``requests`` to block devices from their issue to their completion, by operation; those
        whose completion the log does not have are left out.
        ``request bytes`` are what was asked of the devices per second, where it was issued.

    Raises
    ------
    ValueError
        There is no such measure.
    """
    if unknown := [name for name in measures if name not in get_args(Measure)]:
        raise ValueError(f"measures are {', '.join(get_args(Measure))}; got {unknown[0]!r}")
    called = rows_of(events, _NEEDED, "tracefast.plot.timeline").filter(pl.col("ts").is_not_null())
    tables = _tables(events, measures)
    times = tables["times"].select(nanoseconds("first").min(), nanoseconds("end").max())
    first, last = times.row(0)
    if first is None:
        return _EMPTY.to_frame()
    width = width_of(first, last, bins)
    found = []
    if {"bytes", "calls"} & set(measures):
        found += _rates(called, first, width, bins, measures)
    if "open files" in measures:
        opens = (
            tables["open files"]
            .filter(pl.col("ts_open").is_not_null())
            .select(
                nanoseconds("ts_open").alias("start"),
                nanoseconds("ts_close").fill_null(last).alias("end"),
            )
        )
        found.append(series("open files", "open", at_once(opens.lazy(), first, width, bins)))
    if "waits" in measures:
        waiting = tables["waits"].filter(pl.col("ts").is_not_null())
        lasted = pl.coalesce("dur_ns", "open_ns").fill_null(0)
        intervals = waiting.select(
            nanoseconds("ts").alias("start"), (nanoseconds("ts") + lasted).alias("end")
        )
        found.append(series("waits", "waiting", at_once(intervals.lazy(), first, width, bins)))
    if {"requests", "request bytes"} & set(measures):
        found += _requests(events, first, width, bins, measures)
    if not found:
        return _EMPTY.to_frame()
    return at_times(found, first - (first if origin is None else origin), width)


def _requests(
    events: "Events", first: int, width: int, bins: int, measures: Collection[Measure]
) -> list[pl.DataFrame]:
    """Measure requests to block devices, by operation."""
    asked = each_request(events).filter(pl.col("ts").is_not_null()).collect()
    # Where the log has no completion, it is open how long a request was in flight.
    spans = asked.filter(pl.col("latency") >= 0).select(
        "op", start=nanoseconds("ts"), end=nanoseconds("ts") + pl.col("latency")
    )
    in_bin = ((nanoseconds("ts") - first) // width).clip(0, bins - 1).alias("bin")
    sums = asked.group_by("op", in_bin).agg(pl.col("size").sum())
    every = asked.select("op").unique(maintain_order=True)
    every = every.join(pl.DataFrame({"bin": pl.int_range(bins, eager=True)}), how="cross")
    rate = (pl.col("size").fill_null(0) * (1e9 / width)).alias("value")
    rates = every.join(sums, ["op", "bin"], "left", maintain_order="left")
    found = {
        "requests": at_once(spans.lazy(), first, width, bins, ["op"]),
        "request bytes": rates.select("op", "bin", rate),
    }
    return [
        series(measure, op, rows)
        for measure, table in found.items()
        if measure in measures
        for (op,), rows in table.partition_by("op", maintain_order=True, as_dict=True).items()
    ]


def _tables(events: "Events", measures: Collection[Measure]) -> dict[str, pl.DataFrame]:
    """Make the tables of some measures and the `times` of tasks, in one pass over the events."""
    makers: dict[str, Callable[[], _core.Fold]] = {"times": _core.TaskTally}
    if "open files" in measures:
        makers["open files"] = lambda: _core.Files(by="open")
    if "waits" in measures:
        makers["waits"] = lambda: _core.Waits(min_ns=MIN_NS)
    passing = fold_together(events, list(makers.values()), question="tracefast.plot.timeline")
    folds = finished(passing)
    return {name: rows_of_fold(fold) for name, fold in zip(makers, folds, strict=True)}


def series(measure: str, name: str, values: pl.DataFrame) -> pl.DataFrame:
    """Name what was measured in each bin, which is `bin` and `value`."""
    return values.select(
        pl.lit(measure).alias("measure"), pl.lit(name).alias("series"), "bin", "value"
    )


def at_times(found: "Sequence[pl.DataFrame]", start: int, width: int) -> pl.DataFrame:
    """Give the rows of a chart for series, of which the first bin starts at a nanosecond."""
    at = start + pl.col("bin") * width
    return pl.concat(found).select(
        "measure",
        "series",
        seconds(at).alias("start_s"),
        seconds(at + width).alias("end_s"),
        "value",
    )


def real_bytes() -> pl.Expr:
    """Give the bytes of events that moved some: not what strace made up."""
    real = pl.col("status").cast(pl.String).ne_missing("injected")
    moves = pl.col("kind").cast(pl.String).is_in(["syscall", "aio"])
    return pl.when(real & moves).then(pl.col("bytes")).alias("bytes")


def moved_bytes() -> list[pl.Expr]:
    """Give the sums of `bytes` by `name` that were `read` and `written`."""
    # Only now, as there are fewer sums than events.
    return [
        pl.col("bytes").filter(pl.col("name").is_in(names)).sum().alias(way)
        for way, names in WAYS.items()
    ]


def _rates(
    called: pl.LazyFrame, first: int, width: int, bins: int, measures: Collection[Measure]
) -> list[pl.DataFrame]:
    """Add up bytes and calls of each bin, in one pass."""
    calls = (pl.col("kind").cast(pl.String) == "syscall").sum().alias("calls")
    sums = (
        called.with_columns(((nanoseconds("ts") - first) // width).alias("bin"))
        .group_by("bin", pl.col("name").cast(pl.String))
        .agg(calls, real_bytes().sum())
        .collect(engine="streaming")
        .group_by("bin")
        .agg(pl.col("calls").sum(), *moved_bytes())
    )
    return rates_of_sums(sums, width, bins, measures)


def rates_of_sums(
    sums: pl.DataFrame, width: int, bins: int, measures: Collection[Measure]
) -> list[pl.DataFrame]:
    """Give the series of bytes and calls for sums by `bin`: `calls`, `read`, `written`."""
    each = pl.DataFrame({"bin": pl.int_range(bins, eager=True)}).join(sums, "bin", "left")
    wanted = {"bytes": list(WAYS), "calls": ["calls"]}
    of_second = 1_000_000_000 / width
    per_second = each.with_columns(pl.col("calls", *WAYS).fill_null(0).cast(pl.Float64) * of_second)
    return [
        series(measure, column, per_second.select("bin", pl.col(column).alias("value")))
        for measure, columns in wanted.items()
        if measure in measures
        for column in columns
    ]


def chart(rows: pl.DataFrame, *, title: str = "Over time") -> "VConcatChart":
    """Draw the rows: one panel below the other for each measure, on one axis of time."""
    alt = altair()
    shown = rows["measure"].unique(maintain_order=True).to_list() or [MEASURES[0]]
    panels = [panel(rows, measure, last=measure == shown[-1]) for measure in shown]
    drawn: VConcatChart = alt.vconcat(*panels, title=title).resolve_scale(
        x="shared", color="independent"
    )
    return drawn


def panel(rows: pl.DataFrame, measure: str, *, last: bool = True) -> "Chart":
    """Draw one measure: an area of steps for each series.

    Parameters
    ----------
    rows
        What `rows` gave.
    measure
        Which measure.
    last
        No panel follows below, so that this one names the axis of time.
    """
    alt = altair()
    shown = rows.filter(pl.col("measure") == measure)
    several = shown["series"].n_unique() > 1
    colour = {"color": alt.Color("series:N", title=None, sort=None)} if several else {}
    drawn: Chart = (
        alt.Chart(shown)
        .mark_area(interpolate="step-after", opacity=0.6, line=True)
        .encode(
            x=time_axis("start_s", title="time (s)" if last else None),
            y=alt.Y(
                "value:Q",
                title=_TITLES[measure],
                stack=None,
                axis=amounts(tickCount=4),
            ),
            tooltip=tooltip(
                "series",
                ("start_s", "from (s)", SECONDS),
                ("end_s", "to (s)", SECONDS),
                ("value", _TITLES[measure], SHORT),
            ),
            **colour,
        )
        .properties(width=WIDTH, height=_HEIGHT)
    )
    return drawn
