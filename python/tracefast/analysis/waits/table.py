"""One row per wait: for what, how long, who ended it, and whether it can ever end."""

from collections.abc import Callable
from typing import Final

import polars as pl

from tracefast import _core
from tracefast._polars.folds import folded
from tracefast._polars.given_events import Events
from tracefast.analysis.kernel_times import has_columns, with_times_of_calls
from tracefast.analysis.waits import MIN_NS

# What the fold gives besides, for the screen and the graph.
DETAILS: Final = ("because_task", "because_pid", "because_tid", "met_pid", "met_image", "root_pid")
# The columns of the table, and their types.
SCHEMA: Final = pl.Schema(
    {
        name: dtype
        for name, dtype in pl.Schema(_core.Waits(min_ns=MIN_NS).schema).items()
        if name not in DETAILS
    }
)
# Of joined events: columns of the table, and of the events.
JOINED: Final = pl.Schema({"off_cpu_ns": pl.Int64})
_JOINED: Final = {"off_cpu_ns": "off_cpu_ns", "ready_ns": "run_delay_ns"}
# Verdicts on those who do not go on, the surest first.
STUCK: Final = ("deadlock", "likely-deadlock", "stalled")


def waits_in_detail(
    events: Events,
    *,
    min_ns: int = MIN_NS,
    question: str = "tracefast.waits",
    gaps: Callable[[list[str]], object] | None = None,
) -> pl.LazyFrame:
    """Give the rows of `waits` with what the screen and the graph need besides.

    Parameters
    ----------
    events, min_ns
        As for `waits`.
    question
        Name of the function that was called, for messages.
    gaps
        Called with what the logs lack, once the rows are there.
    """
    if isinstance(min_ns, bool) or not isinstance(min_ns, int):
        raise TypeError(f"min_ns must be an int, not {type(min_ns).__name__}")
    if min_ns < 0:
        raise ValueError("min_ns must be at least 0")
    rows = folded(
        events,
        lambda: _core.Waits(min_ns=min_ns),
        name="WAITS",
        question=question,
        look=None if gaps is None else lambda fold: gaps(fold.gaps),
    )
    if not has_columns(events, tuple(_JOINED.values())):
        return rows
    joined = with_times_of_calls(rows, events, _JOINED, question)
    return joined.with_columns(pl.coalesce("run_delay_ns", "ready_ns").alias("run_delay_ns")).drop(
        "ready_ns"
    )


