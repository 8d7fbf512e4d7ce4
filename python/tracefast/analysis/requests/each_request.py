"""Requests to block devices, one a row: when each was issued, its size and latency."""

from typing import TYPE_CHECKING, Final

import polars as pl

from tracefast._polars.map_rows import map_rows
from tracefast.analysis.decoded_fields import decoded
from tracefast.analysis.requests.records import (
    BLK,
    COMPLETE,
    ISSUE,
    REQUEST_FIELDS,
    REQUEST_RECORD,
    REQUESTS,
    completions,
    request_records,
    without_requeues,
)

if TYPE_CHECKING:
    from tracefast._polars.given_events import Events

_SCHEMA: Final = pl.Schema(
    {
        "source": pl.String(),
        "ts": pl.Datetime("ns"),
        "dev": pl.String(),
        "op": pl.String(),
        "size": pl.Int64(),
        "latency": pl.Int64(),
        "known": pl.Boolean(),
    }
)


def decoded_records(events: "Events") -> pl.LazyFrame:
    """Decode the records that requests are made of, and those about lost ones."""
    return decoded(
        events,
        (*REQUESTS, BLK),
        record=REQUEST_RECORD,
        fields=REQUEST_FIELDS,
        question="tracefast.blocks",
        lost=True,
    )


def each_request(events: "Events") -> pl.LazyFrame:
    """Give one row per request that was issued to a driver.

    Returns
    -------
    polars.LazyFrame
        `source`, `ts`, `dev`, `op`, `size` in bytes, `latency` in nanoseconds (null where the log
        has no completion), `known` (the log has completions).

    Examples
    --------
    >>> import tracefast as tf
    >>> rows = each_request(tf.scan("demo.ftrace")).select("op", "size", "latency")
    >>> rows.collect().rows()
    [('read', 8192, 100000)]
    """
    return map_rows(decoded_records(events), _of_records, _SCHEMA)


def _of_records(records: pl.DataFrame) -> pl.DataFrame:
    tables = [_of_log(log) for log in records.partition_by("source", maintain_order=True)]
    return pl.concat([pl.DataFrame(schema=_SCHEMA), *tables])


def _of_log(log: pl.DataFrame) -> pl.DataFrame:
    log = log.with_row_index("row")
    rows = without_requeues(request_records(log))
    done = completions(rows, log).select("row", "latency")
    table = (
        rows.filter(pl.col("name") == ISSUE)
        .join(done, on="row", how="left", maintain_order="left")
        .with_columns(
            pl.lit(log["source"][0], pl.String).alias("source"),
            pl.lit((rows["name"] == COMPLETE).any()).alias("known"),
        )
    )
    return table.select(pl.col(name).cast(dtype) for name, dtype in _SCHEMA.items())
