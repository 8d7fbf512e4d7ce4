"""How much a chart may hold, and how rows are folded until they fit."""

from typing import Final

import polars as pl

from tracefast.cli.text.escaping import printable

# Marks up to which a browser follows a brush without a delay.
BRUSHED: Final = 2_000
# Steps of a time axis: a chart is a few hundred points wide.
BINS: Final = 240
# Colours that people can still tell apart.
SERIES: Final = 8
# Characters of a name in a title or beside an axis.
_LABEL: Final = 48
_NS: Final = 1_000_000_000


def seconds(nanoseconds: pl.Expr) -> pl.Expr:
    """Give nanoseconds as seconds: charts do not take durations."""
    return nanoseconds.cast(pl.Float64) / _NS


def nanoseconds(ts: str) -> pl.Expr:
    """Give a column of times as nanoseconds on the clock of the log."""
    return pl.col(ts).dt.epoch("ns")


def origin_of(times: pl.Series, origin: int | None) -> int:
    """Say which nanosecond is second 0 of an axis: the first one, unless it was given."""
    if origin is not None:
        return origin
    first = times.min()
    return first if isinstance(first, int) else 0


def short_name(text: str, most: int = _LABEL) -> str:
    r"""Write a name in one line: control characters escaped, the end of a long one kept.

    Examples
    --------
    >>> short_name("/srv/a\nb"), short_name("/srv/models/large.bin", 12)
    ('/srv/a\\nb', '…s/large.bin')
    """
    plain = printable(text)
    return plain if len(plain) <= most else f"…{plain[1 - most :]}"


def short_names(name: str, most: int = _LABEL) -> pl.Expr:
    """Write the names of a column as `short_name` does."""
    return (
        pl.col(name)
        .cast(pl.String)
        .map_elements(lambda text: short_name(text, most), return_dtype=pl.String)
    )
