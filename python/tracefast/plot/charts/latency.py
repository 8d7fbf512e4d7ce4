"""How long calls took."""

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Final

import polars as pl

from tracefast._polars.given_events import rows_of
from tracefast.analysis.requests.each_request import each_request
from tracefast.plot.altair import altair
from tracefast.plot.bounds import SERIES, seconds
from tracefast.plot.form import COUNT, HEIGHT, SHORT, WIDTH, count_axis, tooltip
from tracefast.plot.histograms import durations, longest

if TYPE_CHECKING:
    from altair import Chart

    from tracefast._polars.given_events import Events

_NEEDED: Final = ("kind", "name", "dur_ns")


def rows(
    events: "Events", *, names: Collection[str] | None = None, most: int = SERIES
) -> pl.DataFrame:
    """Count system calls by their duration, in one pass.

    Parameters
    ----------
    events
        The events of a log or of Parquet files.
    names
        The only calls that count; None for all.
    most
        How many names there may be: those that took the longest, added up.

    Returns
    -------
    polars.DataFrame
        `name`, the longest sum first; `low_s`, `high_s` (the bin holds what is at least `low_s` and
        less than `high_s`), `calls`, `total_s`, `below_share`: the share of the calls of this name
        that took less than `high_s`.
    """
    called = rows_of(events, _NEEDED, "tracefast.plot.latency").filter(
        pl.col("kind").cast(pl.String) == "syscall",
        True if names is None else pl.col("name").cast(pl.String).is_in(list(names)),
    )
    return _with_shares(durations(called, "name", "dur_ns", most))


def rows_of_requests(
    events: "Events", *, match: Callable[[str], bool] | None = None
) -> pl.DataFrame:
    """Count requests to block devices by the time that they took, as `rows` counts calls.

    Parameters
    ----------
    events
        The events of a log of ftrace.
    match
        Says of a device whether its requests count; None for all.

    Returns
    -------
    polars.DataFrame
        As that of `rows`; `name` is what was asked for, such as ``read``.
    """
    requests = each_request(events)
    if match is not None:
        devices = requests.select(pl.col("dev").unique()).collect()["dev"].drop_nulls()
        requests = requests.filter(pl.col("dev").is_in([one for one in devices if match(one)]))
    return _with_shares(durations(requests, "op", "latency"))


def rows_of_counts(counts: pl.DataFrame, *, most: int = SERIES) -> pl.DataFrame:
    """Give the rows of a chart for `name`, `low_ns`, `calls` and `total_ns`, as `rows` does."""
    return _with_shares(longest(counts, most))


def _with_shares(counted: pl.DataFrame) -> pl.DataFrame:
    below = pl.col("calls").cum_sum().over("name") / pl.col("calls").sum().over("name")
    return counted.select(
        "name",
        seconds(pl.col("low_ns")).alias("low_s"),
        seconds(pl.col("high_ns")).alias("high_s"),
        "calls",
        seconds(pl.col("total_ns")).alias("total_s"),
        below.alias("below_share"),
    )


def chart(
    rows: pl.DataFrame,
    *,
    title: str = "Durations of system calls",
    noun: str = "call",
    cumulative: bool = False,
) -> "Chart":
    """Draw the rows: a histogram for each name, on logarithmic axes.

    Parameters
    ----------
    rows
        What `rows` gave.
    title
        What is above the chart.
    noun
        What took so long.
    cumulative
        Draw which share of the calls took less than so long, in place of how many took so long.
    """
    alt = altair()
    time, words = ("high_s", "less than") if cumulative else ("low_s", "at least")
    share = alt.Y("below_share:Q", title=f"share of the {noun}s", axis=alt.Axis(format="%"))
    calls = count_axis("calls", title=f"{noun}s")
    lines = rows
    if cumulative:
        # Of a clock that counts microseconds, 0 is not less than a nanosecond: the next point
        # counts these calls, too.
        last = pl.col("high_s") == pl.col("high_s").max().over("name")
        lines = lines.filter((pl.col("low_s") > 0) | last)
    # A logarithmic axis has no 0, and a nanosecond is the least that a log can say.
    lines = lines.with_columns(pl.col("low_s").clip(1e-9))
    drawn: Chart = (
        alt.Chart(lines, title=title)
        .mark_line(point=True)
        .encode(
            x=alt.X(
                f"{time}:Q",
                title=f"duration, {words} (s)",
                scale=alt.Scale(type="log"),
                axis=alt.Axis(format="~s", tickCount=8),
            ),
            y=share if cumulative else calls,
            color=alt.Color("name:N", title=noun, sort=None),
            tooltip=tooltip(
                ("name", noun),
                ("low_s", "at least (s)", SHORT),
                ("high_s", "less than (s)", SHORT),
                ("calls", f"{noun}s", COUNT),
                ("total_s", "added up (s)", SHORT),
                ("below_share", "this or less", ".1%"),
            ),
        )
        .properties(width=WIDTH, height=HEIGHT)
    )
    return drawn


def chart_of_requests(rows: pl.DataFrame) -> "Chart":
    """Draw what `rows_of_requests` gave, as `chart` does."""
    return chart(rows, title="Latencies of requests to block devices", noun="request")
