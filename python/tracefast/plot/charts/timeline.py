"""What happened when: bytes, calls, open files, waits."""

from collections.abc import Collection
from typing import TYPE_CHECKING, Final, Literal, get_args

import polars as pl

from tracefast._polars.given_events import rows_of
from tracefast.analysis.files.accesses import READS, TRANSFERS, WRITES
from tracefast.analysis.files.table import files
from tracefast.analysis.waits.table import waits
from tracefast.plot.altair import altair
from tracefast.plot.bounds import BINS, nanoseconds, seconds
from tracefast.plot.intervals import at_once, width_of

if TYPE_CHECKING:
    from altair import Chart, VConcatChart

    from tracefast._polars.given_events import Events

Measure = Literal["bytes", "calls", "open files", "waits"]
MEASURES: Final[tuple[Measure, ...]] = get_args(Measure)

_NEEDED: Final = ("kind", "name", "status", "ts", "dur_ns", "bytes")
_TITLES: Final = {
    "bytes": "bytes per second",
    "calls": "calls per second",
    "open files": "open files",
    "waits": "tasks that wait",
}
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
        What to measure. ``bytes`` and ``calls`` take two passes over the events; ``open files`` and
        ``waits`` one more each.
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
        close, or to the end of the log; waits of a millisecond or more, as in `tracefast.waits`.

    Raises
    ------
    ValueError
        There is no such measure.
    """
    if unknown := [name for name in measures if name not in MEASURES]:
        raise ValueError(f"measures are {', '.join(MEASURES)}; got {unknown[0]!r}")
    called = rows_of(events, _NEEDED, "tracefast.plot.timeline").filter(pl.col("ts").is_not_null())
    end = nanoseconds("ts") + pl.col("dur_ns").fill_null(0)
    first, last = (
        called.select(nanoseconds("ts").min().alias("a"), end.max().alias("b"))
        .collect(engine="streaming")
        .row(0)
    )
    if first is None:
        return _EMPTY.to_frame()
    width = width_of(first, last, bins)
    found = []
    if {"bytes", "calls"} & set(measures):
        found += _rates(called, first, width, bins, measures)
    if "open files" in measures:
        opened = files(events, by="open").filter(pl.col("ts_open").is_not_null())
        opens = opened.select(
            nanoseconds("ts_open").alias("start"),
            nanoseconds("ts_close").fill_null(last).alias("end"),
        )
        found.append(_series("open files", "open", at_once(opens, first, width, bins)))
    if "waits" in measures:
        waiting = waits(events).filter(pl.col("ts").is_not_null())
        lasted = pl.coalesce("dur_ns", "open_ns").fill_null(0)
        intervals = waiting.select(
            nanoseconds("ts").alias("start"), (nanoseconds("ts") + lasted).alias("end")
        )
        found.append(_series("waits", "waiting", at_once(intervals, first, width, bins)))
    start = first - (first if origin is None else origin) + pl.col("bin") * width
    return pl.concat(found).select(
        "measure",
        "series",
        seconds(start).alias("start_s"),
        seconds(start + width).alias("end_s"),
        "value",
    )


def _series(measure: str, series: str, values: pl.DataFrame) -> pl.DataFrame:
    return values.select(
        pl.lit(measure).alias("measure"), pl.lit(series).alias("series"), "bin", "value"
    )


def _rates(
    called: pl.LazyFrame, first: int, width: int, bins: int, measures: Collection[Measure]
) -> list[pl.DataFrame]:
    """Add up bytes and calls of each bin, in one pass."""
    kind, name = (pl.col(column).cast(pl.String) for column in ("kind", "name"))
    real = pl.col("status").cast(pl.String).ne_missing("injected")
    moves = kind.is_in(["syscall", "aio"]) & real
    # What copies from one descriptor to another reads and writes.
    by_way = {"read": READS, "written": [*WRITES, *TRANSFERS]}
    sums = (
        called.with_columns(((nanoseconds("ts") - first) // width).alias("bin"))
        .group_by("bin")
        .agg(
            (kind == "syscall").sum().cast(pl.Float64).alias("calls"),
            *(
                pl.when(name.is_in(names) & moves)
                .then(pl.col("bytes"))
                .sum()
                .cast(pl.Float64)
                .alias(way)
                for way, names in by_way.items()
            ),
        )
        .collect(engine="streaming")
    )
    each = pl.DataFrame({"bin": pl.int_range(bins, eager=True)}).join(sums, "bin", "left")
    per_second = each.with_columns(pl.col("calls", *by_way).fill_null(0) * (1_000_000_000 / width))
    wanted = {"bytes": list(by_way), "calls": ["calls"]}
    return [
        _series(measure, column, per_second.select("bin", pl.col(column).alias("value")))
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
            x=alt.X("start_s:Q", title="time (s)" if last else None, scale=alt.Scale(nice=False)),
            y=alt.Y(
                "value:Q",
                title=_TITLES[measure],
                stack=None,
                axis=alt.Axis(format="~s", tickCount=4),
            ),
            tooltip=[
                alt.Tooltip("series:N"),
                alt.Tooltip("start_s:Q", title="from (s)", format=".6f"),
                alt.Tooltip("end_s:Q", title="to (s)", format=".6f"),
                alt.Tooltip("value:Q", title=_TITLES[measure], format=".3~s"),
            ],
            **colour,
        )
        .properties(width=640, height=110)
    )
    return drawn
