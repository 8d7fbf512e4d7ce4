"""Histograms by powers of two, as bpftrace counts them."""

import polars as pl


def power_of_two(value: pl.Expr) -> pl.Expr:
    """Give the largest power of two that is not more than a whole number; 0 for 0.

    Examples
    --------
    >>> pl.select(power_of_two(pl.Series([0, 1, 3, 4096, 2**53 - 1]))).to_series().to_list()
    [0, 1, 2, 4096, 4503599627370496]
    """
    # Without a logarithm, whose result is rounded: leading zeros are counted.
    bits = 63 - value.clip(1).cast(pl.Int64).bitwise_leading_zeros().cast(pl.Int64)
    return pl.when(value > 0).then(pl.lit(2, pl.Int64).pow(bits)).otherwise(0).cast(pl.Int64)


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
