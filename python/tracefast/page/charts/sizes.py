"""How much single calls moved, how long they took, and where in a file they were."""

from typing import Any, Final

import polars as pl

from tracefast import _core
from tracefast._polars.given_events import Events, rows_of
from tracefast.cli.text import units
from tracefast.page.activity import STEPS, Activity
from tracefast.page.charts.common import spec, time_axis, tip, window_params
from tracefast.page.shell import Spec

MOST_CURVES: Final = 8
MOST_FILES: Final = 6
MOST_SEGMENTS: Final = 300
# Of a file with more accesses only the ends of steps are kept.
_MOST_ACCESSES: Final = 50_000
_PARTS: Final = 8
_READS: Final = _core.syscalls_that("reads")
_WRITES: Final = _core.syscalls_that("writes")
_NEEDED: Final = ("source", "file", "task", "name", "ts", "dur_ns", "offset", "bytes")
_OPS: Final = ["read", "write"]


def size_rows(activity: Activity) -> pl.DataFrame:
    """Give how many calls moved how much: `op`, `power` of two, `size` in words, `calls`."""
    rows = activity.sizes.sort("power", "op", nulls_last=False)

    def words(power: int | None) -> str:
        if power is None:
            return "0 B"
        return f"{units.size(1 << power)} to {units.size(2 << power)}" if power else "1 B"

    return rows.with_columns(
        size=pl.Series([words(power) for power in rows["power"]], dtype=pl.String),
        bin=pl.col("power").fill_null(-1),
    )


def sizes_chart(rows: pl.DataFrame) -> Spec:
    """Draw how many calls moved how much."""
    order = rows["size"].unique(maintain_order=True).to_list()
    return spec(
        rows.select("op", "size", "calls"),
        180,
        mark="bar",
        encoding={
            "x": {
                "field": "size",
                "type": "nominal",
                "sort": order,
                "title": "bytes that a call moved",
                "axis": {"labelAngle": -40, "labelLimit": 130},
            },
            "xOffset": {"field": "op", "type": "nominal", "sort": _OPS},
            "y": {
                "field": "calls",
                "type": "quantitative",
                "title": "calls",
                "axis": {"tickCount": 5, "format": "~s"},
            },
            "color": {
                "field": "op",
                "type": "nominal",
                "title": None,
                "scale": {"domain": _OPS},
                "legend": {"orient": "top"},
            },
            "tooltip": [tip("op", "calls"), tip("size", "each"), tip("calls", "how many")],
        },
    )


def latency_rows(activity: Activity, syscalls: pl.DataFrame) -> pl.DataFrame:
    """Give which share of the calls took at most so long, of the calls with the most time."""
    top = (
        syscalls.group_by("name")
        .agg(pl.col("total_ns").sum())
        .filter(pl.col("total_ns") > 0)
        .top_k(MOST_CURVES, by="total_ns")["name"]
        .to_list()
    )
    rows = activity.durations.filter(pl.col("name").is_in(top)).sort("name", "part")
    return rows.with_columns(
        us=2 ** ((pl.col("part") + 1) / _PARTS) / 1000,
        share=pl.col("calls").cum_sum().over("name") / pl.col("calls").sum().over("name"),
    ).select("name", "us", "share", "calls")


def latency_chart(rows: pl.DataFrame) -> Spec:
    """Draw the shares as curves."""
    shown = rows.with_columns(
        most=pl.Series([units.duration(round(us * 1000)) for us in rows["us"]], dtype=pl.String),
        part=pl.Series([units.share(share) for share in rows["share"]], dtype=pl.String),
    )
    return spec(
        shown.select("name", "us", "share", "most", "part"),
        220,
        mark={"type": "line", "interpolate": "step-after"},
        encoding={
            "x": {
                "field": "us",
                "type": "quantitative",
                "scale": {"type": "log"},
                "title": "at most so many microseconds",
                "axis": {"tickCount": 6, "format": "~s"},
            },
            "y": {
                "field": "share",
                "type": "quantitative",
                "title": "share of the calls",
                "axis": {"format": "%", "tickCount": 5},
            },
            "color": {
                "field": "name",
                "type": "nominal",
                "title": None,
                "sort": rows["name"].unique(maintain_order=True).to_list(),
            },
            "tooltip": [tip("name", "call"), tip("most", "at most"), tip("part", "share")],
        },
    )


