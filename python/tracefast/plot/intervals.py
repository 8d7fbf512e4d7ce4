"""How many intervals there are at each moment: waits, open files."""

from collections.abc import Sequence
from typing import Final

import polars as pl

_LEAST_WIDTH: Final = 1


def width_of(first: int, last: int, bins: int) -> int:
    """Give the width of bins that cover all from the first to the last nanosecond.

    Examples
    --------
    >>> width_of(0, 999, 10), width_of(5, 5, 10)
    (100, 1)
    """
    return max(-(-(last - first + 1) // bins), _LEAST_WIDTH)


def at_once(
    intervals: pl.LazyFrame, first: int, width: int, bins: int, by: Sequence[str] = ()
) -> pl.DataFrame:
    """Count how many intervals there are in each bin, on average over its time.

    Parameters
    ----------
    intervals
        Columns `start` and `end`, in nanoseconds, and those of `by`.
    first
        Where the first bin starts.
    width, bins
        The length of a bin in nanoseconds, and how many there are.
    by
        Count each of these apart.

    Returns
    -------
    polars.DataFrame
        What it is counted by, `bin` from 0, `value`.

    Examples
    --------
    >>> rows = pl.LazyFrame({"start": [0, 5], "end": [20, 10]})
    >>> at_once(rows, 0, 10, 3)["value"].to_list()
    [1.5, 1.0, 0.0]
    """
    # The time in intervals before an edge is the sum of what started before it, less what ended:
    # so sums for each bin are enough, however many intervals there are.
    last = first + width * bins
    keys = [*by, "bin"]

    def turned(column: str, sign: int) -> pl.LazyFrame:
        at = pl.col(column).clip(first, last) - first
        return (
            intervals.select(
                *by,
                (at // width).clip(0, bins - 1).alias("bin"),
                (at % width + pl.when(at == width * bins).then(width).otherwise(0)).alias("inside"),
            )
            .group_by(keys)
            .agg(
                (sign * pl.len().cast(pl.Int64)).alias("count"),
                (sign * (width - pl.col("inside")).cast(pl.Float64).sum()).alias("time"),
            )
        )

    changes = pl.concat([turned("start", 1), turned("end", -1)]).group_by(keys).sum().collect()
    edges = pl.DataFrame({"bin": pl.int_range(bins, eager=True)})
    if by:
        edges = changes.select(by).unique(maintain_order=True).join(edges, how="cross")
    edges = edges.join(changes, keys, "left", nulls_equal=True, maintain_order="left")
    before = pl.col("count").fill_null(0).cum_sum().shift(1, fill_value=0)
    before = before.over(by) if by else before
    value = before + pl.col("time").fill_null(0.0) / width
    return edges.select(*keys, value.cast(pl.Float64).alias("value"))
