"""Select the columns that polars asks a source for."""

from collections.abc import Sequence

import polars as pl


def project(table: pl.DataFrame, columns: Sequence[str] | None) -> pl.DataFrame:
    """Select columns and keep the number of rows, even if no column is wanted.

    polars asks for no column to count or to number rows, and `DataFrame.select` would give no rows.

    Parameters
    ----------
    table
        The rows.
    columns
        The wanted columns; None for all.

    Examples
    --------
    >>> table = pl.DataFrame({"pid": [7, 8], "tid": [7, 9]})
    >>> project(table, ["tid"]).rows()
    [(7,), (9,)]
    >>> project(table, []).height, table.select([]).height
    (2, 0)
    """
    if columns is None:
        return table
    return table.select(columns) if columns else pl.DataFrame(height=table.height)
