"""Where the time of processes went: what they did of the time that they were there."""

from typing import Final

import polars as pl

from tracefast import _core
from tracefast.analysis.overview.tables import Overview
from tracefast.cli.text.shorten import cut_middle
from tracefast.page.activity import Activity
from tracefast.page.charts.common import LABEL, durations, spec, tip
from tracefast.page.shell import Spec

MOST_BARS: Final = 16
PARTS: Final = {
    "waiting_ns": "waiting for others",
    "files_ns": "reading and writing files",
    "starting_ns": "starting processes",
    "other_ns": "other calls",
    "outside_ns": "outside of calls",
}
_STARTS: Final = [*_core.syscalls_that("forks"), *_core.syscalls_that("execs")]
_KEY: Final = ["source", "task"]


def time_rows(activity: Activity, found: Overview) -> pl.DataFrame:
    """Give where the time of the tasks of each group went, in ns: one column for each part.

    The rest of 16 groups, those with the most time, is one more.
    """
    calls = found.table("syscalls")
    # What waits of a call that starts a process is waiting.
    busy = (
        calls.filter(pl.col("name").is_in(_STARTS))
        .group_by("name")
        .agg(pl.col("total_ns", "wait_ns").sum())
        .select("name", busy=1 - pl.col("wait_ns") / pl.col("total_ns").clip(1))
    )
    in_calls = (
        activity.steps.join(busy, on="name", how="left")
        .group_by("group")
        .agg(
            pl.col("ns").sum().alias("in_calls"),
            (pl.col("ns") * pl.col("busy").fill_null(0)).sum().cast(pl.Int64).alias("starting_ns"),
        )
    )
    members = activity.members.select(*_KEY, "group")
    spans = (
        found.table("tasks")
        .filter(pl.col("first").is_not_null(), pl.col("calls") > 0)
        .join(members, on=_KEY, how="inner")
        .group_by("group")
        .agg((pl.col("last") - pl.col("first")).dt.total_nanoseconds().sum().alias("span"))
    )
    done = (
        found.table("processes")
        .join(members, on=_KEY, how="inner")
        .group_by("group")
        .agg(pl.col("wait_ns").sum().alias("waiting_ns"), pl.col("io_ns").sum().alias("files_ns"))
    )
    rows = activity.groups.join(spans, on="group").join(in_calls, on="group", how="left")
    rows = rows.join(done, on="group", how="left").fill_null(0)
    known = pl.sum_horizontal("waiting_ns", "files_ns", "starting_ns")
    rows = rows.with_columns(
        other_ns=(pl.col("in_calls") - known).clip(0),
        outside_ns=(pl.col("span") - pl.max_horizontal("in_calls", known)).clip(0),
    ).sort("span", "group", descending=[True, False])
    rest = rows[MOST_BARS - 1 :]
    if rest.height > 1:
        other = rest.select(
            pl.lit("others").alias("label"), *(pl.col(part).sum() for part in PARTS)
        )
        rows = pl.concat(
            [rows[: MOST_BARS - 1].select("label", *PARTS), other.select("label", *PARTS)]
        )
    return rows.select("label", *PARTS)


def times(rows: pl.DataFrame) -> Spec:
    """Draw where the time of each group went."""
    order = list(PARTS.values())
    long = (
        rows.with_columns(
            pl.col("label").map_elements(lambda text: cut_middle(text, LABEL), pl.String)
        )
        .with_row_index("bar")
        .unpivot(index=["bar", "label"], on=list(PARTS), variable_name="part", value_name="ns")
        .filter(pl.col("ns") > 0)
        .with_columns(pl.col("part").replace(PARTS))
    )
    labels = [cut_middle(label, LABEL) for label in rows["label"]]
    drawn = long.select(
        "bar",
        "label",
        "part",
        s=pl.col("ns") / 1e9,
        time=durations(long["ns"]),
        at=pl.col("part").replace_strict(order, list(range(len(order)))),
    )
    return spec(
        drawn,
        22 * max(len(labels), 1),
        params=[{"name": "labels", "value": labels}],
        mark={"type": "bar", "height": {"band": 0.75}},
        encoding={
            "x": {
                "field": "s",
                "type": "quantitative",
                "title": "seconds, of all tasks together",
                "axis": {"tickCount": 8},
            },
            "y": {
                "field": "bar",
                "type": "ordinal",
                "title": None,
                "axis": {"labelExpr": "labels[datum.value]", "ticks": False, "domain": False},
            },
            "color": {
                "field": "part",
                "type": "nominal",
                "title": None,
                "scale": {
                    "domain": order,
                    "range": ["var(--c4)", "var(--c0)", "var(--c1)", "var(--c3)", "var(--c7)"],
                },
                "legend": {"orient": "top", "columns": 3, "labelLimit": 180},
            },
            "order": {"field": "at"},
            "tooltip": [tip("label", "process"), tip("part", "time"), tip("time", "length")],
        },
    )
