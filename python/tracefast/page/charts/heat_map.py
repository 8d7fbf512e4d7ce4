"""Who did how much when."""

from typing import Any, Final

import polars as pl

from tracefast.cli.text.shorten import cut_middle
from tracefast.page.activity import STEPS, Activity
from tracefast.plot.altair import altair
from tracefast.plot.bounds import nanoseconds
from tracefast.plot.form import COUNT, time_axis, tooltip
from tracefast.plot.intervals import at_once

MEASURES: Final = ("bytes", "calls", "waiting")
# Longer labels would take the room of the chart on a phone.
LABEL: Final = 26
_SHADES: Final = 8
_ROW: Final = 16


def rows(activity: Activity, waits: pl.DataFrame) -> pl.DataFrame:
    """Give bytes, calls and time of waits (ns) by group of processes and step, if there are any."""
    by = ["group", "step"]
    moved = (pl.col("read") + pl.col("written")).sum().alias("bytes")
    done = activity.done.group_by("group", pl.col("step").cast(pl.Int64)).agg(
        moved, pl.col("calls").sum()
    )
    members = activity.members.select("source", "task", "group")
    start = nanoseconds("ts")
    held = (
        activity.since_start(waits.lazy(), "ts")
        .join(members.lazy(), on=["source", "task"], how="inner")
        .select(
            "group",
            start=start,
            end=start + pl.coalesce("dur_ns", "open_ns").fill_null(0),
        )
    )
    waited = at_once(held, 0, activity.step_ns, STEPS, ["group"])
    waited = waited.filter(pl.col("value") > 0)
    waited = waited.select(
        "group", step="bin", waiting=(pl.col("value") * activity.step_ns).round().cast(pl.Int64)
    )
    return (
        done.join(waited, on=by, how="full", coalesce=True)
        .with_columns(pl.col(MEASURES).fill_null(0))
        .sort(by)
    )


def data(rows: pl.DataFrame) -> pl.DataFrame:
    """Add the shade of each measure: from 1, or 0 for nothing."""
    return rows.with_columns(
        (pl.col(name) / pl.col(name).max().clip(1))
        .sqrt()
        .mul(_SHADES)
        .ceil()
        .cast(pl.UInt8)
        .alias(f"{name}_shade")
        for name in MEASURES
    )


def chart(activity: Activity) -> Any:  # noqa: ANN401 - of altair
    """Draw the data named ``rows``; the page chooses the measure."""
    alt = altair()
    labels = [cut_middle(label, LABEL) for label in activity.groups["label"]]
    step_s = activity.step_ns / 1e9
    shade = alt.Color(
        "shade:O",
        legend=None,
        scale=alt.Scale(
            domain=list(range(1, _SHADES + 1)), range=[f"var(--h{at})" for at in range(_SHADES)]
        ),
    )
    return (
        alt.Chart(alt.NamedData("rows"))
        .add_params(alt.param("measure", value=MEASURES[0]), alt.param("labels", value=labels))
        .transform_calculate(shade="datum[measure + '_shade']")
        .transform_filter("datum.shade > 0")
        .transform_calculate(
            start_s=f"datum.step * {step_s!r}",
            end_s=f"(datum.step + 1) * {step_s!r}",
            process="labels[datum.group]",
            waits_s="datum.waiting / 1e9",
        )
        .mark_rect()
        .encode(
            x=time_axis("start_s"),
            x2="end_s:Q",
            y=alt.Y(
                "group:O",
                title=None,
                scale=alt.Scale(domain=list(range(len(labels)))),
                axis=alt.Axis(labelExpr="labels[datum.value]", ticks=False, domain=False),
            ),
            color=shade,
            tooltip=tooltip(
                "process",
                ("start_s", "from (s)", ".6f"),
                ("bytes", None, COUNT),
                ("calls", None, COUNT),
                ("waits_s", "waiting (s)", ".6f"),
            ),
        )
        .properties(height=_ROW * max(len(labels), 1))
    )
