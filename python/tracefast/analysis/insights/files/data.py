"""What rules about files have in common."""

from collections.abc import Collection

import polars as pl

from tracefast.analysis.insights.finding import Calls
from tracefast.quantities import Range, plural


def total(files: pl.DataFrame, column: str) -> int:
    """Sum up a column of files."""
    return int(files[column].sum())


def path_of(files: pl.DataFrame) -> str | None:
    """Name the first file."""
    name = files["path"][0]
    return None if name is None else str(name)


def of_files(files: pl.DataFrame) -> str:
    """Say of how many files something is.

    Examples
    --------
    >>> of_files(pl.DataFrame({"path": ["/a", "/b"]})), of_files(pl.DataFrame({"path": ["/a"]}))
    ('2 files', '1 file')
    """
    return plural(files.height, "file")


def took(time: Range) -> str:
    """Say how long something took; nothing if the log has no times.

    Examples
    --------
    >>> took(Range(1_000_000, 2_000_000)), took(Range(0, 0))
    (', in 1.00 to 2.00 ms', '')
    """
    return f", in {time}" if time.high else ""


def part_of(time: Range, share: float) -> Range | None:
    """Give a part of a time; None if the log has no times.

    Examples
    --------
    >>> part_of(Range(100, 200), 0.5)
    Range(low=50, high=100)
    """
    return Range(int(time.low * share), int(time.high * share)) if time.high else None


def calls_on(
    files: pl.DataFrame, names: Collection[str], access: Collection[str] = ()
) -> Calls | None:
    """Say which calls on files to show; None if these have no identity."""
    known = files["file"].drop_nulls().to_list()
    return Calls(names=names, files=known, access=access) if known else None
