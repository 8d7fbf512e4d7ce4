"""How one quantity grows with another, robust against outliers."""

import statistics
from collections.abc import Sequence
from itertools import combinations
from typing import Final, NamedTuple

import polars as pl

# Pairs grow with the square: 1,500 points have a million of them.
MOST_POINTS: Final = 1_500
# Two points have a slope, but nothing that speaks for it.
_LEAST_POINTS: Final = 3
_FEW_POINTS: Final = 40


class Slope(NamedTuple):
    """A line through points, after Theil and Sen."""

    slope: float
    """Median of the slopes of all pairs of points."""
    r2: float | None
    """Squared correlation of the points; None where all `y` are the same."""
    points: int
    """How many points were taken."""


def theil_sen(x: Sequence[float | None], y: Sequence[float | None]) -> Slope | None:
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
    >>> theil_sen([1, 2, 3, 4, 5], [10, 20, 30, 40, 1000]).slope
    10.0
    """
    # In an order that does not depend on that of the rows.
    points = sorted((a, b) for a, b in zip(x, y, strict=True) if a is not None and b is not None)
    if len(points) > MOST_POINTS:
        last = len(points) - 1
        points = [points[i * last // (MOST_POINTS - 1)] for i in range(MOST_POINTS)]
    if len(points) < _LEAST_POINTS:
        return None
    slope = _few(points) if len(points) <= _FEW_POINTS else _many(points)
    return None if slope is None else Slope(slope, _r2(points), len(points))


def _few(points: list[tuple[float, float]]) -> float | None:
    """Take the median of a number of slopes that is not worth a query."""
    slopes = [(d - b) / (c - a) for (a, b), (c, d) in combinations(points, 2) if a != c]
    return statistics.median(slopes) if slopes else None


def _many(points: list[tuple[float, float]]) -> float | None:
    frame = pl.LazyFrame(points, schema={"x": pl.Float64, "y": pl.Float64}, orient="row")
    slope = (pl.col("y_right") - pl.col("y")) / (pl.col("x_right") - pl.col("x"))
    # Of equal `x` there is no slope.
    pairs = frame.join_where(frame, pl.col("x") < pl.col("x_right"))
    found: float | None = pairs.select(slope.median()).collect().item()
    return found


def _r2(points: list[tuple[float, float]]) -> float | None:
    try:
        r = statistics.correlation([a for a, _ in points], [b for _, b in points])
    except statistics.StatisticsError:
        # All `y` are the same.
        return None
    return r * r
