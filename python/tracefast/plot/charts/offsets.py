"""Where a file was read and written over time."""

from typing import TYPE_CHECKING, Final

import polars as pl

from tracefast._polars.given_events import rows_of as given_rows
from tracefast.analysis.files.accesses import accesses as accesses_of
from tracefast.analysis.files.accesses import of_files
from tracefast.plot.altair import altair
from tracefast.plot.bounds import BRUSHED, nanoseconds, origin_of, seconds, short_name
from tracefast.plot.form import COUNT, HEIGHT, ID, SECONDS, WIDTH, amounts, time_axis, tooltip, ways

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from altair import Chart

    from tracefast._polars.given_events import Events

_FILE: Final = ["source", "file"]
_STREAM: Final = [*_FILE, "ofd", "way", "task"]
# The first cells are smaller than what a screen shows.
_FINEST: Final = 1024
_WAYS: Final = ["read", "write"]


def rows(
    events: "Events",
    path: "str | os.PathLike[str] | int | Sequence[int]",
    *,
    most: int = BRUSHED,
    origin: int | None = None,
) -> pl.DataFrame:
    """Give the accesses to a file, with those that follow each other merged.

    Parameters
    ----------
    events
        The events of a log or of Parquet files.
    path
        The file, as for `tracefast.accesses`; or several identities.
    most
        How many rows there may be.
    origin
        The nanosecond, on the clock of the log, that is second 0; None for the first access.

    Returns
    -------
    polars.DataFrame
        `source`, `file`, `way`, `pid` (null for several), `start_s`, `end_s`, `offset`,
        `offset_end` (bytes), `accesses`, `bytes`, `runs`. A row is a run of accesses of which each
        starts where the last one ended. Where there are more than `most` of them, `runs` that are
        close to each other in time and place are one row.
    """
    if isinstance(path, list | tuple):
        return segments(of_files(events, path), most=most, origin=origin)
    return segments(accesses_of(events, path), most=most, origin=origin)  # type: ignore[arg-type]


def most_moved(events: "Events") -> tuple[str, list[int]] | None:
    """Give the path and the identity of the file of which most bytes were read and written."""
    moved = (
        given_rows(events, ("file", "path", "offset", "bytes"), "tracefast.plot.offsets")
        .filter(pl.col("file").is_not_null(), pl.col("offset").is_not_null(), pl.col("bytes") > 0)
        .group_by("file")
        .agg(pl.col("path").cast(pl.String).drop_nulls().first(), pl.col("bytes").sum())
        .sort("bytes", "file", descending=[True, False])
        .head(1)
        .collect(engine="streaming")
    )
    return None if moved.is_empty() else (moved["path"][0] or "", [moved["file"][0]])


def segments(
    accesses: pl.LazyFrame, *, most: int = BRUSHED, origin: int | None = None
) -> pl.DataFrame:
    """Give the rows of a chart for rows of `tracefast.accesses`, as `rows` does."""
    return segments_of_runs(runs_of(accesses), most=most, origin=origin)


