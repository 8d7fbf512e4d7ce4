"""Charts over time: what moved, who did what, who was there."""

from typing import Any, Final

import polars as pl

from tracefast import _core
from tracefast.cli.text.shorten import cut_middle
from tracefast.page.activity import STEPS, Activity, named, spread
from tracefast.page.charts.common import (
    LABEL,
    durations,
    sizes,
    spec,
    time_axis,
    tip,
    window_params,
)
from tracefast.page.shell import Spec

MEASURES: Final = ("bytes", "calls", "waiting")
MOST_BARS: Final = 60
MOST_MARKS: Final = 200
# Shades of a heat map.
_SHADES: Final = 8
_ROW: Final = 16
_READS: Final = _core.syscalls_that("reads")
_MOVES: Final = [*_READS, *_core.syscalls_that("writes")]
_DIRECTIONS: Final = ("read", "written")


def throughput_rows(activity: Activity) -> pl.DataFrame:
    """Give the bytes per second of each step that calls which began in it moved."""
    step_s = activity.step_ns / 1e9
    moved = (
        activity.steps.filter(pl.col("name").is_in(_MOVES), pl.col("bytes") > 0)
        .with_columns(
            what=pl.when(pl.col("name").is_in(_READS))
            .then(pl.lit("read"))
            .otherwise(pl.lit("written"))
        )
        .group_by("what", pl.col("step").cast(pl.Int64))
        .agg(pl.col("bytes").sum())
    )
    grid = pl.DataFrame({"step": range(STEPS)}, schema={"step": pl.Int64})
    rows = grid.join(pl.DataFrame({"what": _DIRECTIONS}), how="cross")
    rows = rows.join(moved, on=["step", "what"], how="left").fill_null(0).sort("what", "step")
    per_s = (rows["bytes"] / step_s).round().cast(pl.Int64)
    return rows.select(
        "what", "bytes", t=pl.col("step") * step_s, per_s=per_s, rate=sizes(per_s) + "/s"
    )


def throughput(rows: pl.DataFrame, span_s: float) -> Spec:
    """Draw what was read and written; a part of the time can be chosen with the pointer."""
    y = {"field": "per_s", "type": "quantitative", "title": "bytes per second", "stack": None}
    return spec(
        rows,
        150,
        params=[{"name": "brush", "select": {"type": "interval", "encodings": ["x"]}}],
        mark={
            "type": "area",
            "interpolate": "step-after",
            "opacity": 0.55,
            "line": {"strokeWidth": 1},
        },
        encoding={
            "x": time_axis("t", span_s),
            "y": y | {"axis": {"format": "~s", "tickCount": 4}},
            "color": {
                "field": "what",
                "type": "nominal",
                "title": None,
                "legend": {"orient": "top"},
                "scale": {"domain": [*_DIRECTIONS]},
            },
            "tooltip": [tip("what", "bytes"), tip("rate", "speed")],
        },
    )


def running_rows(activity: Activity, processes: pl.DataFrame) -> pl.DataFrame:
    """Give how many processes there were in each step, on average."""
    lives = _lives(activity, processes).with_columns(all=pl.lit(value=True))
    summed = spread(lives, ["all"], activity.step_ns).select(
        "step", running=pl.col("ns") / activity.step_ns
    )
    grid = pl.DataFrame({"step": range(STEPS)}, schema={"step": pl.Int64})
    rows = grid.join(summed, on="step", how="left").fill_null(0).sort("step")
    return rows.select(
        t=pl.col("step") * activity.step_ns / 1e9, running=pl.col("running").round(2)
    )


def running(rows: pl.DataFrame, span_s: float) -> Spec:
    """Draw how many processes there were."""
    return spec(
        rows,
        70,
        mark={
            "type": "area",
            "interpolate": "step-after",
            "opacity": 0.4,
            "color": "var(--c2)",
            "line": {"color": "var(--c2)", "strokeWidth": 1},
        },
        encoding={
            "x": time_axis("t", span_s),
            "y": {
                "field": "running",
                "type": "quantitative",
                "title": "processes",
                "axis": {"tickCount": 3},
            },
            "tooltip": [tip("running", "processes")],
        },
    )


