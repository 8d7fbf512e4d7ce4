"""Overlapping spans of time: how many at the same time, and how long at least one is open."""

from collections.abc import Sequence

import polars as pl


def most_at_once(spans: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """Give the largest number of spans that are open at the same time.

    Parameters
    ----------
    spans
        Columns `start` and `end`, whole numbers; a span without an end never ends, one without
        a start is left out. A span that ends where another starts is not open with it.
    by
        Columns to group by.

    Returns
    -------
    polars.DataFrame
        The columns of `by`, and `most`: UInt32.

    Examples
    --------
    >>> spans = pl.DataFrame({"g": ["a"] * 3, "start": [0, 5, 10], "end": [10, 20, 15]})
    >>> most_at_once(spans, ["g"]).rows()
    [('a', 2)]
    """
    known = spans.filter(pl.col("start").is_not_null())
    steps = pl.concat(
        [
            known.select(*by, pl.col("start").alias("at"), pl.lit(1).alias("step")),
            known.filter(pl.col("end").is_not_null()).select(
                # A span of no length is open for an instant, too.
                *by,
                pl.max_horizontal("end", pl.col("start") + 1).alias("at"),
                pl.lit(-1).alias("step"),
            ),
        ]
    )
    return (
        steps.sort("at", "step")
        .group_by(by, maintain_order=True)
        .agg(pl.col("step").cum_sum().max().cast(pl.UInt32).alias("most"))
    )


def covered(spans: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """Measure the time in which at least one span is open.

    Parameters
    ----------
    spans
        Columns `start` and `end`, whole numbers; spans that lack one of them are left out.
    by
        Columns to group by.

    Returns
    -------
    polars.DataFrame
        The columns of `by`, and `covered`: Int64, in the unit of the spans.

    Examples
    --------
    >>> spans = pl.DataFrame({"g": ["a"] * 3, "start": [0, 5, 30], "end": [10, 20, 31]})
    >>> covered(spans, ["g"]).rows()
    [('a', 21)]
    """
    before = pl.col("end").cum_max().shift(1, fill_value=pl.col("start").min())
    fresh = pl.col("end") - pl.max_horizontal("start", before)
    return (
        spans.filter(pl.col("start").is_not_null() & pl.col("end").is_not_null())
        .sort("start", "end")
        .group_by(by, maintain_order=True)
        .agg(fresh.clip(lower_bound=0).sum().cast(pl.Int64).alias("covered"))
    )
