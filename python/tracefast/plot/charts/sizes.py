"""How much each read and each write moved."""

from typing import TYPE_CHECKING, Final

import polars as pl

from tracefast._polars.given_events import rows_of
from tracefast.analysis.files.accesses import READS, TRANSFERS, WRITES
from tracefast.plot.altair import altair
from tracefast.plot.form import COUNT, WIDTH, count_axis, tooltip, ways
from tracefast.plot.histograms import bin_label, power_of_two

if TYPE_CHECKING:
    from altair import Chart

    from tracefast._polars.given_events import Events

_NEEDED: Final = ("kind", "name", "status", "bytes", "file")
_WAYS: Final = ["read", "write"]


def rows(events: "Events", *, files: "list[int] | None" = None) -> pl.DataFrame:
    """Count reads and writes by the bytes that they moved, in one pass.

    Parameters
    ----------
    events
        The events of a log or of Parquet files.
    files
        Identities of the only files that count; None for all files, pipes and sockets.

    Returns
    -------
    polars.DataFrame
        `way` (``read``, ``write``), `low_bytes`, `high_bytes` (the bin holds what is at least
        `low_bytes` and less than `high_bytes`; 0 has its own), `calls`, `bytes`. At most 130 rows.
    """
    kind, name = (pl.col(column).cast(pl.String) for column in ("kind", "name"))
    moved = rows_of(events, _NEEDED, "tracefast.plot.sizes").filter(
        kind.is_in(["syscall", "aio"]),
        name.is_in([*READS, *WRITES]),
        pl.col("bytes") >= 0,
        pl.col("status").cast(pl.String).ne_missing("injected"),
        True if files is None else pl.col("file").is_in(files),
    )
    return rows_of_counts(
        moved.select(name, "bytes", power_of_two(pl.col("bytes")).alias("low_bytes"))
        .group_by("name", "low_bytes")
        .agg(pl.len().alias("calls"), pl.col("bytes").sum())
        .collect(engine="streaming")
    )


def rows_of_counts(counts: pl.DataFrame) -> pl.DataFrame:
    """Give the rows of a chart for `name`, `low_bytes`, `calls` and `bytes`, as `rows` does."""
    # What copies from one descriptor to another reads and writes.
    ways = (("read", READS), ("write", [*WRITES, *TRANSFERS]))
    return (
        pl.concat(
            counts.filter(pl.col("name").is_in(names)).with_columns(pl.lit(way).alias("way"))
            for way, names in ways
        )
        .group_by("way", "low_bytes")
        .agg(pl.col("calls", "bytes").sum())
        .sort("way", "low_bytes")
        .select(
            "way",
            "low_bytes",
            pl.max_horizontal(2 * pl.col("low_bytes"), pl.lit(1)).alias("high_bytes"),
            "calls",
            "bytes",
        )
    )


def chart(rows: pl.DataFrame, *, title: str = "Sizes of reads and writes") -> "Chart":
    """Draw the rows: one bar for each power of two, reads beside writes."""
    alt = altair()
    sizes = rows.sort("low_bytes").with_columns(
        pl.struct("low_bytes", "high_bytes")
        .map_elements(lambda size: bin_label(size["low_bytes"]), return_dtype=pl.String)
        .alias("size")
    )
    drawn: Chart = (
        alt.Chart(sizes, title=title)
        .mark_bar()
        .encode(
            x=alt.X(
                "size:N",
                title="bytes moved, at least",
                sort=None,
                axis=alt.Axis(labelAngle=0, labelOverlap=True),
            ),
            xOffset=alt.XOffset("way:N", sort=_WAYS),
            y=count_axis("calls", title="calls"),
            color=ways("way", _WAYS),
            tooltip=tooltip(
                "way",
                ("low_bytes", "at least (bytes)", COUNT),
                ("high_bytes", "less than (bytes)", COUNT),
                ("calls", None, COUNT),
                ("bytes", None, COUNT),
            ),
        )
        .properties(width=WIDTH, height=240)
    )
    return drawn
