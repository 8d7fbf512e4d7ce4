"""The system calls of a log, as they are matched with those of another one."""

from typing import Final

import polars as pl

from tracefast._polars.compatible_types import Types
from tracefast._polars.given_events import Events, rows_of
from tracefast.analysis.join.rows import Rows
from tracefast.error_hints import error_with_hint

NEEDED: Final[Types] = {
    "ts": pl.Datetime("ns"),
    "dur_ns": pl.Int64(),
    "task": pl.UInt32(),
    "tid": pl.Int32(),
    "kind": pl.String(),
    "name": pl.String(),
    "ret": pl.Int64(),
    "errno": pl.String(),
    "status": pl.String(),
    "line": pl.UInt64(),
    "cpu": pl.UInt16(),
    "source": pl.String(),
}
# Where the row of a call is among the rows of its log.
ROW: Final = "row"
_NO_CALL: Final = "headless"
# More than the numbers of tasks.
_TASKS: Final = 1 << 32


def calls_of(events: Events, *, more: Types | None = None) -> pl.LazyFrame:
    """Give the system calls of a log, in its order.

    Parameters
    ----------
    events
        The events.
    more
        Other columns to keep, and their types.

    Returns
    -------
    polars.LazyFrame
        `row`, the place among all rows; `who`, a number of the log and the task; `tid`, `name`,
        `ret`, `errno`, `line`, `cpu`; `enter` and `exit` in nanoseconds, null where the log does
        not have them.

    Examples
    --------
    >>> import tracefast as tf
    >>> calls = calls_of(tf.scan("demo.strace"))
    >>> calls.select("row", "tid", "name").head(2).collect().rows()
    [(0, 100, 'openat'), (1, 100, 'read')]
    """
    kept = more or {}
    rows = rows_of(events, {**NEEDED, **kept}, "tracefast.join")
    source = pl.col("source").cast(pl.String)
    sources = rows.select(source.unique()).collect()["source"].sort().to_list()
    number = source.replace_strict(sources, range(len(sources)), return_dtype=pl.UInt64)
    enter = pl.col("ts").cast(pl.Datetime("ns")).dt.epoch("ns")
    return (
        rows.with_row_index(ROW)
        .filter(
            pl.col("kind").cast(pl.String) == "syscall",
            pl.col("status").cast(pl.String).ne_missing(_NO_CALL),
            pl.col("ts").is_not_null(),
        )
        .select(
            ROW,
            (number * _TASKS + pl.col("task").fill_null(_TASKS - 1)).alias("who"),
            "tid",
            pl.col("name").cast(pl.String),
            "ret",
            pl.col("errno").cast(pl.String),
            "line",
            "cpu",
            enter.alias("enter"),
            (enter + pl.col("dur_ns")).alias("exit"),
            *(pl.col(name).cast(dtype) for name, dtype in kept.items()),
        )
    )


def check_calls(strace: Rows, ftrace: Rows) -> None:
    """Refuse logs that lack what is needed to match their calls.

    Raises
    ------
    Error
        One of them has no system call with a time, or is not of that tool.
    """
    # Only records of ftrace have a processor.
    processors = pl.col("cpu").count()
    of_strace, of_ftrace = (
        calls.all.select(processors).collect().item() for calls in (strace, ftrace)
    )
    if of_strace or ftrace.height > of_ftrace:
        raise error_with_hint(
            "the first log must be of strace, the second one of ftrace",
            "tracefast join A.strace T.ftrace -o FILE.parquet",
        )
    if not strace.height:
        raise error_with_hint(
            "the log of strace has no system calls with times",
            "record it with: strace -f -ttt -T -y -o LOG COMMAND",
        )
    if not ftrace.height:
        raise error_with_hint(
            "the log of ftrace has no system calls, so strace's calls cannot be found in it",
            "record the events syscalls:* or raw_syscalls:* as well",
        )
