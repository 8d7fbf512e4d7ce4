"""One row per data access to one file, in order: where it started, how far it jumped."""

import os
from collections.abc import Callable, Sequence
from typing import Final

import polars as pl

from tracefast import _core
from tracefast._polars.declared_schema import declared_schema
from tracefast._polars.given_events import Events, rows_of
from tracefast.arguments import integer

SCHEMA: Final = declared_schema("accesses")

# Says of the columns of a path and of an identity whether they are those of the file.
_Choice = Callable[[str, str], pl.Expr]

READ, WRITE = "read", "write"
# Parts of io_submit are named like the calls that would do the same.
TRANSFERS: Final = _core.syscalls_that("transfers")
READS: Final = [
    *_core.syscalls_that("reads"),
    *_core.syscalls_that("receives"),
    *TRANSFERS,
]
WRITES: Final = [*_core.syscalls_that("writes"), *_core.syscalls_that("sends")]
_BASE: Final = "offset-base"

# What the second side of a transfer has, and what the first one calls it.
_SECOND: Final = {
    "path2": "path",
    "file2": "file",
    "ofd2": "ofd",
    "offset2": "offset",
    "access2": "access",
}
# The columns of the events that are needed, as the first side has them.
_NEEDED: Final[dict[str, pl.DataType | type[pl.DataType]]] = {
    **{name: dtype for name, dtype in SCHEMA.items() if name not in {"n", "way", "gap"}},
    "kind": pl.String,
    "status": pl.String,
    "path": pl.String,
}


def accesses(events: Events, path: str | os.PathLike[str] | int) -> pl.LazyFrame:
    """Give one row per data access of one file, in the order in which they took effect.

    Parameters
    ----------
    events
        The events of a log, of Parquet files, or a part of them.
    path
        The file: its complete path, either the one in the calls or the one by which it was first
        opened; or its identity, a number of the column `file`.

    Returns
    -------
    polars.LazyFrame
        A call that copies within the file has a row for its read and one for its write. Calls whose
        result strace injected are left out. Null means that the log cannot say.

        `source` : String
            The log.
        `n` : UInt32
            Number of the row, from 1.
        `ts` : Datetime
            When the call was entered.
        `task` : UInt32
            The task that made the call.
        `pid` : Int32
            Its process.
        `name` : String
            The call.
        `way` : String
            ``read`` or ``write``.
        `access` : String
            The class among the reads, or the writes, of the open file description `ofd`: ``first``,
            ``consecutive``, ``forward``, ``backward``, ``eof``, ``error``.
        `offset` : Int64, in bytes
            The position at which the access started.
        `offset_known` : String
            How reliable that position is: ``exact``, ``relative`` (to the first access of the open
            file description), ``assumed`` or ``assumed-relative`` (the same, if no call moved it
            that was not traced), ``ambiguous``, ``unknown``. A relative position is ``exact`` here
            if the log later shows what it is relative to.
        `gap` : Int64, in bytes
            Distance from the end of the previous access to this one, negative where it went back;
            null where one of the two positions is not known.
        `requested`, `bytes` : Int64, in bytes
            Bytes asked for, and moved.
        `errno` : String
            Name of the error if the call failed.
        `dur_ns` : Int64
            Time in the call.
        `ofd` : UInt32
            The open file description.
        `file` : UInt64
            Identity of the file.
        `line` : UInt64
            The line of the log on which the call started.

    Raises
    ------
    TypeError
        `path` is neither a path nor an integer.
    polars.exceptions.ColumnNotFoundError
        The events lack a column that is needed.

    Examples
    --------
    >>> import tracefast as tf
    >>> rows = tf.accesses(tf.scan("demo.strace"), "/srv/demo/data.bin").collect()
    >>> rows.select("n", "way", "requested", "bytes").rows()
    [(1, 'read', 4096, 4096), (2, 'read', 4096, 0)]
    """
    if not isinstance(path, str | os.PathLike):
        if isinstance(path, bool) or not hasattr(path, "__index__"):
            raise TypeError(
                "path must be the whole path of a file (str or os.PathLike) or its identity (int), "
                f"got {path!r}"
            )
        return of_files(events, [integer("path", path, low=0, high=2**64 - 1)])
    path = os.fspath(path)
    # A file keeps the identity that it got from its first name.
    first = _core.file_id(path.encode())

    def mine(name: str, file: str) -> pl.Expr:
        return (pl.col(name).cast(pl.String) == path) | (pl.col(file) == first)

    return _accesses(events, mine)


