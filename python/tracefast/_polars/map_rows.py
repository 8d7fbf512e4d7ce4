"""Functions of Python as steps of a lazy query."""

from collections.abc import Callable

import polars as pl

from tracefast._polars.compatible_types import Types


def map_rows(
    rows: pl.LazyFrame,
    function: Callable[[pl.DataFrame], pl.DataFrame],
    schema: Types,
    *,
    by_batch: bool = False,
) -> pl.LazyFrame:
    """Apply a function to the rows of a query, before polars drops any of them.

    Conditions on the result, and the choice of its columns and of its first rows, apply after it.

    Parameters
    ----------
    rows
        The query.
    function
        What to apply.
    schema
        The columns of its result.
    by_batch
        Whether batches may be passed to it one by one, so that a log of any size streams through.

    Examples
    --------
    >>> rows = pl.LazyFrame({"n": [1, 2, 3]})
    >>> total = map_rows(rows, lambda all_rows: all_rows.sum(), {"n": pl.Int64()})
    >>> total.filter(pl.col("n") > 3).collect().item()
    6
    """
    return rows.map_batches(
        function,
        predicate_pushdown=False,
        projection_pushdown=False,
        slice_pushdown=False,
        streamable=by_batch,
        schema=schema,
    )
