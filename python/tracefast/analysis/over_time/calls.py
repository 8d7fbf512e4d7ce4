"""`files` and `syscalls` by windows of time."""

from datetime import timedelta
from typing import TYPE_CHECKING, Final

import polars as pl

from tracefast._polars.given_events import rows_of
from tracefast._polars.map_rows import map_rows
from tracefast.analysis.files.accesses import READS, TRANSFERS, WRITES
from tracefast.analysis.over_time.schemas import SCHEMAS
from tracefast.analysis.over_time.windows import window_ns, window_of

if TYPE_CHECKING:
    from tracefast._polars.given_events import Events

_OF_CALLS: Final = ("source", "ts", "kind", "name", "status", "errno", "bytes", "dur_ns")
_OF_FILES: Final = (*_OF_CALLS, "file", "path", "file2", "path2")
# Errors that only make the kernel restart a call.
_RESTARTED: Final = "ERESTART"


def _text(name: str) -> pl.Expr:
    return pl.col(name).cast(pl.String)


def syscalls_by_time(events: "Events", every: str | timedelta) -> pl.LazyFrame:
    """Give one row per window and name of a call: `syscalls` with `every`.

    Examples
    --------
    >>> import tracefast as tf
    >>> rows = syscalls_by_time(tf.scan("demo.strace"), "1s").collect()
    >>> rows.filter(name="read").select("calls", "total_ns", "bytes").rows()
    [(2, 60000, 4096)]
    """
    ns = window_ns(every)
    called = rows_of(events, _OF_CALLS, "tracefast.syscalls").filter(
        _text("kind") == "syscall", pl.col("ts").is_not_null()
    )
    failed = _text("errno").is_not_null() & ~_text("errno").str.starts_with(_RESTARTED)
    moved = pl.col("bytes").filter(pl.col("bytes") >= 0)
    table = called.group_by(
        _text("source"), window_of(pl.col("ts"), ns).alias("ts"), _text("name")
    ).agg(
        pl.len().alias("calls"),
        (failed & (_text("name") != "rt_sigreturn")).sum().alias("errors"),
        _sum_ns("total_ns"),
        pl.col("dur_ns").max().alias("max_ns"),
        pl.when(moved.count() > 0).then(moved.sum()).alias("bytes"),
    )
    order = ["source", "ts", "total_ns", "calls", "name"]
    down = [False, False, True, True, False]
    table = table.sort(order, descending=down, nulls_last=True)
    return table.select(pl.col(name).cast(dtype) for name, dtype in SCHEMAS["syscalls"].items())


def files_by_time(events: "Events", every: str | timedelta) -> pl.LazyFrame:
    """Give one row per window and file that was read or written: `files` with `every`.

    Examples
    --------
    >>> import tracefast as tf
    >>> rows = files_by_time(tf.scan("demo.strace"), "1s").collect()
    >>> rows.select("path", "reads", "read_bytes", "writes").rows()
    [('/srv/demo/data.bin', 2, 4096, 0)]
    """
    ns = window_ns(every)
    moves = rows_of(events, _OF_FILES, "tracefast.files").filter(
        _text("kind").is_in(["syscall", "aio"]),
        _text("status").ne_missing("injected"),
        pl.col("ts").is_not_null(),
    )
    done = pl.col("bytes") >= 0
    name = _text("name")
    sums = (
        moves.filter(name.is_in([*READS, *WRITES]))
        .group_by(
            _text("source"),
            window_of(pl.col("ts"), ns).alias("ts"),
            name,
            *("file", "file2"),
            _text("path"),
            _text("path2"),
        )
        .agg(done.sum().alias("calls"), pl.col("bytes").filter(done).sum(), _sum_ns("total_ns"))
    )
    return map_rows(sums, _by_file, SCHEMAS["files"])


def _by_file(sums: pl.DataFrame) -> pl.DataFrame:
    """Add up calls by window and file; what copies between files writes to the second one."""
    sides = (
        ("read", READS, "file", "path"),
        ("write", WRITES, "file", "path"),
        ("write", TRANSFERS, "file2", "path2"),
    )
    each = pl.concat(
        sums.filter(pl.col("name").is_in(names)).select(
            "source",
            "ts",
            pl.lit(op).alias("op"),
            pl.col(file).alias("file"),
            pl.col(path).alias("path"),
            "calls",
            "bytes",
            "total_ns",
        )
        for op, names, file, path in sides
    )
    columns: list[pl.Expr] = []
    for op in ("read", "write"):
        of = pl.col("op") == op
        ns = pl.col("total_ns").filter(of)
        columns += [
            pl.col("calls").filter(of).sum().alias(f"{op}s"),
            pl.col("bytes").filter(of).sum().alias(f"{op}_bytes"),
            pl.when(ns.count() > 0).then(ns.sum()).alias(f"{op}_ns"),
        ]
    # Files that the log knows by their name only are one for each name.
    named = pl.when(pl.col("file").is_null()).then(pl.col("path")).alias("name")
    # Groups have no order of their own: the first path is that of the first name.
    table = (
        each.sort("path", nulls_last=True)
        .group_by("source", "ts", "file", named)
        .agg(pl.col("path").drop_nulls().first(), *columns)
    )
    order = ["source", "ts", "moved", "path", "file"]
    down = [False, False, True, False, False]
    moved = (pl.col("read_bytes") + pl.col("write_bytes")).alias("moved")
    table = table.with_columns(moved).sort(order, descending=down, nulls_last=True)
    return table.select(pl.col(name).cast(dtype) for name, dtype in SCHEMAS["files"].items())


def _sum_ns(name: str) -> pl.Expr:
    """Add up durations; null where the log has none."""
    lasted = pl.col("dur_ns")
    return pl.when(lasted.count() > 0).then(lasted.sum()).alias(name)