def offset_rows(events: Events, files: pl.DataFrame, activity: Activity) -> pl.DataFrame:
    """Give where in each file it was read and written, and when: runs are one segment.

    Parameters
    ----------
    events
        The events.
    files
        The files: rows of `tracefast.files`.
    activity
        For the start of the logs, and the length of steps.
    """
    keys = files.select("source", "file").drop_nulls()
    op = pl.when(pl.col("name").is_in(_READS)).then(pl.lit("read")).otherwise(pl.lit("write"))
    since = (pl.col("ts") - pl.col("start")).dt.total_nanoseconds()
    rows = (
        rows_of(events, _NEEDED, "tracefast.report")
        .filter(
            pl.col("file").is_in(keys["file"].to_list()),
            pl.col("name").is_in([*_READS, *_WRITES]),
            pl.col("offset").is_not_null() & (pl.col("bytes") > 0),
        )
        .with_columns(pl.col("source").cast(pl.String))
        .join(keys.lazy(), on=["source", "file"], how="semi")
        .join(activity.starts.lazy(), on="source")
        .select(
            "source",
            "file",
            "task",
            op=op,
            begin=since,
            end=since + pl.col("dur_ns").fill_null(0),
            offset="offset",
            stop=pl.col("offset") + pl.col("bytes"),
        )
    )
    many = (files["reads"] + files["writes"]).max()
    if isinstance(many, int) and many > _MOST_ACCESSES:
        rows = _cut(rows, activity.step_ns)
    found = rows.collect(engine="streaming").sort(
        "source", "file", "op", "task", "begin", nulls_last=True
    )
    return _runs(found, activity.step_ns * STEPS) if "calls" not in found.columns else found


def _cut(rows: pl.LazyFrame, step_ns: int) -> pl.LazyFrame:
    """Make one segment of what was done in each step."""
    return (
        rows.group_by("source", "file", "op", step=pl.col("begin") // step_ns)
        .agg(
            pl.col("begin", "offset").min(),
            pl.col("end", "stop").max(),
            calls=pl.len(),
            task=pl.col("task").first(),
        )
        .drop("step")
    )


def _runs(rows: pl.DataFrame, span_ns: int) -> pl.DataFrame:
    """Make one segment of accesses that continue each other; of several where there are many."""
    key = ["source", "file", "op"]
    by = [*key, "task"]
    fresh = (pl.col("offset") != pl.col("stop").shift().over(by)).fill_null(value=True)
    runs = (
        rows.with_columns(run=fresh.cum_sum())
        .group_by(*by, "run", maintain_order=True)
        .agg(pl.col("begin", "offset").min(), pl.col("end", "stop").max(), calls=pl.len())
        .sort(*key, "begin")
    )
    # Half of the segments are for each of the two ways; steps of time are fewer.
    most = MOST_SEGMENTS // 2
    part = pl.when(pl.len().over(key) > most).then(pl.col("begin") // (span_ns // most + 1))
    parts = runs.with_columns(part=part.otherwise(pl.int_range(pl.len()).over(key)))
    return parts.group_by(*key, "part", maintain_order=True).agg(
        pl.col("begin", "offset").min(), pl.col("end", "stop").max(), pl.col("calls").sum()
    )


def offsets_chart(rows: pl.DataFrame, span_s: float) -> Spec:
    """Draw where in one file it was read and written, and when."""
    shown = rows.select(
        "op",
        "calls",
        "offset",
        "stop",
        t=pl.col("begin") / 1e9,
        end=pl.col("end") / 1e9,
        where=pl.Series(
            [f"{a:,} to {b:,}" for a, b in zip(rows["offset"], rows["stop"], strict=True)],
            dtype=pl.String,
        ),
    )
    encoding: dict[str, Any] = {
        "x": time_axis("t", span_s, follows=True) | {"title": "seconds"},
        "x2": {"field": "end"},
        "y": {
            "field": "offset",
            "type": "quantitative",
            "title": "bytes",
            "axis": {"format": "~s", "tickCount": 4},
        },
        "y2": {"field": "stop"},
        "color": {
            "field": "op",
            "type": "nominal",
            "title": None,
            "scale": {"domain": _OPS},
            "legend": None,
        },
        "tooltip": [tip("op", "calls that"), tip("where", "bytes"), tip("calls", "calls")],
    }
    encoding["x"]["axis"] = {"grid": False, "tickCount": 4}
    mark = {"type": "rect", "clip": True, "strokeWidth": 2, "opacity": 0.8}
    encoding["stroke"] = encoding["color"]
    return spec(shown, 130, params=window_params(), mark=mark, encoding=encoding)
