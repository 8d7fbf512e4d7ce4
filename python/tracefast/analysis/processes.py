"""One row per process: how it was created, what it ran, what it did, how it ended."""

from typing import Final

import polars as pl

from tracefast import _core
from tracefast._polars.folds import folded
from tracefast._polars.given_events import Events

# The columns of the table, and their types.
SCHEMA: Final = pl.Schema(_core.Processes().schema)


def only_mentioned() -> pl.Expr:
    """Say which rows of `processes` are tasks that events such as sched_switch only mention.

    A log of the whole machine has the names of tasks of which it shows no call and no start.
    """
    nothing = (pl.col("calls") == 0) & (pl.col("children") == 0)
    return nothing & pl.all_horizontal(pl.col("image", "ppid", "kind", "ts_end").is_null())


def processes(events: Events) -> pl.LazyFrame:
    """Give one row per process of a log: how it was created, what it did, how it ended.

    All threads of a process are one row. A later process with the same id has its own row. An
    execve from a thread does not make a new process.

    Parameters
    ----------
    events
        The events of a log, of Parquet files, or a part of them, in their order: filter rows as
        you like, but keep the columns.

    Returns
    -------
    polars.LazyFrame
        In order of `source` and `ts_start`. Null means that the log cannot say. Columns that end in
        ``_ns`` are nanoseconds, in ``_bytes`` bytes.

        `source` : String
            The log.
        `task` : UInt32
            Identity: the task of its first thread.
        `pid` : Int32
            Its process id.
        `parent_task` : UInt32
            `task` of the process that created it; if the log does not have the call that did, of
            the process that received its exit status. In another pid namespace than strace's, calls
            return other numbers: where several processes may have created it, and neither its own
            number nor the order of numbers decides, null.
        `ppid` : Int32
            `pid` of the same process.
        `image` : String
            The program that it ran last; if it executed none, the program of the process that
            created it, at that moment.
        `images` : List(String)
            The programs that it executed itself, in order; null for one whose name is not in the
            log.
        `argv` : List(String)
            The arguments with which `image` was started, its name first. What strace cut ends with
            ``...``, and so does the list where it left out some: both at 32 unless ``-s`` says
            otherwise. Null where the log has only their address, as in ftrace.
        `comm` : String
            Its name, where the log prints one.
        `kind` : String
            How it was created: ``fork`` (memory of its own), ``vfork``, ``posix_spawn``,
            ``shared``.
        `ts_start`, `ts_end` : Datetime
            Its first event or, if it has none, the entry of the call that created it; its last
            exit, if the log shows that no thread is left.
        `lifetime_ns` : Int64
            From `ts_start` to `ts_end`.
        `threads`, `children` : UInt32
            Threads that it had, including the first one; processes that it created.
        `calls` : UInt64
            System calls, including those that failed or never ended.
        `io_ns`, `wait_ns` : Int64
            Sums over its threads. Time spent moving data to and from files, and to the disk
            (``fsync``); and time spent waiting for others: in ``futex``, ``poll``, ``wait4`` and
            the like, in reads of pipes, sockets, events and terminals, and in writes to them and
            calls of fcntl that took a millisecond.
        `read_bytes`, `write_bytes` : Int64
            Bytes moved by reads and writes of files, pipes and sockets, as in `tracefast.files`.
        `exit_status` : Int32
            Its exit status, from its last event, from its parent's SIGCHLD or wait, or from its own
            call of exit. If other threads outlast the first one, it is that of the last thread, as
            in Linux since 5.17, unless the parent got another one.
        `exit_signal` : String
            The signal that killed it.

    Raises
    ------
    polars.exceptions.ColumnNotFoundError
        The events lack a column that is needed.

    Examples
    --------
    >>> import tracefast as tf
    >>> table = tf.processes(tf.scan("demo.strace")).collect()
    >>> table.select("pid", "ppid", "kind", "image", "exit_status").rows()
    [(100, None, None, None, None), (101, 100, 'vfork', '/bin/true', 0)]
    """
    return folded(events, _core.Processes, name="PROCESSES", question="tracefast.processes")
