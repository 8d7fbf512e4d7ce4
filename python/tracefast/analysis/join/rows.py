"""Frames that are too large for memory: in files, of which a part at a time is read."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import polars as pl

# Rows that are in memory at a time: a few dozen megabytes.
PART: Final = 1 << 16
# Rows of a group, of which Parquet keeps the lowest and highest values, so that others are skipped.
_GROUP: Final = 1 << 14


class Rows:
    """The rows of a query in a file.

    Parameters
    ----------
    query
        It is run now.
    path
        The file.

    Raises
    ------
    OSError
        The file cannot be written.
    """

    def __init__(self, query: pl.LazyFrame, path: Path) -> None:
        query.sink_parquet(path, compression="lz4", row_group_size=_GROUP)
        self.all = pl.scan_parquet(path, glob=False)
        """All rows, as a query."""
        self.height = int(self.all.select(pl.len()).collect().item())

    def __iter__(self) -> Iterator[pl.DataFrame]:
        """Give the rows in parts, in their order."""
        for first in range(0, self.height, PART):
            yield self.all.slice(first, PART).collect()

    def between(self, column: str, first: int, end: int) -> pl.DataFrame:
        """Give the rows with a column from `first` up to and without `end`."""
        value = pl.col(column)
        return self.all.filter(value >= first, value < end).collect()
