"""What several workers of a pool read, each for itself: one row per file, or per folder."""

from typing import Final, Literal, get_args

import polars as pl

from tracefast import _core
from tracefast._polars.given_events import Events
from tracefast.analysis.workers.table import workers_in_detail
from tracefast.arguments import check_choice

By = Literal["folder"]

_POOL: Final = ("source", "pool")
# The columns of the table, and their types, by the lists in which the fold gives them for the first
# worker of each pool.
_LISTS: Final[dict[str, tuple[str, type[pl.DataType]]]] = {
    "shared_paths": ("path", pl.String),
    "shared_readers": ("readers", pl.UInt32),
    "shared_bytes": ("read_bytes", pl.Int64),
    "shared_again_bytes": ("read_shared_bytes", pl.Int64),
}


def shared_reads(events: Events, *, by: By | None = None) -> pl.LazyFrame:
    r"""Give one row per pool and file of which several workers read the same, each for itself.

    Parameters
    ----------
    events
        The events of a log or of Parquet files, in their order: all of them, as for
        `tracefast.workers`, which says what a pool is.
    by
        ``"folder"`` for one row per folder of such files: the columns are those of the table
        ``shared_reads_by_folder`` of :doc:`tables`.

    Returns
    -------
    polars.LazyFrame
        In order of `source` and `pool`, largest `read_shared_bytes` first. Only bytes at known
        positions count. Columns that end in ``_bytes`` are bytes.

        `source` : String
            The log.
        `pool` : UInt32
            Number of the pool, as in `tracefast.workers`.
        `file` : UInt64
            Identity of the file, as in `tracefast.files`.
        `path` : String
            Its name; null where the log does not show it.
        `workers` : UInt32
            Workers of the pool, in all rounds.
        `readers` : UInt32
            Those of them that read the file.
        `read_bytes` : Int64
            The sum of the distinct bytes that each worker read.
        `read_shared_bytes` : Int64
            `read_bytes` minus the distinct bytes that all of them read together: what one that
            reads for all would save.

    Raises
    ------
    ValueError
        `by` is another word.
    polars.exceptions.ColumnNotFoundError
        The events lack a column that is needed.

    Examples
    --------
    A process that forks two workers, each of which reads the same file:

    >>> from pathlib import Path
    >>> import tracefast as tf
    >>> log = Path("worker.strace")
    >>> _ = log.write_text(
    ...     "7 1700000000.000000 pipe2([3, 4], 0) = 0 <0.000010>\n"
    ...     "7 1700000000.001000 clone(child_stack=NULL, flags=SIGCHLD) = 8 <0.000200>\n"
    ...     "7 1700000000.002000 clone(child_stack=NULL, flags=SIGCHLD) = 9 <0.000200>\n"
    ...     '7 1700000000.003000 write(4, "ab", 2) = 2 <0.000020>\n'
    ...     + "".join(
    ...         f'{pid} 1700000000.004000 read(3, "a", 1) = 1 <0.000020>\n'
    ...         f'{pid} 1700000000.005000 open("/srv/index.json", O_RDONLY) = 5 <0.000020>\n'
    ...         f'{pid} 1700000000.006000 read(5, "..."..., 4096) = 500 <0.000020>\n'
    ...         for pid in (8, 9)
    ...     )
    ... )
    >>> columns = "path", "workers", "readers", "read_bytes", "read_shared_bytes"
    >>> tf.shared_reads(tf.scan(log)).select(columns).collect().rows()
    [('/srv/index.json', 2, 2, 1000, 500)]
    >>> tf.shared_reads(tf.scan(log), by="folder").select("folder", "files").collect().rows()
    [('/srv', 1)]
    """
    check_choice("by", by, get_args(By))
    return shared_reads_of(workers_in_detail(events, question="tracefast.shared_reads"), by=by)


def shared_reads_of(workers: pl.LazyFrame, *, by: By | None = None) -> pl.LazyFrame:
    """Give what several workers of a pool read, of workers with their details."""
    counts = workers.group_by(_POOL).agg(pl.len().cast(pl.UInt32).alias("workers"))
    files = (
        workers.filter(pl.col("shared_files").list.len() > 0)
        .select(*_POOL, "shared_files", *_LISTS)
        .explode("shared_files", *_LISTS)
        .select(
            *_POOL,
            # A list of the fold has signed numbers.
            pl.col("shared_files").reinterpret(signed=False).alias("file"),
            *(pl.col(of).cast(dtype).alias(name) for of, (name, dtype) in _LISTS.items()),
        )
        .join(counts, on=_POOL, how="left", nulls_equal=True)
    )
    what = ["file", "path"] if by is None else ["folder", "files"]
    if by is not None:
        # Of a file in the root folder, it is "/".
        folder = pl.col("path").str.extract(r"^(.*)/[^/]*$")
        folder = pl.when(folder == "").then(pl.lit("/")).otherwise(folder).alias("folder")
        files = files.group_by(*_POOL, folder).agg(
            pl.len().cast(pl.UInt32).alias("files"),
            pl.col("workers").first(),
            pl.col("readers").max(),
            pl.sum("read_bytes", "read_shared_bytes"),
        )
    order = [*_POOL, *what, "workers", "readers", "read_bytes", "read_shared_bytes"]
    return files.select(order).sort(
        *_POOL,
        "read_shared_bytes",
        "path" if by is None else "folder",
        descending=[False, False, True, False],
        maintain_order=True,
    )


_NO_WORKERS: Final = pl.LazyFrame(schema=pl.Schema(_core.Workers().schema))
# The columns of the tables, and their types.
SCHEMA: Final = shared_reads_of(_NO_WORKERS).collect_schema()
BY_FOLDER: Final = shared_reads_of(_NO_WORKERS, by="folder").collect_schema()