def waits(events: Events, min_ns: int = MIN_NS) -> pl.LazyFrame:
    r"""Give one row per wait: for what, how long, who ended it, and whether it can ever end.

    A wait is a call in which a task cannot go on until somebody else acts: a futex, a poll, a read
    of a pipe, socket or eventfd, a write to a full pipe, a wait for a child or a lock, a sleep. In
    ftrace logs with events of the scheduler it is the time off the CPU.

    Parameters
    ----------
    events
        The events of a log, of Parquet files, or a part of them, in their order. Who holds the
        other end of a pipe follows from all calls of all processes: of filtered rows, less is
        known.
    min_ns
        Leave out waits that ended and took less than so many nanoseconds.

    Returns
    -------
    polars.LazyFrame
        In order of `source` and `ts`. Null means that the log cannot say. Columns that end in
        ``_ns`` are nanoseconds.

        `source` : String
            The log.
        `ts` : Datetime
            When the wait began.
        `dur_ns` : Int64
            How long it took; null if it has no end in the log.
        `open_ns` : Int64
            How long it lasted at least, if it has no end: to the last event of the log. For a wait
            with a `verdict`, to the moment of the verdict; if it is the last of a series that timed
            out again and again, from the first of them.
        `run_delay_ns` : Int64
            From the wake-up until the task ran again (ftrace with events of the scheduler, and
            joined events).
        `task` : UInt32
            Identity of the thread that waited.
        `pid`, `tid` : Int32
            Its process and thread id.
        `image` : String
            The program that its process ran.
        `line` : UInt64
            The line of the log on which the call began.
        `name` : String
            The call; null for time off the CPU that belongs to no call.
        `fd` : Int32
            The descriptor that it waited on, if it is one; of accept the listening one.
        `on` : String
            What it waited on: ``futex``, ``pipe``, ``socket``, ``child``, ``lock`` (on a file, a
            lease, or a semaphore of System V), ``timer``, ``signal``, ``eventfd``, ``terminal``,
            ``disk``, ``ring``, ``other`` (a message queue, for example).
        `object` : String
            Which one: ``pipe:[219782]``, ``futex 0x55d0c0 of 11952`` (of the threads of a process),
            ``futex FILE+0x40`` (shared), ``pid 11953``, ``lock PATH 0-100``, ``lease PATH``,
            ``UNIX-STREAM:[236577->235641]``, ``socket to 127.0.0.1:5000``, ``semaphore 7 of set
            32768``, ``queue 5``, ``queue /name``. For a poll the one that ended it, otherwise up to
            eight.
        `timeout_ns` : Int64
            How long it would have waited at most; null for ever, or if the log does not say.
        `end` : String
            ``woken``, ``timeout``, ``signal``, ``error``, or ``open``.
        `waker_task` : UInt32
            The task that ended it; null if the log does not show who did.
        `waker_pid` : Int32
            Its process id.
        `waker_line` : UInt64
            The line of what it did to end the wait.
        `waker_known` : String
            ``exact`` if the log proves it: it shows the wake-up, the exit of the child, or the only
            one who acted within the wait on a thing whose users it all shows. Otherwise
            ``inferred``.
        `could_wake` : List(UInt32)
            Of a wait without an end: the live tasks that could end it. Null if others could that
            the log does not show.
        `verdict` : String
            Of a wait without an end, or that only a signal or death ended: ``deadlock`` (the log
            proves that it can never end), ``likely-deadlock`` (the same, but the log is too short
            or does not show all), ``stalled`` (it waits only for those that can never go on),
            ``waiting`` (somebody could end it), ``asleep`` (it ends by itself), or null.
        `proof` : String
            What proves a deadlock: ``private-futex``, ``cycle``, ``own-pipe``, ``no-writer``,
            ``lost-child``, ``held-lock``.
        `root_task` : UInt32
            The stuck task that it leads to.
        `because_line` : UInt64
            The line that explains it: the fork while another thread used the lock, the death of the
            child, the fork that copied the other end of the pipe.
        `off_cpu_ns` : Int64
            Part of `dur_ns` in which the thread was off the processor. The rest is work of the
            kernel, and of strace. Only of joined events.

    Raises
    ------
    TypeError, ValueError
        `min_ns` is no int, or negative.
    polars.exceptions.ColumnNotFoundError
        The events lack a column that is needed.

    Examples
    --------
    A child that sleeps for 20 ms, and its parent:

    >>> from pathlib import Path
    >>> import tracefast as tf
    >>> log = Path("sleep.strace")
    >>> _ = log.write_text(
    ...     "7 1700000000.000000 wait4(-1,  <unfinished ...>\n"
    ...     "8 1700000000.000100 nanosleep({tv_sec=0, tv_nsec=20000000}, NULL) = 0 <0.020100>\n"
    ...     "8 1700000000.020300 +++ exited with 0 +++\n"
    ...     "7 1700000000.020400 <... wait4 resumed>NULL, 0, NULL) = 8 <0.020400>\n"
    ... )
    >>> tf.waits(tf.scan(log)).select("tid", "on", "object", "waker_pid", "end").collect().rows()
    [(7, 'child', 'pid 8', 8, 'woken'), (8, 'timer', None, None, 'timeout')]
    """
    return waits_in_detail(events, min_ns=min_ns).select(pl.exclude(DETAILS))


