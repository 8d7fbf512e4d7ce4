"""How the time of a fork grows with the memory of its parent."""

import statistics
from typing import TYPE_CHECKING, Final

import polars as pl

from tracefast.analysis.forks.measures.slopes import theil_sen
from tracefast.analysis.forks.table import forks
from tracefast.plot.altair import altair
from tracefast.plot.bounds import BRUSHED, SERIES, short_names
from tracefast.plot.form import HEIGHT, ID, WIDTH, tooltip

if TYPE_CHECKING:
    from altair import LayerChart

    from tracefast._polars.given_events import Events

_MIB: Final = 1 << 20
_GROUP: Final = ["source", "parent_image", "kind"]
_MS: Final = 1e6
_SCHEMA: Final = pl.Schema(
    {
        "mark": pl.String(),
        "series": pl.String(),
        "source": pl.String(),
        "parent_image": pl.String(),
        "kind": pl.String(),
        "memory_mib": pl.Float64(),
        "call_ms": pl.Float64(),
        "pid": pl.Int32(),
        "child_pid": pl.Int32(),
        "line": pl.UInt64(),
    }
)


def rows(events: "Events", *, most: int = BRUSHED) -> pl.DataFrame:
    """Give the time of each call that starts a process, and the parent's memory, and their lines.

    Parameters
    ----------
    events
        The events of a log or of Parquet files.
    most
        How many rows there may be: of more calls an even choice is taken, in order of memory.

    Returns
    -------
    polars.DataFrame
        `mark`: ``call``, or ``line`` for the two ends of the line through the calls of one parent
        program and kind, fitted after Theil and Sen, where the memory doubles at least; `series`,
        `source`, `parent_image`, `kind`, `memory_mib`, `call_ms`; of calls `pid`, `child_pid`,
        `line`. The eight series with the most time are kept.
    """
    return rows_of_table(forks(events), most=most)


def rows_of_table(table: pl.LazyFrame, *, most: int = BRUSHED) -> pl.DataFrame:
    """Give the rows of a chart for rows of `tracefast.forks`, as `rows` does."""
    calls = (
        table.filter(
            pl.col("kind").ne_missing("thread"),
            pl.col("call_ns").is_not_null(),
            pl.col("parent_anon_bytes").is_not_null(),
            pl.col("errno").is_null(),
        )
        .select(
            *_GROUP,
            (pl.col("parent_anon_bytes") / _MIB).alias("memory_mib"),
            (pl.col("call_ns") / _MS).alias("call_ms"),
            *("pid", "child_pid", "line"),
        )
        .collect()
    )
    costly = (
        calls.group_by(_GROUP, maintain_order=True)
        .agg(pl.col("call_ms").sum().alias("sum"))
        .sort("sum", descending=True, maintain_order=True)
        .head(SERIES)
        .drop("sum")
    )
    points = max((most - 2 * costly.height) // max(costly.height, 1), 1)
    found = [_SCHEMA.to_frame()]
    several = costly["source"].n_unique() > 1
    for source, image, kind in costly.iter_rows():
        group = calls.filter(
            *(
                pl.col(name).eq_missing(pl.lit(value))
                for name, value in zip(_GROUP, (source, image, kind), strict=True)
            )
        ).sort("memory_mib", "call_ms", maintain_order=True)
        program = (image or "?").rpartition("/")[2]
        series = f"{program} ({kind or '?'})" + (f" in {source}" if several else "")
        found += [
            part.with_columns(pl.lit(series).alias("series"), pl.lit(mark).alias("mark")).select(
                pl.col(name).cast(dtype)
                if name in part.columns or name in {"series", "mark"}
                else pl.lit(None, dtype).alias(name)
                for name, dtype in _SCHEMA.items()
            )
            for mark, part in (("line", _line(group)), ("call", _evenly(group, points)))
        ]
    return pl.concat(found)


def _evenly(group: pl.DataFrame, most: int) -> pl.DataFrame:
    """Take rows at even distances, with both ends."""
    if group.height <= most:
        return group
    last = group.height - 1
    return group[[i * last // max(most - 1, 1) for i in range(most)]]


def _line(group: pl.DataFrame) -> pl.DataFrame:
    """Give both ends of the line through the calls; no rows where there is no line."""
    memory, times = group["memory_mib"], group["call_ms"]
    # As for `slope_ns_per_mib`: calls at one size say nothing of others.
    low, high = group.select(pl.min("memory_mib").alias("a"), pl.max("memory_mib").alias("b")).row(
        0
    )
    varies = low is not None and high > low and high >= 2 * low
    slope = theil_sen(memory.to_list(), times.to_list()) if varies else None
    if slope is None:
        return group.head(0)
    above = statistics.median((times - slope.slope * memory).to_list())
    ends = group.select(*_GROUP, pl.col("memory_mib"))[[0, -1]]
    return ends.with_columns((above + slope.slope * pl.col("memory_mib")).alias("call_ms"))


def chart(rows: pl.DataFrame, *, title: str = "Starting processes") -> "LayerChart":
    """Draw the rows: a point for each call, and the lines through them."""
    alt = altair()
    shown = rows.with_columns(short_names("series"), short_names("parent_image", 80)).drop("source")
    base = alt.Chart(shown).encode(
        x=alt.X("memory_mib:Q", title="memory of the parent (MiB)"),
        y=alt.Y("call_ms:Q", title="time in the call (ms)"),
        color=alt.Color("series:N", title="parent (kind)", sort=None),
    )
    points = base.transform_filter(alt.datum.mark == "call").mark_point(filled=True, opacity=0.7)
    points = points.encode(
        tooltip=tooltip(
            ("parent_image", "parent"),
            "kind",
            ("memory_mib", "memory (MiB)", ",.1f"),
            ("call_ms", "call (ms)", ",.3f"),
            ("pid", None, ID),
            ("child_pid", "child", ID),
            ("line", None, ID),
        )
    )
    layers = [points]
    # A layer without rows makes Vega warn of its axes.
    if (shown["mark"] == "line").any():
        layers.append(base.transform_filter(alt.datum.mark == "line").mark_line(strokeDash=[6, 4]))
    drawn: LayerChart = alt.layer(*layers, title=title)
    return drawn.properties(width=WIDTH, height=HEIGHT)
