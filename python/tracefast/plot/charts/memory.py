"""The memory of processes over time."""

from typing import TYPE_CHECKING, Final

import polars as pl

from tracefast.analysis.memory import memory
from tracefast.plot.altair import altair
from tracefast.plot.bounds import BRUSHED, SERIES, nanoseconds, origin_of, seconds, short_names
from tracefast.plot.form import COUNT, HEIGHT, SECONDS, WIDTH, amounts, time_axis, tooltip

if TYPE_CHECKING:
    from altair import Chart

    from tracefast._polars.given_events import Events

_KINDS: Final = ("anon_bytes", "file_bytes", "shm_bytes")
_PROCESS: Final = ["source", "task"]


def rows(events: "Events", *, most: int = BRUSHED, origin: int | None = None) -> pl.DataFrame:
    """Give the memory of the largest processes over time.

    Parameters
    ----------
    events
        The events of a log or of Parquet files.
    most
        How many rows there may be.
    origin
        The nanosecond, on the clock of the log, that is second 0; None for the first row.

    Returns
    -------
    polars.DataFrame
        `process` (its name in the chart), `source`, `pid`, `image`, `time_s`, `bytes` (the sum of
        the next three), `anon_bytes`, `file_bytes`, `shm_bytes`, `from`: rows of
        `tracefast.memory`, of the eight processes with the highest peaks. Where they have too many
        rows, the peak and the last one of each stretch of time are kept.
    """
    return rows_of_table(memory(events), most=most, origin=origin)


def rows_of_table(
    table: pl.LazyFrame, *, most: int = BRUSHED, origin: int | None = None
) -> pl.DataFrame:
    """Give the rows of a chart for rows of `tracefast.memory`, as `rows` does."""
    all_bytes = pl.sum_horizontal(pl.col(name).fill_null(0) for name in _KINDS)
    found = (
        table.filter(pl.col("ts").is_not_null())
        .with_columns(nanoseconds("ts").alias("at"), all_bytes.alias("bytes"))
        .collect()
    )
    largest = (
        found.group_by(_PROCESS)
        .agg(pl.col("bytes").max().alias("peak"), pl.col("image").last().alias("last_image"))
        .sort("peak", *_PROCESS, descending=[True, False, False])
        .head(SERIES)
        .with_row_index("rank")
    )
    kept = found.join(largest, on=_PROCESS, maintain_order="left")
    zero = origin_of(found["at"], origin)
    if kept.height > most:
        first, last = kept.select(pl.col("at").min().alias("a"), pl.col("at").max().alias("b")).row(
            0
        )
        steps = max(most // (2 * SERIES), 1)
        step = ((pl.col("at") - first).cast(pl.Float64) * steps / (last - first + 1)).cast(pl.Int64)
        kept = (
            kept.with_row_index("row")
            .with_columns(step.alias("step"))
            .filter(
                (pl.col("row") == pl.col("row").max().over(*_PROCESS, "step"))
                | (pl.col("row") == pl.col("row").sort_by("bytes").last().over(*_PROCESS, "step"))
            )
        )
    name = pl.col("last_image").fill_null("").str.split("/").list.last()
    several = kept["source"].n_unique() > 1
    process = pl.format("{} {}", pl.col("pid").cast(pl.String).fill_null("?"), name)
    if several:
        process = pl.format("{}: {}", pl.col("source").cast(pl.String), process)
    return (
        kept.sort("rank", "at", maintain_order=True)
        .with_columns(process.alias("process"))
        .select(
            short_names("process"),
            "source",
            "pid",
            "image",
            seconds(pl.col("at") - zero).alias("time_s"),
            "bytes",
            *_KINDS,
            "from",
        )
    )


def chart(rows: pl.DataFrame, *, title: str = "Memory of processes") -> "Chart":
    """Draw the rows: a step line for each process."""
    alt = altair()
    drawn: Chart = (
        alt.Chart(rows.drop("source", "image"), title=title)
        .mark_line(interpolate="step-after")
        .encode(
            x=time_axis("time_s"),
            y=alt.Y("bytes:Q", title="memory (bytes)", axis=amounts()),
            color=alt.Color("process:N", title="process", sort=None),
            tooltip=tooltip(
                "process",
                ("time_s", "time (s)", SECONDS),
                *((name, None, COUNT) for name in _KINDS),
                "from",
            ),
        )
        .properties(width=WIDTH, height=HEIGHT)
    )
    return drawn
