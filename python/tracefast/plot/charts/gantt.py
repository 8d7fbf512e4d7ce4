"""When each process lived, and which programs it executed."""

from typing import TYPE_CHECKING, Final

import polars as pl

from tracefast import _core
from tracefast._polars.given_events import rows_of
from tracefast.analysis.processes import processes
from tracefast.plot.altair import altair
from tracefast.plot.bounds import nanoseconds, origin_of, seconds, short_names
from tracefast.plot.form import COUNT, SECONDS, WIDTH, time_axis, tooltip

if TYPE_CHECKING:
    from altair import LayerChart

    from tracefast._polars.given_events import Events

BARS: Final = 60
MARKS: Final = 200
# Pixels of a line.
LANE: Final = 16
_EXECS: Final = _core.syscalls_that("execs")
_NEEDED: Final = ("kind", "name", "ret", "ts", "dur_ns", "pid", "path", "source")
_MOMENTS: Final = pl.Schema(
    {"source": pl.String(), "pid": pl.Int32(), "at": pl.Int64(), "program": pl.String()}
)


def rows(
    events: "Events", *, bars: int = BARS, marks: int = MARKS, origin: int | None = None
) -> pl.DataFrame:
    """Give the processes, children of one kind together where there are many, and their execves.

    Parameters
    ----------
    events
        The events of a log or of Parquet files.
    bars, marks
        How many processes, and how many calls of execve, there may be.
    origin
        The nanosecond, on the clock of the log, that is second 0; None for the first start.

    Returns
    -------
    polars.DataFrame
        `mark`: ``process`` or ``exec``; `lane` and `label`: the line of the chart; `source`, `pid`
        (null for several), `program`, `start_s`, `end_s`, `processes`: how many the bar is for,
        `end`: how they ended, null for several and where the log does not show it. The bar of a
        process without an end in the log reaches to the last event.
    """
    called = rows_of(events, _NEEDED, "tracefast.plot.gantt")
    end = nanoseconds("ts") + pl.col("dur_ns").fill_null(0)
    execs = called.filter(
        pl.col("kind").cast(pl.String) == "syscall",
        pl.col("name").cast(pl.String).is_in(_EXECS),
        pl.col("ret") == 0,
        pl.col("ts").is_not_null(),
    ).select(
        pl.col("source").cast(pl.String),
        "pid",
        end.alias("at"),
        pl.col("path").cast(pl.String).alias("program"),
    )
    last = called.group_by(pl.col("source").cast(pl.String)).agg(end.max().alias("last"))
    found, ends = pl.collect_all([execs, last], engine="streaming")
    return rows_of_table(
        processes(events).collect(), found, ends, bars=bars, marks=marks, origin=origin
    )


def rows_of_table(
    table: pl.DataFrame,
    execs: pl.DataFrame | None = None,
    ends: pl.DataFrame | None = None,
    *,
    bars: int = BARS,
    marks: int = MARKS,
    origin: int | None = None,
) -> pl.DataFrame:
    """Give the rows of a chart for rows of `tracefast.processes`, as `rows` does.

    Parameters
    ----------
    table
        The processes.
    execs
        `source`, `pid`, `at` (nanoseconds), `program`: the calls of execve that succeeded.
    ends
        `source`, `last` (nanoseconds): the last moment of each log; None for that of the processes.
    bars, marks, origin
        As for `rows`.
    """
    start, stop = nanoseconds("ts_start"), nanoseconds("ts_end")
    if ends is None:
        latest = pl.max_horizontal(start.max(), stop.max()).alias("last")
        ends = table.group_by("source").agg(latest)
    single = (
        table.filter(pl.col("ts_start").is_not_null())
        .join(ends, on="source", how="left")
        .with_columns(
            start.alias("start"),
            pl.max_horizontal(pl.coalesce(stop, "last"), start).alias("stop"),
            pl.coalesce("image", "comm").alias("program"),
            _end().alias("end"),
        )
        .select("source", "task", "pid", "parent_task", "program", "start", "stop", "end")
    )
    zero = origin_of(single["start"], origin)
    bar = _labelled(_bars(single, bars))
    moments = (_MOMENTS.to_frame() if execs is None else execs).filter(pl.col("at").is_not_null())
    mark = _on_bars(moments, bar).head(marks)
    return (
        pl.concat(
            [
                bar.select(pl.lit("process").alias("mark"), *_SHOWN),
                mark.select(pl.lit("exec").alias("mark"), *_SHOWN),
            ],
            how="vertical_relaxed",
        )
        .with_columns(
            seconds(pl.col("start") - zero).alias("start_s"),
            seconds(pl.col("stop") - zero).alias("end_s"),
        )
        .drop("start", "stop")
    )


_SHOWN: Final = (
    *("lane", "label", "source", "pid", "program", "start", "stop", "processes", "end"),
)