def runs_of(accesses: pl.LazyFrame, *, step_ns: int | None = None) -> pl.DataFrame:
    """Merge accesses of which each starts where the last one ended.

    Parameters
    ----------
    accesses
        Rows of `tracefast.accesses`.
    step_ns
        Merge all accesses to a file that start within so long, in bounded memory.
    """
    moved = accesses.filter(
        pl.col("ts").is_not_null(), pl.col("offset").is_not_null(), pl.col("bytes") > 0
    ).select(
        "source", "file", "ofd", "task", "pid", "way", "access", "offset", "bytes", "ts", "dur_ns"
    )
    start = nanoseconds("ts")
    merged = (
        start.min().alias("start"),
        (start + pl.col("dur_ns").fill_null(0)).max().alias("end"),
    )
    counts = (pl.len().alias("accesses"), pl.col("bytes").sum())
    end = pl.col("offset") + pl.col("bytes")
    if step_ns is not None:
        one = pl.col("pid").min() == pl.col("pid").max()
        return (
            moved.group_by(*_FILE, "way", step=start // step_ns)
            .agg(
                pl.when(one).then(pl.col("pid").min()).alias("pid"),
                *merged,
                pl.col("offset").min(),
                end.max().alias("offset_end"),
                *counts,
                pl.col("task").n_unique().alias("runs"),
            )
            .drop("step")
            .collect(engine="streaming")
        )
    new = pl.col("access").ne_missing("consecutive") | (
        pl.col("task") != pl.col("task").shift(1).over("source", "ofd", "way")
    )
    return (
        moved.with_columns(new.fill_null(value=True).cum_sum().over(_STREAM).alias("run"))
        .group_by(*_STREAM, "run", maintain_order=True)
        .agg(
            pl.col("pid").first(),
            *merged,
            pl.col("offset").first(),
            end.last().alias("offset_end"),
            *counts,
            pl.lit(1, pl.UInt32).alias("runs"),
        )
        .collect()
    )


def segments_of_runs(
    runs: pl.DataFrame, *, most: int = BRUSHED, origin: int | None = None
) -> pl.DataFrame:
    """Give the rows of a chart for what `runs_of` gave, as `rows` does."""
    zero = origin_of(runs["start"], origin)
    return (
        _folded(runs, most)
        .select(
            *_FILE,
            "way",
            "pid",
            seconds(pl.col("start") - zero).alias("start_s"),
            seconds(pl.col("end") - zero).alias("end_s"),
            "offset",
            "offset_end",
            "accesses",
            "bytes",
            "runs",
        )
        .sort("start_s", "offset", maintain_order=True)
    )


def _folded(runs: pl.DataFrame, most: int) -> pl.DataFrame:
    """Join runs in one cell of time and place; cells grow until there are few enough."""
    cells = _FINEST
    folded = runs
    while folded.height > most:
        place = [
            (
                (pl.col(name) - pl.col(name).min())
                * cells
                // (pl.col(name).max() - pl.col(name).min() + 1)
            )
            .over(_FILE)
            .alias(f"{name}_cell")
            for name in ("start", "offset")
        ]
        one = pl.col("pid").n_unique() == 1
        folded = (
            runs.with_columns(pl.col("start").cast(pl.Float64), pl.col("offset").cast(pl.Float64))
            .with_columns(place)
            .group_by(*_FILE, "way", "start_cell", "offset_cell", maintain_order=True)
            .agg(
                pl.when(one).then(pl.col("pid").first()).alias("pid"),
                pl.col("start").min().cast(pl.Int64),
                pl.col("end").max(),
                pl.col("offset").min().cast(pl.Int64),
                pl.col("offset_end").max(),
                pl.col("accesses", "bytes", "runs").sum(),
            )
        )
        if cells == 1:
            # As many files as rows: the rest is left to those who choose the files.
            return folded.head(most)
        cells //= 2
    return folded


def chart(rows: pl.DataFrame, *, title: str = "") -> "Chart":
    """Draw the rows: time to the right, the place in the file upwards.

    Parameters
    ----------
    rows
        What `rows` gave.
    title
        The name of the file.
    """
    alt = altair()
    drawn: Chart = (
        alt.Chart(rows.drop("source"), title=short_name(title, 80))
        .mark_rule(strokeWidth=3, strokeCap="round")
        .encode(
            x=time_axis("start_s"),
            x2="end_s:Q",
            y=alt.Y("offset:Q", title="offset in the file (bytes)", axis=amounts()),
            y2="offset_end:Q",
            color=ways("way", _WAYS),
            tooltip=tooltip(
                "way",
                ("pid", None, ID),
                ("start_s", "from (s)", SECONDS),
                ("end_s", "to (s)", SECONDS),
                ("offset", "first byte", COUNT),
                ("offset_end", "end", COUNT),
                ("accesses", None, COUNT),
                ("bytes", None, COUNT),
            ),
        )
        .properties(width=WIDTH, height=HEIGHT)
    )
    return drawn
