"""One row per file and operation: what reached the block devices."""

from functools import partial

import polars as pl

from tracefast._polars.declared_schema import declared_schema
from tracefast._polars.given_events import Events
from tracefast._polars.map_rows import map_rows
from tracefast._polars.percentile import ranked
from tracefast.analysis.files.inode_map import InodeMap, inode_frame
from tracefast.analysis.join.kernel import kernel_events, requests_with_files

SCHEMA = declared_schema("blocks_by_file")
_FILE = ("source", "dev", "op", "file_dev", "ino")


def blocks_by_file(
    events: Events, inode_map: InodeMap | None = None, page_bytes: int = 4096
) -> pl.LazyFrame:
    """Give one row per device, operation and file; see :func:`tracefast.blocks`.

    Parameters
    ----------
    events
        The events of a log, of Parquet files, or a part of them.
    inode_map
        Paths by device and inode.
    page_bytes
        Size of a page on the machine of the log.
    """
    table = map_rows(
        kernel_events(events, page_bytes, "tracefast.blocks"),
        partial(_of_records, page_bytes=page_bytes),
        SCHEMA,
    )
    if inode_map is None:
        return table
    paths = inode_frame(inode_map).rename({"dev": "file_dev", "path": "known"})
    return (
        table.join(paths, on=("file_dev", "ino"), how="left", maintain_order="left")
        .with_columns(pl.coalesce("path", "known").alias("path"))
        .drop("known")
    )


def _of_records(records: pl.DataFrame, page_bytes: int) -> pl.DataFrame:
    tables = [
        _of_log(log, page_bytes) for log in records.partition_by("source", maintain_order=True)
    ]
    table = pl.concat([pl.DataFrame(schema=SCHEMA), *tables])
    return table.sort("bytes", *_FILE, descending=[True, *[False] * len(_FILE)], nulls_last=True)


def _of_log(log: pl.DataFrame, page_bytes: int) -> pl.DataFrame:
    issued, moved = requests_with_files(log, page_bytes)
    took = (pl.col("done") - pl.col("at")).alias("took")
    parts = (
        moved.group_by("request", "file_dev", "ino")
        .agg(pl.col("bytes").sum())
        .join(
            issued.select(pl.col("row").alias("request"), "dev", "op", took, "ahead"), on="request"
        )
        .with_columns(pl.lit(log["source"][0], pl.String).alias("source"))
    )
    table = parts.group_by(_FILE).agg(
        pl.lit(None, pl.String).alias("path"),
        pl.len().alias("requests"),
        pl.col("bytes").sum(),
        pl.col("took").count().alias("completed"),
        ranked(pl.col("took"), 50).alias("latency_p50_ns"),
        pl.col("took").max().alias("latency_max_ns"),
        pl.col("ahead").mean().alias("readahead_share"),
    )
    return table.select(pl.col(name).cast(dtype) for name, dtype in SCHEMA.items())
