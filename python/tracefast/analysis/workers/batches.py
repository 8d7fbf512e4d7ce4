"""One row per message from a worker: what its maker waited for it, and what the worker did."""

from typing import Final

import polars as pl

from tracefast import _core
from tracefast._polars.given_events import Events
from tracefast.analysis.workers.table import workers_in_detail

# The columns of the table, by the lists in which the fold gives them for each worker.
LISTS: Final[dict[str, pl.DataType]] = {
    "batch_ts": pl.Datetime("ns"),
    "batch_wait_ns": pl.Int64(),
    "batch_take_over_ns": pl.Int64(),
    "batch_maker_tid": pl.Int32(),
    "batch_bytes": pl.Int64(),
    "batch_busy_ns": pl.Int64(),
    "batch_read_ns": pl.Int64(),
    "batch_read_bytes": pl.Int64(),
    "batch_files": pl.UInt32(),
    "batch_slowest_path": pl.String(),
    "batch_slowest_ns": pl.Int64(),
    "batch_worker_wait_ns": pl.Int64(),
    "batch_cause": pl.String(),
    "batch_line": pl.UInt64(),
}
_NAMES: Final = {
    **{f"batch_{name}": name for name in ("ts", "wait_ns", "take_over_ns", "bytes")},
    **{f"batch_{name}": name for name in ("maker_tid", "cause", "line")},
    **{f"batch_{name}": f"worker_{name}" for name in ("busy_ns", "read_ns", "read_bytes", "files")},
    **{f"batch_{name}": name for name in ("slowest_path", "slowest_ns", "worker_wait_ns")},
}
_ORDER: Final = (
    *("source", "pool", "round", "batch", "ts", "wait_ns", "take_over_ns", "bytes", "worker_pid"),
    *("worker_busy_ns", "worker_read_ns", "worker_read_bytes", "worker_files", "slowest_path"),
    *("slowest_ns", "worker_wait_ns", "cause", "maker_tid", "line"),
)


def batches(events: Events) -> pl.LazyFrame:
    r"""Give one row per message that the maker of a pool received from one of its workers.

    Messages go through the pipes and socket pairs that the log saw made. A message of Python's
    `multiprocessing` is its length and what follows; of other programs each read is one.

    A wait ends when the maker has taken over the message: after the calls on shared memory
    (``/dev/shm``, ``memfd_create``, descriptors that it received) by which it maps what came with
    the message, and unmaps or closes what came with an earlier one. Each of them begins within 5 ms
    after the one before, and the maker reads nothing else and does not wait in between.

    A loader that gives batches in their order keeps those that come early. It gives back the memory
    of one batch when it goes on to the next, so the order in which it does shows which one it
    waited for, and when it used one that had come early. Messages without such memory count as used
    when they come.

    Parameters
    ----------
    events
        The events of a log or of Parquet files, in their order: all of them, as for
        `tracefast.workers`. Logs of ftrace do not show which pipe a descriptor refers to, so they
        give no rows.

    Returns
    -------
    polars.LazyFrame
        In order of `source`, `pool`, `round` and `batch`. Null means that the log cannot say.
        Columns that end in ``_ns`` are nanoseconds.

        `source` : String
            The log.
        `pool`, `round` : UInt32
            Numbers of the pool and of its round, as in `tracefast.workers`.
        `batch` : UInt32
            Number of the message, from 0 in each round, in the order of `ts`.
        `ts` : Datetime
            When the maker had taken it over; of one that had come early, when it used it.
        `wait_ns` : Int64
            How long the maker waited for it: from the poll or read in which it asked, until it had
            taken it over. What it waited for others that came meanwhile, and that it used later, is
            part of it; for one that had come early it is what giving back the one before took. A
            sleep just before ends where the wait begins, and one just after begins where it ends.
            Null if the log does not show when one that came early was used.
        `take_over_ns` : Int64
            The part of `wait_ns` after the message itself had come: receiving and mapping the
            memory that came with it, and giving back that of an earlier one.
        `bytes` : Int64, in bytes
            Its length.
        `worker_pid` : Int32
            The worker that sent it.
        `worker_busy_ns` : Int64
            From when the worker had taken the job until it began to send the result; null if the
            log does not show a job.
        `worker_read_ns` : Int64
            Time in reads of files, of the thread that took the job.
        `worker_read_bytes` : Int64
            What these read.
        `worker_files` : UInt32
            Files that it read.
        `slowest_path` : String
            The file that took longest to read.
        `slowest_ns` : Int64
            How long that took.
        `worker_wait_ns` : Int64
            Time in which the thread waited for others.
        `cause` : String
            What the worker spent most of its time on: ``reading`` files, ``waiting`` for others,
            ``computing`` (all else); ``queue`` if the message was there before the maker asked.
        `maker_tid` : Int32
            The thread of the maker that received it. One that does nothing else always waits, as
            that of a ``Pool``, or of a DataLoader with ``pin_memory=True``.
        `line` : UInt64
            The line on which the maker began to take it.

    Raises
    ------
    polars.exceptions.ColumnNotFoundError
        The events lack a column that is needed.

    Examples
    --------
    A process that gives a worker a job, and waits for the result:

    >>> from pathlib import Path
    >>> import tracefast as tf
    >>> log = Path("worker.strace")
    >>> _ = log.write_text(
    ...     "7 1700000000.000000 pipe2([3, 4], 0) = 0 <0.000010>\n"
    ...     "7 1700000000.000100 pipe2([5, 6], 0) = 0 <0.000010>\n"
    ...     "7 1700000000.001000 clone(child_stack=NULL, flags=SIGCHLD) = 8 <0.000200>\n"
    ...     "8 1700000000.005000 read(3,  <unfinished ...>\n"
    ...     '7 1700000000.006000 write(4, "\\0\\0\\0\\5image", 9) = 9 <0.000020>\n'
    ...     '8 1700000000.006100 <... read resumed>"\\0\\0\\0\\5", 4) = 4 <0.001100>\n'
    ...     '8 1700000000.006200 read(3, "image", 5) = 5 <0.000010>\n'
    ...     "7 1700000000.007000 read(5,  <unfinished ...>\n"
    ...     '8 1700000000.016000 write(6, "done", 4) = 4 <0.000020>\n'
    ...     '7 1700000000.016100 <... read resumed>"done", 4096) = 4 <0.009100>\n'
    ...     "8 1700000000.019000 +++ exited with 0 +++\n"
    ... )
    >>> columns = "batch", "wait_ns", "worker_pid", "worker_busy_ns", "cause"
    >>> tf.batches(tf.scan(log)).select(columns).collect().rows()
    [(0, 9100000, 8, 9790000, 'computing')]
    """
    return batches_of(workers_in_detail(events, question="tracefast.batches"))


def batches_of(workers: pl.LazyFrame) -> pl.LazyFrame:
    """Give the messages of workers, with their details, in order."""
    place = ["source", "pool", "round"]
    single = (
        workers.filter(pl.col("batch_ts").list.len() > 0)
        .select(*place, pl.col("pid").alias("worker_pid"), *LISTS)
        .explode(*LISTS)
        .cast(pl.Schema(LISTS))
        .rename(_NAMES)
        .sort(*place, "ts", "line")
    )
    number = pl.int_range(pl.len(), dtype=pl.UInt32).over(place).alias("batch")
    return single.with_columns(number).select(_ORDER)


# The columns of the table, and their types.
SCHEMA: Final = batches_of(pl.LazyFrame(schema=pl.Schema(_core.Workers().schema))).collect_schema()
