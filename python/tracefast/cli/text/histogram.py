"""Histograms in text, as bpftrace prints them."""

from collections.abc import Callable
from typing import Final

import polars as pl

from tracefast.cli.system.colours import bold_heading
from tracefast.cli.text.escaping import printable

# As wide as those of bpftrace.
_BAR: Final = 52
_WIDTH: Final = 79


def histograms(
    rows: pl.DataFrame,
    by: str,
    unit: str,
    label: Callable[[int], str],
    *,
    bold: bool = False,
) -> str:
    """Write histograms below each other, each bin on a line, as bpftrace does.

    Parameters
    ----------
    rows
        One row per bin, in order; bins without calls are left out in it.
    by
        The column that says of which histogram a row is.
    unit
        The end of the name of the column with the lower limits: ``bytes`` or ``ns``.
    label
        Writes a limit of a bin.
    bold
        Write the names in bold.

    Examples
    --------
    >>> rows = pl.DataFrame({"way": ["read", "read"], "low_b": [1, 4], "calls": [4, 1]})
    >>> print(histograms(rows, "way", "b", str).replace(" ", "."))
    read:
    [1,.2).4.|@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
    [2,.4).0.|....................................................|
    [4,.8).1.|@@@@@@@@@@@@@.......................................|
    <BLANKLINE>
    """
    parts = [
        (printable(str(name[0] or "?")), dict(part.select(f"low_{unit}", "calls").iter_rows()))
        for name, part in rows.group_by(by, maintain_order=True)
    ]
    bins = {
        low: f"[{label(low)}, {label(max(2 * low, 1))})"
        for _, counts in parts
        for low in _without_gaps(min(counts), max(counts))
    }
    room = max(map(len, bins.values()), default=0)
    width = max((len(f"{count:,}") for _, counts in parts for count in counts.values()), default=0)
    bar = min(_WIDTH - room - width - len("  ||"), _BAR)
    written = []
    for name, counts in parts:
        most = max(counts.values())
        lines = [f"{name}:\n"]
        for low in _without_gaps(min(counts), max(counts)):
            count = counts.get(low, 0)
            drawn = "@" * round(bar * count / most)
            lines.append(f"{bins[low]:<{room}} {count:>{width},} |{drawn:<{bar}}|\n")
        text = "".join(lines)
        written.append(bold_heading(text) if bold else text)
    return "\n".join(written)


def _without_gaps(first: int, last: int) -> list[int]:
    """Give the lower limits of all bins from the first to the last one."""
    limits = [first]
    while limits[-1] < last:
        limits.append(max(2 * limits[-1], 1))
    return limits
