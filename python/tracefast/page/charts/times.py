"""Where the time of processes went: what they did of the time that they were there."""

from typing import Any, Final

import polars as pl

from tracefast.analysis.overview.tables import Overview
from tracefast.analysis.overview.times import STARTS
from tracefast.cli.text.shorten import cut_middle
from tracefast.page.activity import Activity
from tracefast.page.charts.heat_map import LABEL
from tracefast.plot.altair import altair
from tracefast.plot.bounds import seconds
from tracefast.plot.form import SECONDS, tooltip

MOST_BARS: Final = 16
_BAR: Final = 22
PARTS: Final = {
    "waiting_ns": "waiting for others",
    "files_ns": "using files",
    "starting_ns": "starting processes",
    "other_ns": "other calls",
    "outside_ns": "outside of calls",
}
_KEY: Final = ["source", "task"]


def rows(activity: Activity, found: Overview) -> pl.DataFrame:
    """Give where the time of the tasks of each group went, in ns: one column for each part.

    The rest of 16 groups, those with the most time, is one more.
    """
    calls = found.table("syscalls")
    # What waits of a call that starts a process is waiting.
    busy = (
        calls.filter(pl.col("name").is_in(STARTS))
        .group_by("name")
        .agg(pl.col("total_ns", "wait_ns").sum())
        .select("name", busy=1 - pl.col("wait_ns") / pl.col("total_ns").clip(1))
    )
    in_calls = activity.done.group_by("group").agg(pl.col("ns").sum().alias("in_calls"))
    starting = (
        activity.starting.join(busy, on="name")
        .group_by("group")
        .agg((pl.col("ns") * pl.col("busy")).sum().cast(pl.Int64).alias("starting_ns"))
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
    rows = rows.join(starting, on="group", how="left").join(done, on="group", how="left")
    rows = rows.with_columns(
        pl.col("in_calls", "starting_ns", "waiting_ns", "files_ns").fill_null(0)
    )
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


def chart(rows: pl.DataFrame) -> Any:  # noqa: ANN401 - of altair
    """Draw where the time of each group went."""
    alt = altair()
    order = list(PARTS.values())
    labels = [cut_middle(label, LABEL) for label in rows["label"]]
    drawn = (
        rows.with_columns(pl.Series("label", labels, pl.String))
        .with_row_index("bar")
        .unpivot(index=["bar", "label"], on=list(PARTS), variable_name="part", value_name="ns")
        .filter(pl.col("ns") > 0)
        .with_columns(pl.col("part").replace(PARTS))
        .with_columns(at=pl.col("part").replace_strict(order, list(range(len(order)))))
        .select("bar", "label", "part", "at", seconds(pl.col("ns")).alias("time_s"))
    )
    colours = [f"var(--c{number})" for number in (4, 0, 1, 3, 7)]
    return (
        alt.Chart(drawn)
        .add_params(alt.param("labels", value=labels))
        .mark_bar(height=alt.RelativeBandSize(0.75))
        .encode(
            x=alt.X(
                "time_s:Q",
                title="time of all tasks together (s)",
                # On a phone the numbers would run into each other.
                axis=alt.Axis(labelOverlap=True, labelSeparation=6),
            ),
            y=alt.Y(
                "bar:O",
                title=None,
                axis=alt.Axis(labelExpr="labels[datum.value]", ticks=False, domain=False),
            ),
            color=alt.Color(
                "part:N",
                title=None,
                scale=alt.Scale(domain=order, range=colours),
                legend=alt.Legend(orient="top", columns=2, labelLimit=110),
            ),
            order="at:Q",
            tooltip=tooltip(("label", "process"), "part", ("time_s", "time (s)", SECONDS)),
        )
        .properties(height=_BAR * max(len(labels), 1))
    )
