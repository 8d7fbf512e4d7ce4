"""The exact number of distinct bytes that ranges cover, for any group of rows."""

from collections.abc import Iterable, Iterator, Sequence

import polars as pl
from polars.io.plugins import register_io_source

from tracefast import _core
from tracefast._polars.given_events import Events, rows_of
from tracefast._polars.projection import project

_GROUP, _START, _LENGTH = "__group", "__start", "__length"


def covered_bytes(
    rows: Events,
    *,
    by: str | Sequence[str],
    start: str | pl.Expr = "offset",
    length: str | pl.Expr = "bytes",
) -> pl.LazyFrame:
    """Give, for each group of rows, the number of distinct bytes that their ranges cover.

    A sum counts bytes twice that are read twice. This function shows how much of a file was read,
    for example by each process. Memory grows with the number of separate ranges, not with the rows.

    Parameters
    ----------
    rows
        Events, or anything else with ranges.
    by
        The columns to group by; null is a value like any other.
    start, length
        Columns or expressions: where a range starts and how long it is, integers. Rows where one
        of them is null, or `length` is not above zero, cover nothing.

    Returns
    -------
    polars.LazyFrame
        The columns `by` and `covered_bytes`, Int64; groups in the order of their first rows.

    Raises
    ------
    polars.exceptions.ColumnNotFoundError
        A column is missing.
    TypeError
        `rows` is not a table, or another argument is not a column.
    ValueError
        `by` is empty, or names a column twice.

    Examples
    --------
    >>> import polars as pl
    >>> import tracefast as tf
    >>> reads = pl.LazyFrame({"path": ["a", "b", "a"], "offset": [0, 7, 50], "bytes": [100, 3, 70]})
    >>> tf.covered_bytes(reads, by="path").collect().rows()
    [('a', 120), ('b', 3)]
    """
    keys = [by] if isinstance(by, str) or not isinstance(by, Iterable) else list(by)
    if not all(isinstance(key, str) for key in keys):
        raise TypeError(f"by must be the name of one column or several, got {by!r}")
    if not keys or len(set(keys)) != len(keys):
        raise ValueError(f"by must be one column or several different ones, got {by!r}")

    def column(value: str | pl.Expr, name: str) -> pl.Expr:
        return (pl.col(value) if isinstance(value, str) else value).cast(pl.Int64).alias(name)

    names = list(dict.fromkeys([*keys, *_names("start", start), *_names("length", length)]))
    events = rows_of(rows, names, "tracefast.covered_bytes")
    ranges = events.select(*keys, column(start, _START), column(length, _LENGTH))
    have = ranges.collect_schema()
    schema = pl.Schema({**{key: have[key] for key in keys}, "covered_bytes": pl.Int64()})

    def source(
        with_columns: list[str] | None,
        predicate: pl.Expr | None,
        n_rows: int | None,
        _batch_size: int | None,
    ) -> Iterator[pl.DataFrame]:
        table = _run(ranges, keys, schema)
        if n_rows is not None:
            table = table.head(n_rows)
        if predicate is not None:
            table = table.filter(predicate)
        yield project(table, with_columns)

    return register_io_source(source, schema=schema, is_pure=True, explain_name="COVERED BYTES")


def _names(argument: str, value: str | pl.Expr) -> list[str]:
    """List the columns that a value is computed from."""
    if isinstance(value, str):
        return [value]
    if not isinstance(value, pl.Expr):
        raise TypeError(f"{argument} must be the name of a column or an expression, got {value!r}")
    return value.meta.root_names()


def _run(ranges: pl.LazyFrame, keys: list[str], schema: pl.Schema) -> pl.DataFrame:
    fold = _core.Covered()
    groups = pl.DataFrame(schema={**{key: schema[key] for key in keys}, _GROUP: pl.UInt32})
    for batch in ranges.collect_batches(maintain_order=True):
        new = (
            batch.select(keys)
            .unique(maintain_order=True)
            .join(groups, on=keys, how="anti", nulls_equal=True, maintain_order="left")
        )
        if not new.is_empty():
            numbers = pl.int_range(groups.height, groups.height + new.height, dtype=pl.UInt32)
            groups = groups.vstack(new.with_columns(numbers.alias(_GROUP)))
        numbered = batch.join(groups, on=keys, how="left", nulls_equal=True)
        fold.push(numbered.select(_GROUP, _START, _LENGTH))
    lengths = pl.DataFrame(fold.finish())["length"].alias("covered_bytes")
    return groups.select(keys).with_columns(lengths)