def _end() -> pl.Expr:
    return (
        pl.when(pl.col("exit_signal").is_not_null())
        .then(pl.format("killed by {}", pl.col("exit_signal").cast(pl.String)))
        .when(pl.col("exit_status").is_not_null())
        .then(pl.format("exit status {}", pl.col("exit_status")))
    )


def _bars(single: pl.DataFrame, most: int) -> pl.DataFrame:
    """Join children that ran one program: of one parent, of one program, then the shortest."""
    one = pl.len() == 1
    joined = [
        *(pl.when(one).then(pl.col(name).first()).alias(name) for name in ("pid", "end")),
        pl.col("start").min(),
        pl.col("stop").max(),
        pl.len().alias("processes"),
    ]
    if single.height <= most:
        return single.with_columns(pl.lit(1, pl.UInt32).alias("processes"))
    makers = single.select("source", parent_task="task", parent="program")
    single = single.join(makers, on=["source", "parent_task"], how="left", maintain_order="left")
    for maker in ("parent_task", "parent"):
        by = ["source", maker, "program"]
        alike = single.group_by(by, maintain_order=True).agg(*joined)
        if alike.height <= most:
            return alike
    ranked = alike.sort(pl.col("stop") - pl.col("start"), descending=True, maintain_order=True)
    rest = ranked.slice(most - 1).select(
        pl.lit(None, pl.String).alias("source"),
        pl.lit(None, pl.String).alias("parent"),
        pl.lit("others").alias("program"),
        pl.lit(None, pl.Int32).alias("pid"),
        pl.lit(None, pl.String).alias("end"),
        pl.col("start").min(),
        pl.col("stop").max(),
        pl.col("processes").sum(),
    )
    return pl.concat([ranked.head(most - 1), rest], how="vertical_relaxed")


def _labelled(bars: pl.DataFrame) -> pl.DataFrame:
    """Put the bars in order of their start, and give each a name of its own."""
    name = pl.col("program").fill_null("?").str.split("/").list.last()
    if bars["source"].drop_nulls().n_unique() > 1:
        name = pl.format("{}{}", pl.format("{}: ", "source").fill_null(""), name)
    single = pl.format("{} {}", pl.col("pid").cast(pl.String).fill_null("?"), name)
    label = (
        pl.when(pl.col("processes") == 1)
        .then(single)
        .otherwise(pl.format("{}x {}", pl.col("processes"), name))
    )
    named = (
        bars.sort("start", "stop", descending=[False, True], maintain_order=True)
        .with_row_index("lane")
        .with_columns(label.alias("label"))
        .with_columns(short_names("label"))
    )
    again = pl.int_range(pl.len()).over("label")
    return named.with_columns(
        pl.when(again > 0)
        .then(pl.format("{} ({})", pl.col("label"), again + 1))
        .otherwise(pl.col("label"))
        .alias("label")
    )


def _on_bars(execs: pl.DataFrame, bars: pl.DataFrame) -> pl.DataFrame:
    """Find the bar of each execve: that of its process, at that time."""
    single = bars.filter(pl.col("pid").is_not_null())
    return (
        execs.join(single.drop("program"), on=["source", "pid"], maintain_order="left")
        .filter(pl.col("at").is_between(pl.col("start"), pl.col("stop")))
        .with_columns(pl.col("at").alias("start"), pl.col("at").alias("stop"))
        .sort("start", maintain_order=True)
    )


def chart(rows: pl.DataFrame, *, title: str = "Processes") -> "LayerChart":
    """Draw the rows: a bar from start to end for each process, a tick for each execve."""
    alt = altair()
    shown = rows.with_columns(short_names("program", 80)).drop("source")
    start = ("start_s", "from (s)", SECONDS)
    lines = tooltip(
        ("label", "process"),
        "program",
        start,
        ("end_s", "to (s)", SECONDS),
        ("processes", None, COUNT),
        "end",
    )
    lanes = alt.Y("label:N", title=None, sort=alt.SortField("lane"), axis=alt.Axis(labelLimit=240))
    base = alt.Chart(shown).encode(y=lanes)
    bars = (
        base.transform_filter(alt.datum.mark == "process")
        .mark_bar(height=10, opacity=0.75)
        .encode(
            x=time_axis("start_s"),
            x2="end_s:Q",
            tooltip=lines,
        )
    )
    execs = (
        base.transform_filter(alt.datum.mark == "exec")
        .mark_tick(thickness=2, height=14, color="#d1495b")
        .encode(x="start_s:Q", tooltip=tooltip(("program", "execve"), start))
    )
    # A layer without rows has no extent, of which Vega warns.
    layers = [bars, execs] if "exec" in rows["mark"] else [bars]
    drawn: LayerChart = alt.layer(*layers, title=title)
    return drawn.properties(width=WIDTH, height=alt.Step(LANE))
