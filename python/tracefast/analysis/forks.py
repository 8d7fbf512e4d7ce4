"""One row per created task: who created it, how, what that took, and what became of it."""

from typing import Final

import polars as pl

from tracefast.analysis import lives
from tracefast.analysis import vocabulary as calls

SCHEMA: Final[dict[str, pl.DataType | type[pl.DataType]]] = {
    "source": pl.String,
    "ts": pl.Datetime("ns"),
    "line": pl.UInt64,
    "task": pl.UInt32,
    "pid": pl.Int32,
    "tid": pl.Int32,
    "parent_image": pl.String,
    "name": pl.String,
    "kind": pl.String,
    "child_task": pl.UInt32,
    "child_pid": pl.Int32,
    "errno": pl.String,
    "call_ns": pl.Int64,
    "restarts": pl.UInt32,
    "exec_gap_ns": pl.Int64,
    "exec_failed": pl.UInt32,
    "exec_failed_ns": pl.Int64,
    "exec_ns": pl.Int64,
    "image": pl.String,
    "lifetime_ns": pl.Int64,
    "exit_status": pl.Int32,
    "exit_signal": pl.String,
    "reap_ns": pl.Int64,
    "child_utime_ns": pl.Int64,
    "child_stime_ns": pl.Int64,
}

# The columns of the events that this table is made of.
_NEEDED: Final[dict[str, pl.DataType | type[pl.DataType]]] = {
    "source": pl.String,
    "line": pl.UInt64,
    "ts": pl.Datetime("ns"),
    "dur_ns": pl.Int64,
    "task": pl.UInt32,
    "pid": pl.Int32,
    "tid": pl.Int32,
    "comm": pl.String,
    "kind": pl.String,
    "name": pl.String,
    "args": pl.String,
    "ret": pl.Int64,
    "errno": pl.String,
    "status": pl.String,
    "path": pl.String,
    "child": pl.UInt32,
}

_CLONE_VM, _CLONE_VFORK, _CLONE_THREAD = 0x100, 0x4000, 0x10000


def forks(events: pl.LazyFrame | pl.DataFrame) -> pl.LazyFrame:
    """Give one row per created task, threads included.

    Parameters
    ----------
    events
        The events of a log, of Parquet files, or a part of them.

    Returns
    -------
    polars.LazyFrame
        In order of `source` and `ts`. Columns that end in ``_ns`` are nanoseconds; null means
        that the log cannot say. `kind` is ``fork`` (memory of its own), ``vfork``,
        ``posix_spawn``, ``thread`` or ``shared`` (memory shared, but no thread). A call that the
        kernel restarted is one row, its attempts added up.

    Examples
    --------
    >>> import tracefast as tf
    >>> table = tf.forks(tf.scan("demo.strace")).collect()
    >>> table.select("kind", "child_pid", "call_ns", "image", "exit_status").rows()
    [('vfork', 101, 300000, '/bin/true', 0)]
    """
    return (
        events.lazy()
        .select(_NEEDED.keys())
        # Batch by batch, so that a log of any size streams through and little of it is kept.
        .map_batches(
            _thin,
            predicate_pushdown=False,
            projection_pushdown=False,
            slice_pushdown=False,
            streamable=True,
            schema=_NEEDED,
        )
        .map_batches(
            _table,
            predicate_pushdown=False,
            projection_pushdown=False,
            slice_pushdown=False,
            schema=SCHEMA,
        )
    )


def _thin(events: pl.DataFrame) -> pl.DataFrame:
    """Keep what bears on the life of tasks, and the first sign of each task in this batch."""
    wanted = [*calls.FORKS, *calls.EXECS, *calls.WAITS, *calls.ENDS]
    kind, name = pl.col("kind"), pl.col("name").cast(pl.String)
    bears = (
        ((kind == "syscall") & name.is_in(wanted))
        | (kind == "exit")
        | ((kind == "signal") & (name == "SIGCHLD"))
        | ((kind == "event") & name.is_in(["sched_process_exec", "sched_process_exit"]))
    )
    first = pl.col("ts") == pl.col("ts").min().over("source", "task")
    kept = events.filter(bears.fill_null(value=False) | first.fill_null(value=False))
    return kept.select(pl.col(name).cast(dtype) for name, dtype in _NEEDED.items())


def _table(rows: pl.DataFrame) -> pl.DataFrame:
    """Build the table from what `_thin` kept."""
    creations = _creations(rows.lazy())
    execs = lives.execs(rows.lazy())
    images = lives.parent_images(creations, execs)
    key = ["source", "child_task"]
    children = (
        creations.with_columns(images)
        .lazy()
        .join(lives.starts(rows.lazy()), on=key, how="left")
        .join(lives.first_programs(execs.lazy()), on=key, how="left")
        .join(lives.exits(rows.lazy()), on=key, how="left")
    )
    return (
        lives.with_collection(children, rows.lazy())
        .with_columns(
            # The flags of clone3 are not in ftrace, but a thread belongs to its creator's process.
            pl.when(pl.col("kind").is_null() & (pl.col("child_group") == pl.col("pid")))
            .then(pl.lit("thread"))
            .otherwise("kind")
            .alias("kind"),
            pl.when(pl.col("child_task").is_not_null())
            .then(pl.col("exec_failed").fill_null(0))
            .alias("exec_failed"),
            (pl.col("exec_ts") - pl.col("start")).dt.total_nanoseconds().alias("exec_gap_ns"),
            (pl.col("exit_ts") - pl.col("start")).dt.total_nanoseconds().alias("lifetime_ns"),
        )
        .select(pl.col(name).cast(dtype) for name, dtype in SCHEMA.items())
        .sort("source", "ts", "line", nulls_last=True)
        .collect()
    )


