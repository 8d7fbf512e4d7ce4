"""One row per name of a system call: how many, how long, how long waiting, how many failed."""

from datetime import timedelta
from typing import Literal, get_args

import polars as pl

from tracefast import _core
from tracefast._polars.folds import folded
from tracefast._polars.given_events import Events

By = Literal["process", "phase"]


def syscalls(
    events: Events, *, by: By | None = None, every: str | timedelta | None = None
) -> pl.LazyFrame:
    """Give one row per name of a system call: how many, how long, waiting or not, how many failed.

    Every call of the log counts; one that was interrupted and restarted counts each time. Parts of
    ``io_submit`` (rows of kind ``aio``) do not count, nor does the return of ``clone`` in the new
    task, which ftrace shows.

    Parameters
    ----------
    events
        The events of a log, of Parquet files, or a part of them: filter rows as you like, but keep
        the columns.
    by
        ``"process"`` for one row per process and name, with `pid` and `image`. Two processes that
        had the same id one after the other have separate rows. ``"phase"`` for one row per phase
        and name, as for `tracefast.files`.
    every
        One row per window of this length (``"100ms"``, a timedelta) and name: the columns are those
        of the table ``syscalls_by_time`` of :doc:`tables`. Not with `by`.

    Returns
    -------
    polars.LazyFrame
        Largest `total_ns` first. Null means that the log cannot say. Columns that end in ``_ns``
        are nanoseconds.

        `source` : String
            The log.
        `phase` : String
            The innermost phase in which the calls began; null outside of phases, and for the marks
            themselves; only with ``by="phase"``.
        `pid` : Int32
            The process; only with ``by="process"``.
        `image` : String
            The path of its last execve, or of the last execve of the process that it was forked
            from, otherwise its name, where the log prints one; only with ``by="process"``.
        `name` : String
            The call.
        `calls` : UInt32
            Number of calls.
        `errors` : UInt32
            Calls that returned an error to the program. ``ERESTARTSYS`` and the like only make the
            kernel restart the call, and what ``rt_sigreturn`` returns is the result of another
            call.
        `unfinished` : UInt32
            Calls whose end is not in the log. ``exit`` and ``exit_group`` never return and are not
            counted here.
        `open_ns` : Int64
            How long the unfinished calls have run, added up: from their start to the last event of
            the log. Null if every call has an end.
        `timed` : UInt32
            Calls whose duration is in the log, as with strace's ``-T``. All times are computed from
            these.
        `total_ns`, `wall_ns` : Int64
            Sum of all durations; time during which at least one call of that name (and process) was
            in progress, or the least that it can be where a call started among many thousands of
            earlier ones that do not overlap.
        `min_ns`, `mean_ns`, `p50_ns`, `p90_ns`, `p99_ns`, `max_ns` : Int64
            Duration of a call; percentiles are exact, nearest rank.
        `total_share` : Float64
            `total_ns` divided by that of all calls of the log.
        `wait_ns` : Int64
            The part of `total_ns` spent waiting for others: in futex, poll, select, epoll, wait,
            sleep, pause, accept, connect, recv, flock, semop and the like, and in reads from pipes,
            sockets, terminals and other devices, eventfd, inotify, timerfd, signalfd. Writes to a
            pipe, socket or terminal, sendfile and the like into one, the open of a FIFO, and fcntl
            (which may wait for a lock) count if they took at least a millisecond; without waiting
            they take microseconds. Reads of files, directories, block devices, ``/dev/zero`` and
            ``/dev/urandom`` do not count as waiting. A descriptor with a path but no known type
            counts as a file, except for the usual names of devices. Null if the log does not show
            for any of the reads what it reads from.
        `bytes` : Int64, in bytes
            Bytes moved; null where no call says so.

    Raises
    ------
    polars.exceptions.ColumnNotFoundError
        The events lack a column that is needed.
    ValueError
        There is no such `by`, or `every` is no span of time, or both are given.

    Examples
    --------
    >>> import tracefast as tf
    >>> table = tf.syscalls(tf.scan("demo.strace")).collect()
    >>> table.select("name", "calls", "errors", "total_ns", "wait_ns", "bytes").rows()[2:4]
    [('read', 2, 0, 60000, 0, 4096), ('openat', 1, 0, 50000, 0, None)]
    >>> table = tf.syscalls(tf.scan("demo.strace"), by="process").collect()
    >>> table.select("pid", "image", "name", "total_ns").rows()[0]
    (101, '/bin/true', 'execve', 300000)
    """
    if by is not None and by not in get_args(By):
        raise ValueError(f"by must be None, 'process' or 'phase', got {by!r}")
    if every is not None:
        if by is not None:
            raise ValueError("every: not with by, as rows are of all processes and phases")
        from tracefast.analysis.over_time.calls import syscalls_by_time

        return syscalls_by_time(events, every)
    return folded(
        events,
        lambda: _core.Syscalls(by=by),
        name="SYSCALLS",
        question="tracefast.syscalls",
        by_phase=by == "phase",
    )


def columns(by: By | None = None) -> pl.Schema:
    """Give the columns of the table.

    Examples
    --------
    >>> columns("process").names()[:4]
    ['source', 'pid', 'image', 'name']
    """
    return pl.Schema(_core.Syscalls(by=by).schema)


def strace_counts(events: Events) -> pl.LazyFrame:
    """Count calls as strace does for its own summary, ``strace -c -w``.

    strace counts a call when it returns. So calls that never return (``exit``, and those cut off by
    the end of the task or of the log) are not counted, and every error that the kernel returns is
    counted: ``ERESTARTSYS`` and the like, injected errors, what ``rt_sigreturn`` leaves in the
    register.

    Parameters
    ----------
    events
        The events of logs, or a part of them. All of them are counted together.

    Returns
    -------
    polars.LazyFrame
        `name`, `number` (of the call on x86-64), `calls`, `errors`, `timed` (calls that have a
        duration), `total_ns`; the largest `total_ns` first, else by `number`.

    Raises
    ------
    polars.exceptions.ColumnNotFoundError
        The events lack a column that is needed.

    Examples
    --------
    >>> import tracefast as tf
    >>> strace_counts(tf.scan("demo.strace")).select("name", "calls", "total_ns").collect().rows()
    [('vfork', 1, 300000), ('execve', 1, 300000), ('read', 2, 60000), ('openat', 1, 50000),
     ('close', 1, 10000)]
    """
    return folded(
        events,
        _core.StraceCounts,
        name="STRACE COUNTS",
        question="tracefast syscalls --strace-c",
    )