def heat_map_rows(activity: Activity, waits: pl.DataFrame) -> pl.DataFrame:
    """Give bytes, calls and time of waits by group of processes and step, where there is any."""
    step = pl.col("step").cast(pl.Int64)
    by = ["group", "step"]
    done = activity.steps.group_by("group", step).agg(
        pl.col("bytes").filter(pl.col("name").is_in(_MOVES)).sum(), pl.col("calls").sum()
    )
    members = activity.members.select("source", "task", "group")
    begun = activity.seconds(
        waits.select("source", "task", "ts", ns=pl.coalesce("dur_ns", "open_ns")), "ts"
    )
    begin = (pl.col("ts") * 1e9).cast(pl.Int64)
    held = begun.join(members, on=["source", "task"], how="inner").select(
        "group", begin=begin, end=begin + pl.col("ns").fill_null(0)
    )
    waited = spread(held, ["group"], activity.step_ns).rename({"ns": "waiting"})
    return (
        done.join(waited, on=by, how="full", coalesce=True)
        .with_columns(pl.col(MEASURES).fill_null(0))
        .sort(by)
    )


def heat_map(rows: pl.DataFrame, activity: Activity) -> Spec:
    """Draw who did how much when; the page chooses the measure."""
    labels = [cut_middle(label, LABEL) for label in activity.groups["label"]]
    shades = [
        (pl.col(name) / pl.col(name).max().clip(1))
        .sqrt()
        .mul(_SHADES)
        .ceil()
        .cast(pl.UInt8)
        .alias(f"{name}_shade")
        for name in MEASURES
    ]
    drawn = rows.with_columns(shades)
    step_s = activity.step_ns / 1e9
    chosen = "datum[measure + '_shade']"
    y = {
        "field": "group",
        "type": "ordinal",
        "title": None,
        "scale": {"domain": list(range(len(labels)))},
        "axis": {"labelExpr": "labels[datum.value]", "ticks": False, "domain": False},
    }
    return spec(
        drawn,
        _ROW * len(labels),
        params=[
            *window_params(),
            {"name": "measure", "value": MEASURES[0]},
            {"name": "labels", "value": labels},
        ],
        transform=[
            {"calculate": chosen, "as": "shade"},
            {"filter": "datum.shade > 0"},
            {"calculate": f"datum.step * {step_s!r}", "as": "t"},
            {"calculate": f"(datum.step + 1) * {step_s!r}", "as": "end"},
            {"calculate": "labels[datum.group]", "as": "who"},
            {"calculate": "format(datum.waiting / 1e6, ',.3f') + ' ms'", "as": "waited"},
        ],
        mark={"type": "rect", "clip": True},
        encoding={
            "x": time_axis("t", activity.span_s, follows=True),
            "x2": {"field": "end"},
            "y": y,
            "color": {
                "field": "shade",
                "type": "ordinal",
                "legend": None,
                "scale": {
                    "domain": list(range(1, _SHADES + 1)),
                    "range": [f"var(--h{at})" for at in range(_SHADES)],
                },
            },
            "tooltip": [
                tip("who", "process"),
                tip("bytes", "bytes"),
                tip("calls", "calls"),
                tip("waited", "waiting"),
            ],
        },
    )


def _lives(activity: Activity, processes: pl.DataFrame) -> pl.DataFrame:
    """Give when each process began and ended, in ns: at the last moment, if the log has no end."""
    rows = named(processes).filter(pl.col("ts_start").is_not_null())
    whole = activity.step_ns * STEPS
    begin, end = (
        (pl.col(f"ts_{name}") - pl.col("start")).dt.total_nanoseconds() for name in ("start", "end")
    )
    return rows.join(activity.starts, on="source", how="inner", maintain_order="left").with_columns(
        begin=begin.clip(0), end=end.fill_null(whole)
    )


def lifetime_rows(activity: Activity, processes: pl.DataFrame) -> pl.DataFrame:
    """Give the bars of lives: of each process, or of those of one program and one parent's."""
    lives = _lives(activity, processes).with_columns(count=1)
    if lives.height > MOST_BARS:
        # Pools of workers are one bar, but not those of different makers.
        by = ["source", "parent", "program"]
        lives = (
            lives.group_by(by, maintain_order=True)
            .agg(
                pl.col("begin").min(),
                pl.col("end").max(),
                pl.col("pid").first(),
                count=pl.len(),
                task=pl.col("task"),
            )
            .sort(pl.col("count"), pl.col("end") - pl.col("begin"), descending=True)
            .head(MOST_BARS)
            .sort("begin")
        )
    else:
        lives = lives.with_columns(task=pl.concat_list("task"))
    labels = [
        f"{program} {pid}"
        if count == 1 and pid is not None
        else program
        if count == 1
        else f"{program} ({count:,})"
        for program, pid, count in lives.select("program", "pid", "count").rows()
    ]
    return lives.select(
        "source",
        "task",
        "count",
        begin=pl.col("begin") / 1e9,
        end=pl.col("end") / 1e9,
        label=pl.Series(labels, dtype=pl.String),
        took=durations(lives["end"] - lives["begin"]),
        bar=pl.int_range(pl.len()),
    )


