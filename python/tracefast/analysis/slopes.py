"""How one quantity grows with another, in spite of outliers."""

from typing import Final, NamedTuple

import polars as pl

# Pairs grow with the square: 1,500 points have a million of them.
MOST_POINTS: Final = 1_500
# Two points have a slope, but nothing that speaks for it.
_LEAST_POINTS: Final = 3


class Slope(NamedTuple):
    """A line through points, after Theil and Sen."""

    slope: float
    """Median of the slopes of all pairs of points."""
    r2: float | None
    """Squared correlation of the points; None where all `y` are the same."""
    points: int
    """How many points were taken."""


def theil_sen(x: pl.Series, y: pl.Series) -> Slope | None:
    """Estimate how much `y` grows per unit of `x`.

    The estimate is the median of the slopes of all pairs of points, exact and without chance. Of
    more than `MOST_POINTS` points an even choice is taken, in order of `x`, with both ends.

    Parameters
    ----------
    x, y
        Numbers, of the same length. Points that lack one of the two are left out.

    Returns
    -------
    Slope or None
        None for fewer than three points, and where all `x` are the same.

    Examples
    --------
    >>> theil_sen(pl.Series([1, 2, 3, 4, 5]), pl.Series([10, 20, 30, 40, 1000])).slope
    10.0
    """
    points = (
        pl.DataFrame({"x": x, "y": y})
        .cast(pl.Float64)
        .drop_nulls()
        # In an order that does not depend on that of the rows.
        .sort("x", "y")
    )
    if points.height > MOST_POINTS:
        last = points.height - 1
        points = points[[i * last // (MOST_POINTS - 1) for i in range(MOST_POINTS)]]
    if points.height < _LEAST_POINTS:
        return None
    numbered = points.with_row_index("i")
    slopes = (
        numbered.lazy()
        # Of equal `x` there is no slope.
        .join_where(numbered.lazy(), pl.col("x") < pl.col("x_right"))
        .select(((pl.col("y_right") - pl.col("y")) / (pl.col("x_right") - pl.col("x"))).median())
        .collect()
        .item()
    )
    if slopes is None:
        return None
    r = points.select(pl.corr("x", "y")).item()
    r2 = None if r is None or r != r else r * r  # noqa: PLR0124 - NaN where y does not vary
    return Slope(slopes, r2, points.height)
