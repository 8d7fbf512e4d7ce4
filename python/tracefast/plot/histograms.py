"""Histograms by powers of two, as bpftrace counts them."""

import polars as pl

from tracefast.plot.bounds import SERIES


def power_of_two(value: pl.Expr) -> pl.Expr:
    """Give the largest power of two that is not more than a whole number; 0 for 0.

    Examples
    --------
    >>> pl.select(power_of_two(pl.Series([0, 1, 3, 4096, 2**53 - 1]))).to_series().to_list()
    [0, 1, 2, 4096, 4503599627370496]
    """
    return from_bits(bits_of(value))


def bits_of(value: pl.Expr) -> pl.Expr:
    """Count the bits of a whole number: 0 for 0, null for one below 0."""
    # Without a logarithm, whose result is rounded: leading zeros are counted.
    bits = 64 - value.cast(pl.Int64).bitwise_leading_zeros()
    return pl.when(value >= 0).then(bits).cast(pl.UInt8)


def from_bits(bits: pl.Expr) -> pl.Expr:
    """Give the smallest number that has so many bits.

    Examples
    --------
    >>> pl.select(from_bits(bits_of(pl.Series([0, 1, 3, -1])))).to_series().to_list()
    [0, 1, 2, None]
    """
    power = pl.lit(2, pl.Int64).pow(bits.clip(1).cast(pl.Int64) - 1)
    return pl.when(bits > 0).then(power).when(bits == 0).then(0).cast(pl.Int64)


def durations(table: pl.LazyFrame, by: str, column: str, most: int = SERIES) -> pl.DataFrame:
    """Count the durations of a table by powers of two.

    Parameters
    ----------
    table
        The table.
    by, column
        Its columns: what has a histogram of its own, and the nanoseconds.
    most
        How many histograms there may be: those with the longest sum.

    Returns
    -------
    polars.DataFrame
        `name`, the longest sum first; `low_ns`, `high_ns`, `calls`, `total_ns`.

    Examples
    --------
    >>> rows = pl.LazyFrame({"on": ["pipe", "pipe", "futex"], "dur_ns": [5, 7, 100]})
    >>> durations(rows, "on", "dur_ns").rows()
    [('futex', 64, 128, 1, 100), ('pipe', 4, 8, 2, 12)]
    """
    return longest(
        table.filter(pl.col(column) >= 0)
        .select(
            pl.col(by).cast(pl.String).alias("name"),
            power_of_two(pl.col(column)).alias("low_ns"),
            pl.col(column).alias("ns"),
        )
        .group_by("name", "low_ns")
        .agg(pl.len().alias("calls"), pl.col("ns").sum().alias("total_ns"))
        .collect(engine="streaming"),
        most,
    )


def longest(counted: pl.DataFrame, most: int) -> pl.DataFrame:
    """Keep the histograms with the longest sums.

    Parameters
    ----------
    counted
        `name`, `low_ns`, `calls`, `total_ns`.
    most
        How many histograms to keep.

    Returns
    -------
    polars.DataFrame
        As `durations` gives it.
    """
    names = (
        counted.group_by("name")
        .agg(pl.col("total_ns").sum().alias("sum"))
        .sort("sum", "name", descending=[True, False])
        .head(most)
    )
    high = pl.max_horizontal(2 * pl.col("low_ns"), pl.lit(1)).alias("high_ns")
    return (
        names.join(counted, on="name", nulls_equal=True)
        .sort("sum", "name", "low_ns", descending=[True, False, False])
        .select("name", "low_ns", high, "calls", "total_ns")
    )


def bin_label(low: int) -> str:
    """Write the lower edge of a bin as bpftrace does.

    Examples
    --------
    >>> bin_label(0), bin_label(512), bin_label(4096), bin_label(1 << 21)
    ('0', '512', '4K', '2M')
    """
    units = ("", "K", "M", "G", "T", "P", "E")
    unit = 0
    while low >= 1024 and low % 1024 == 0:  # noqa: PLR2004
        low //= 1024
        unit += 1
    return f"{low}{units[unit]}"
