"""Windows of time: how long they are, and in which one a row is."""

from datetime import timedelta
from typing import Final

import polars as pl

from tracefast.quantities import parse_duration

_MOST: Final = 2**62


def window_ns(every: str | timedelta) -> int:
    """Give the length of a window in nanoseconds.

    Parameters
    ----------
    every
        A span such as ``"100ms"``, or a timedelta.

    Raises
    ------
    ValueError
        It is no span of time, or not longer than 0.

    Examples
    --------
    >>> window_ns("100ms"), window_ns(timedelta(seconds=2))
    (100000000, 2000000000)
    """
    if isinstance(every, timedelta):
        ns = every // timedelta(microseconds=1) * 1000
    else:
        try:
            ns = parse_duration(every)
        except (AttributeError, ValueError) as error:
            raise ValueError(f"every must be a span such as '100ms', got {every!r}") from error
    if not 0 < ns < _MOST:
        raise ValueError(f"every must be longer than 0, got {every!r}")
    return ns


def window_of(ts: pl.Expr, ns: int) -> pl.Expr:
    """Give the start of the window in which a time is.

    Examples
    --------
    >>> pl.select(window_of(pl.lit(1_250, pl.Int64).cast(pl.Datetime("ns")), 100)).item()
    datetime.datetime(1970, 1, 1, 0, 0, 0, 1)
    """
    return (ts.cast(pl.Datetime("ns")).cast(pl.Int64) // ns * ns).cast(pl.Datetime("ns"))