def stuck(events: Events) -> pl.LazyFrame:
    r"""Give the waits of those who cannot go on, roots first.

    Parameters
    ----------
    events
        The events of a log or of Parquet files, in their order: all of them, as the proof follows
        from who holds what.

    Returns
    -------
    polars.LazyFrame
        The rows of `tracefast.waits` whose `verdict` is ``deadlock``, ``likely-deadlock`` or
        ``stalled``: of each root, those that are proved, then those who wait for them.

        `source` : String
            The log.
        `ts` : Datetime
            When the wait began.
        `dur_ns` : Int64
            How long it took; null if it has no end in the log.
        `open_ns` : Int64
            How long it lasted at least, if it has no end: to the last event of the log. For a wait
            with a `verdict`, to the moment of the verdict; if it is the last of a series that timed
            out again and again, from the first of them.
        `run_delay_ns` : Int64
            From the wake-up until the task ran again (ftrace with events of the scheduler, and
            joined events).
        `task` : UInt32
            Identity of the thread that waited.
        `pid`, `tid` : Int32
            Its process and thread id.
        `image` : String
            The program that its process ran.
        `line` : UInt64
            The line of the log on which the call began.
        `name` : String
            The call; null for time off the CPU that belongs to no call.
        `fd` : Int32
            The descriptor that it waited on, if it is one; of accept the listening one.
        `on` : String
            What it waited on: ``futex``, ``pipe``, ``socket``, ``child``, ``lock`` (on a file, a
            lease, or a semaphore of System V), ``timer``, ``signal``, ``eventfd``, ``terminal``,
            ``disk``, ``ring``, ``other`` (a message queue, for example).
        `object` : String
            Which one: ``pipe:[219782]``, ``futex 0x55d0c0 of 11952`` (of the threads of a process),
            ``futex FILE+0x40`` (shared), ``pid 11953``, ``lock PATH 0-100``, ``lease PATH``,
            ``UNIX-STREAM:[236577->235641]``, ``socket to 127.0.0.1:5000``, ``semaphore 7 of set
            32768``, ``queue 5``, ``queue /name``. For a poll the one that ended it, otherwise up to
            eight.
        `timeout_ns` : Int64
            How long it would have waited at most; null for ever, or if the log does not say.
        `end` : String
            ``woken``, ``timeout``, ``signal``, ``error``, or ``open``.
        `waker_task` : UInt32
            The task that ended it; null if the log does not show who did.
        `waker_pid` : Int32
            Its process id.
        `waker_line` : UInt64
            The line of what it did to end the wait.
        `waker_known` : String
            ``exact`` if the log proves it: it shows the wake-up, the exit of the child, or the only
            one who acted within the wait on a thing whose users it all shows. Otherwise
            ``inferred``.
        `could_wake` : List(UInt32)
            Of a wait without an end: the live tasks that could end it. Null if others could that
            the log does not show.
        `verdict` : String
            Of a wait without an end, or that only a signal or death ended: ``deadlock`` (the log
            proves that it can never end), ``likely-deadlock`` (the same, but the log is too short
            or does not show all), ``stalled`` (it waits only for those that can never go on),
            ``waiting`` (somebody could end it), ``asleep`` (it ends by itself), or null.
        `proof` : String
            What proves a deadlock: ``private-futex``, ``cycle``, ``own-pipe``, ``no-writer``,
            ``lost-child``, ``held-lock``.
        `root_task` : UInt32
            The stuck task that it leads to.
        `because_line` : UInt64
            The line that explains it: the fork while another thread used the lock, the death of the
            child, the fork that copied the other end of the pipe.
        `off_cpu_ns` : Int64
            Part of `dur_ns` in which the thread was off the processor. The rest is work of the
            kernel, and of strace. Only of joined events.

    Raises
    ------
    polars.exceptions.ColumnNotFoundError
        The events lack a column that is needed.

    Examples
    --------
    A process that reads a pipe which only itself could write:

    >>> from pathlib import Path
    >>> import tracefast as tf
    >>> log = Path("stuck.strace")
    >>> _ = log.write_text(
    ...     '7 1700000000.000000 execve("/bin/x", ["x"], 0x7f /* 9 vars */) = 0 <0.000300>\n'
    ...     "7 1700000000.000500 mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, -1, 0) = 0x7f00\n"
    ...     "7 1700000000.000600 set_tid_address(0x7f10) = 7 <0.000010>\n"
    ...     "7 1700000000.001000 pipe2([3, 4], 0) = 0 <0.000010>\n"
    ...     "7 1700000000.002000 read(3,  <unfinished ...>) = ?\n"
    ...     "7 1700000005.000000 +++ killed by SIGKILL +++\n"
    ... )
    >>> tf.stuck(tf.scan(log)).select("tid", "verdict", "proof", "because_line").collect().rows()
    [(7, 'deadlock', 'own-pipe', 4)]
    """
    return stuck_rows(waits_in_detail(events, question="tracefast.stuck")).select(
        pl.exclude(DETAILS)
    )


def stuck_rows(waits: pl.LazyFrame) -> pl.LazyFrame:
    """Keep the waits of those who cannot go on, roots first, in their order."""
    rows = waits.filter(pl.col("verdict").is_in(STUCK))
    begun = pl.col("ts").min().over("source", "root_task")
    later = pl.col("verdict") == "stalled"
    root = pl.col("task") != pl.col("root_task")
    return rows.sort("source", begun, "root_task", later, root, "ts", maintain_order=True)
