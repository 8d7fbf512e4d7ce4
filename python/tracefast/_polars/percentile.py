"""Percentiles that are values of the data, not means of two of them."""

import polars as pl


def ranked(values: pl.Expr, percent: int) -> pl.Expr:
    """Give a percentile by nearest rank: the value at position ceil(percent / 100 * n).

    Parameters
    ----------
    values
        The values; null counts as none.
    percent
        Which percentile, from 1 to 100.

    Examples
    --------
    >>> pl.DataFrame({"ns": [7, 11, None, 12, 16]}).select(ranked(pl.col("ns"), 50)).item()
    11
    """
    place = (values.count() * percent + 99) // 100 - 1
    return values.drop_nulls().sort().get(place, null_on_oob=True)
