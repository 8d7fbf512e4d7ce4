"""The fields of several events in one pass, in the order of their rows."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Final

import polars as pl

from tracefast import _core
from tracefast._polars.given_events import Events, rows_of
from tracefast._polars.map_rows import map_rows

Dtypes = Mapping[str, pl.DataType | type[pl.DataType]]

_EVENT: Final = "event"
LOST: Final = "lost"


def decoded(
    events: Events,
    names: Iterable[str],
    *,
    record: Dtypes,
    fields: Dtypes,
    question: str,
    lost: bool = False,
) -> pl.LazyFrame:
    """Give chosen fields of several known events of ftrace, one row per record.

    A query for each event would read the log once per event.

    Parameters
    ----------
    events
        The events of a log, of Parquet files, or a part of them.
    names
        Names of events that :func:`tracefast.fields` knows.
    record
        Columns of the record to keep, and the types that they get.
    fields
        Fields to keep, and their types; null in events that do not have them.
    question
        Name of the function that was called, for messages.
    lost
        Keep the notes that records were lost as well, under the name `LOST`.

    Returns
    -------
    polars.LazyFrame
        `name` (String), the columns of the record, the fields.

    Examples
    --------
    >>> import tracefast as tf
    >>> dtypes = {"prev_pid": pl.Int32, "next_pid": pl.Int32, "child_pid": pl.Int32}
    >>> rows = decoded(
    ...     tf.scan("demo.ftrace"),
    ...     ["sched_switch", "sched_process_fork"],
    ...     record={"line": pl.UInt64},
    ...     fields=dtypes,
    ...     question="tracefast.blocks",
    ... )
    >>> rows.collect().rows()
    [('sched_process_fork', 2, None, None, 101), ('sched_switch', 3, 100, 101, None)]
    """
    wanted = list(names)
    event = (pl.col("kind").cast(pl.String) == _EVENT) & pl.col("name").cast(pl.String).is_in(
        wanted
    )
    note = pl.col("kind").cast(pl.String) == LOST
    needed = {"kind": pl.String, "name": pl.String, "args": pl.String, **record}
    schema = pl.Schema({"name": pl.String, **record, **fields})
    return (
        rows_of(events, needed, question)
        .filter(event | note if lost else event)
        .select(
            pl.when(note)
            .then(pl.lit(LOST))
            .otherwise(pl.col("name").cast(pl.String))
            .alias("name"),
            *(pl.col(name).cast(dtype) for name, dtype in record.items()),
            pl.col("args").cast(pl.String),
        )
        # In batches, so that texts are dropped before the whole log is read.
        .pipe(
            map_rows,
            partial(_decode, record=list(record), fields=fields),
            schema,
            by_batch=True,
        )
    )


def _decode(batch: pl.DataFrame, record: Sequence[str], fields: Dtypes) -> pl.DataFrame:
    rows = batch.with_row_index("row")
    parts = [_fields(part, name) for (name,), part in rows.group_by("name")]
    columns = [
        pl.col("row", "name", *record),
        *(pl.col(name).cast(dtype, strict=False) for name, dtype in fields.items()),
    ]
    found = [_with_all_fields(part, fields).select(columns) for part in (rows.clear(), *parts)]
    return pl.concat(found).sort("row").drop("row")


def _fields(rows: pl.DataFrame, name: object) -> pl.DataFrame:
    """Decode the records of one event."""
    decoder = _core.Decoder.for_event(name) if isinstance(name, str) and name != LOST else None
    if decoder is None:
        return rows
    parts = [pl.DataFrame(part) for part in decoder.decode(rows.select("args"))]
    return pl.concat([rows, pl.concat(parts)], how="horizontal")


def _with_all_fields(part: pl.DataFrame, fields: Dtypes) -> pl.DataFrame:
    """Add the fields that an event does not have."""
    return part.with_columns(
        pl.lit(None).alias(name) for name in fields if name not in part.columns
    )