def of_files(events: Events, files: Sequence[int]) -> pl.LazyFrame:
    """Give the rows of :func:`accesses` for several identities, such as those of one path.

    Parameters
    ----------
    events
        The events.
    files
        Identities of the files.
    """
    return _accesses(events, lambda _name, file: pl.col(file).is_in(files))


def calls_of(events: pl.LazyFrame, files: Sequence[int]) -> pl.LazyFrame:
    """Give the events that are about one of some files, on either side of a transfer.

    Parameters
    ----------
    events
        The events.
    files
        Identities of the files.
    """
    return events.filter(pl.col("file").is_in(files) | pl.col("file2").is_in(files))


def _accesses(events: Events, mine: _Choice) -> pl.LazyFrame:
    needed = _NEEDED | {second: _NEEDED[first] for second, first in _SECOND.items()}
    sides = _sides(rows_of(events, needed, "tracefast.accesses"), mine)
    bases = sides.filter(pl.col("name") == _BASE).select(
        "source", "ofd", pl.col("offset").alias("base")
    )
    relative = (pl.col("offset_known") == "relative") & pl.col("base").is_not_null()
    rows = (
        sides.filter(pl.col("way").is_not_null(), pl.col("status").ne_missing("injected"))
        .join(
            bases.unique(("source", "ofd"), keep="first", maintain_order=True),
            on=("source", "ofd"),
            how="left",
            nulls_equal=True,
            maintain_order="left",
        )
        .with_columns(
            pl.when(relative)
            .then(pl.col("offset") + pl.col("base"))
            .otherwise(pl.col("offset"))
            .alias("offset"),
            pl.when(relative)
            .then(pl.lit("exact"))
            .otherwise(pl.col("offset_known"))
            .alias("offset_known"),
        )
        .with_columns(_gap().alias("gap"))
        .sort("row", maintain_order=True)
        .with_row_index("n", offset=1)
    )
    return rows.select(pl.col(name).cast(dtype) for name, dtype in SCHEMA.items())


def _sides(events: pl.LazyFrame, mine: _Choice) -> pl.LazyFrame:
    """Give each event of the file one row; a transfer within the file has two."""
    kind = pl.col("kind").cast(pl.String)
    name = pl.col("name").cast(pl.String)
    moves = kind.is_in(["syscall", "aio"])
    transfer = (kind == "syscall") & name.is_in(TRANSFERS)
    way = (
        pl.when(moves & name.is_in(READS))
        .then(pl.lit(READ))
        .when(moves & name.is_in(WRITES))
        .then(pl.lit(WRITE))
        .alias("way")
    )

    rows = events.with_row_index("row")
    common = [pl.col("row"), *(_column(name) for name in _NEEDED if name not in _SECOND.values())]
    first = rows.filter(mine("path", "file").fill_null(value=False)).select(
        *common, way, *(_column(name) for name in _SECOND.values())
    )
    second = rows.filter(transfer, mine("path2", "file2").fill_null(value=False)).select(
        *common,
        pl.lit(WRITE).alias("way"),
        *(_column(second, first).alias(first) for second, first in _SECOND.items()),
    )
    return pl.concat([first, second]).sort("row", maintain_order=True)


def _column(name: str, like: str | None = None) -> pl.Expr:
    return pl.col(name).cast(_NEEDED[like or name])


_ASSUMED = {"assumed": "exact", "assumed-relative": "relative"}


def _gap() -> pl.Expr:
    """Give the distance from the end of the last access that moved data, of the same stream."""
    stream = ("source", "ofd", "way")
    moved = pl.col("bytes") > 0
    end = pl.when(moved).then(pl.col("offset") + pl.col("bytes"))
    # Only the last access that moved data has an end to compare with: if its position is not known,
    # or is relative to another one, an older end cannot be used.
    known = pl.when(moved).then(pl.col("offset_known").fill_null("unknown"))
    last_end, last_known = (value.forward_fill().shift(1).over(stream) for value in (end, known))
    # Exact and assumed positions count from the same place.
    same = last_known.replace(_ASSUMED) == pl.col("offset_known").replace(_ASSUMED)
    comparable = same & pl.col("ofd").is_not_null()
    return pl.when(comparable).then(pl.col("offset") - last_end)
