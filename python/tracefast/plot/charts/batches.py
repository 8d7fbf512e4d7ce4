"""How long each batch of a pool of workers was waited for."""

from typing import TYPE_CHECKING, Final

import polars as pl

from tracefast.analysis.workers.batches import batches
from tracefast.plot.altair import altair
from tracefast.plot.bounds import BINS, BRUSHED, nanoseconds, origin_of, seconds, short_names
from tracefast.plot.form import COUNT, HEIGHT, ID, SECONDS, SHORT, WIDTH, time_axis, tooltip, ways

if TYPE_CHECKING:
    from altair import Chart

    from tracefast._polars.given_events import Events

_CAUSES: Final = ["reading", "waiting", "computing", "queue"]
_LEAST_S: Final = 1e-6


def rows(events: "Events", *, most: int = BRUSHED, origin: int | None = None) -> pl.DataFrame:
    """Give the batches, or the slowest of each stretch of time where there are too many.

    Parameters
    ----------
    events
        All events of a log or of Parquet files.
    most
        How many rows there may be.
    origin
        The nanosecond, on the clock of the log, that is second 0; None for the first batch.

    Returns
    -------
    polars.DataFrame
        `source`, `pool`, `round`, `batch`, `time_s`, `wait_s`, `bytes`, `worker_pid`, `cause`,
        `slowest_path`, and `batches`: for how many batches the row is, of which it is the slowest.
    """
    return rows_of_table(batches(events), most=most, origin=origin)


def rows_of_table(
    table: pl.LazyFrame, *, most: int = BRUSHED, origin: int | None = None
) -> pl.DataFrame:
    """Give the rows of a chart for rows of `tracefast.batches`, as `rows` does."""
    found = (
        table.filter(pl.col("ts").is_not_null(), pl.col("wait_ns").is_not_null())
        .with_columns(nanoseconds("ts").alias("at"), pl.lit(1, pl.UInt32).alias("batches"))
        .collect()
    )
    zero = origin_of(found["at"], origin)
    if found.height > most:
        steps = min(BINS, most // (len(_CAUSES) + 1))
        since = (pl.col("at") - pl.col("at").min()).cast(pl.Float64)
        step = (since * steps / (pl.col("at").max() - pl.col("at").min() + 1)).cast(pl.Int64)
        found = (
            found.sort("wait_ns", descending=True, maintain_order=True)
            .with_columns(step.alias("step"))
            .group_by("step", "cause", maintain_order=True)
            .agg(pl.all().exclude("batches").first(), pl.col("batches").sum())
        )
    return found.sort("at", "batch", maintain_order=True).select(
        "source",
        "pool",
        "round",
        "batch",
        seconds(pl.col("at") - zero).alias("time_s"),
        seconds(pl.col("wait_ns")).alias("wait_s"),
        "bytes",
        "worker_pid",
        "cause",
        "slowest_path",
        "batches",
    )


def chart(rows: pl.DataFrame, *, title: str = "Waiting for batches") -> "Chart":
    """Draw the rows: a point for each batch, by what its worker did meanwhile."""
    alt = altair()
    # A logarithmic axis has no 0.
    points = rows.with_columns(
        pl.col("wait_s").clip(_LEAST_S), short_names("slowest_path", 80)
    ).drop("source")
    drawn: Chart = (
        alt.Chart(points, title=title)
        .mark_point(filled=True, opacity=0.8)
        .encode(
            x=time_axis("time_s"),
            y=alt.Y(
                "wait_s:Q",
                title="wait for the batch (s)",
                scale=alt.Scale(type="log"),
                axis=alt.Axis(format="~s"),
            ),
            color=ways("cause", _CAUSES, title="worker"),
            tooltip=tooltip(
                ("pool", None, ID),
                ("round", None, ID),
                ("batch", None, COUNT),
                ("time_s", "time (s)", SECONDS),
                ("wait_s", "wait (s)", SHORT),
                ("bytes", None, COUNT),
                ("worker_pid", "worker", ID),
                "cause",
                ("slowest_path", "slowest file"),
                ("batches", "slowest of", COUNT),
            ),
        )
        .properties(width=WIDTH, height=HEIGHT)
    )
    return drawn