def exec_rows(activity: Activity, bars: pl.DataFrame, forks: pl.DataFrame) -> pl.DataFrame:
    """Give the moments at which the processes of bars executed a program, at most 200."""
    moment = pl.col("ts") + pl.duration(nanoseconds=pl.sum_horizontal("call_ns", "exec_gap_ns"))
    done = forks.filter(pl.col("exec_ns").is_not_null(), pl.col("ts").is_not_null())
    done = activity.seconds(
        done.select("source", task="child_task", ts=moment, image="image"), "ts"
    )
    tasks = bars.select("source", "task", "bar").explode("task")
    return (
        done.join(tasks, on=["source", "task"], how="inner", maintain_order="left")
        .select("bar", "image", t="ts")
        .sort("t")
        .head(MOST_MARKS)
    )


def lifetimes(bars: pl.DataFrame, execs: pl.DataFrame, span_s: float) -> Spec:
    """Draw for how long processes were there, and when they executed a program."""
    labels = [cut_middle(label, LABEL) for label in bars["label"]]
    y: dict[str, Any] = {
        "field": "bar",
        "type": "ordinal",
        "title": None,
        "scale": {"domain": list(range(len(labels)))},
        "axis": {"labelExpr": "labels[datum.value]", "ticks": False, "domain": False, "grid": True},
    }
    x = time_axis("begin", span_s, follows=True)
    bar_tips = [tip("label", "process"), tip("took", "lifetime"), tip("count", "processes")]
    layers: list[dict[str, Any]] = [
        {
            "mark": {"type": "bar", "height": 8, "clip": True, "minBandSize": 1},
            "encoding": {"x": x, "x2": {"field": "end"}, "y": y, "tooltip": bar_tips},
        }
    ]
    if not execs.is_empty():
        layers.append(
            {
                "data": {"values": execs.to_dicts()},
                "mark": {
                    "type": "tick",
                    "clip": True,
                    "thickness": 2,
                    "size": 12,
                    "color": "var(--c1)",
                },
                "encoding": {
                    "x": x | {"field": "t"},
                    "y": y,
                    "tooltip": [tip("image", "executes")],
                },
            }
        )
    params = [*window_params(), {"name": "labels", "value": labels}]
    return spec(bars.drop("source", "task"), _ROW * len(labels), params=params, layer=layers)


def memory_rows(activity: Activity, memory: pl.DataFrame, most: int = 8) -> pl.DataFrame:
    """Give the memory of the processes that had most, at the end of each step."""
    top = (
        memory.group_by("source", "task")
        .agg(pl.col("anon_bytes").max())
        .top_k(most, by="anon_bytes")
    )
    rows = memory.join(top, on=["source", "task"], how="semi").sort("task", "step")
    program = pl.col("image").str.split("/").list.last().fill_null("?")
    return rows.select(
        who=pl.format("{} {}", program, "pid"),
        t=pl.col("step") * activity.step_ns / 1e9,
        anon_bytes="anon_bytes",
        size=sizes(rows["anon_bytes"]),
    )


def memory_chart(rows: pl.DataFrame, span_s: float) -> Spec:
    """Draw the memory of processes."""
    return spec(
        rows,
        180,
        params=window_params(),
        mark={"type": "line", "interpolate": "step-after", "clip": True, "point": {"size": 12}},
        encoding={
            "x": time_axis("t", span_s, follows=True),
            "y": {
                "field": "anon_bytes",
                "type": "quantitative",
                "title": "own memory, bytes",
                "axis": {"format": "~s"},
            },
            "color": {"field": "who", "type": "nominal", "title": None},
            "tooltip": [tip("who", "process"), tip("size", "own memory")],
        },
    )