def _creations(rows: pl.LazyFrame) -> pl.DataFrame:
    """Give one row per call that creates a task, restarts folded into the call that they repeat."""
    restarted = pl.col("errno").str.starts_with("ERESTART").fill_null(value=False)
    # All attempts up to the first that was not interrupted are one call.
    call = (~pl.col("restarted")).cum_sum().shift(1, fill_value=0).over("source", "task", "name")
    last = [pl.col(name).last() for name in ("pid", "tid", "comm", "args", "ret", "child")]
    return (
        rows.filter(
            pl.col("kind") == "syscall",
            pl.col("name").is_in(calls.FORKS),
            pl.col("status").ne_missing("injected"),
            # The same call as seen by the child.
            pl.col("ret").ne_missing(0),
        )
        .sort("source", "task", "line")
        .with_columns(restarted.alias("restarted"))
        .with_columns(call.alias("call"))
        .group_by("source", "task", "name", "call", maintain_order=True)
        .agg(
            pl.col("ts", "line").first(),
            *last,
            pl.col("errno").last(),
            pl.when(pl.col("dur_ns").count() > 0).then(pl.col("dur_ns").sum()).alias("call_ns"),
            # The last attempt repeats the one before, and is none if it was interrupted for good.
            pl.col("restarted").head(pl.len() - 1).sum().alias("restarts"),
        )
        .with_columns(
            pl.col("child").alias("child_task"),
            pl.when(pl.col("ret") > 0).then(pl.col("ret")).cast(pl.Int32).alias("child_pid"),
            kind(pl.col("name"), pl.col("args")).alias("kind"),
        )
        .drop("child", "call", "args", "ret")
        .sort("source", "line")
        .collect()
    )


def kind(name: pl.Expr, args: pl.Expr) -> pl.Expr:
    """Classify a creating call by its name and the flags among its arguments.

    Null where the flags are not in the log: ftrace prints the address of clone3's structure only.

    Examples
    --------
    >>> calls = pl.DataFrame(
    ...     {
    ...         "name": ["vfork", "clone", "clone", "clone3"],
    ...         "args": [
    ...             "",
    ...             "child_stack=NULL, flags=CLONE_CHILD_SETTID|SIGCHLD, child_tidptr=0x7f",
    ...             "clone_flags: 0x3d0f00, newsp: 0x7f, parent_tidptr: 0x7f",
    ...             "{flags=CLONE_VM|CLONE_VFORK, exit_signal=SIGCHLD, stack=0x7f}, 88",
    ...         ],
    ...     }
    ... )
    >>> calls.select(kind(pl.col("name"), pl.col("args"))).to_series().to_list()
    ['vfork', 'fork', 'thread', 'posix_spawn']
    """
    # Numbers: `clone_flags: 0x1200011` and, before 6.18, without 0x; strace -X raw, `flags=0x100`.
    number = pl.coalesce(
        args.str.extract(r"clone_flags: (?:0x)?([0-9a-f]+)"),
        args.str.extract(r"\bflags=(?:0x)?([0-9a-f]+)\b"),
    ).str.to_integer(base=16, strict=False)
    named = args.str.contains("flags=[A-Z]")

    def flag(symbol: str, bit: int) -> pl.Expr:
        numeric = number.floordiv(bit).mod(2) == 1
        symbolic = args.str.contains(rf"\b{symbol}\b")
        return pl.when(number.is_not_null()).then(numeric).when(named).then(symbolic)

    memory = flag("CLONE_VM", _CLONE_VM)
    waits = flag("CLONE_VFORK", _CLONE_VFORK)
    # Without a stack of its own the child runs on the caller's, as in vfork.
    own_stack = ~args.str.contains(r"stack=NULL|newsp: (?:0x)?0\b")
    return (
        pl.when(name == "vfork")
        .then(pl.lit("vfork"))
        .when(name == "fork")
        .then(pl.lit("fork"))
        .when(flag("CLONE_THREAD", _CLONE_THREAD))
        .then(pl.lit("thread"))
        .when(memory & waits & own_stack)
        .then(pl.lit("posix_spawn"))
        .when(memory & waits)
        .then(pl.lit("vfork"))
        .when(memory)
        .then(pl.lit("shared"))
        .when(memory.not_())
        .then(pl.lit("fork"))
    )
