"""One row per created task: who created it, how, how long that took, and how it ended."""

from typing import Final

import polars as pl

from tracefast import _core
from tracefast._polars.folds import folded
from tracefast._polars.given_events import Events
from tracefast.analysis.forks.kernel_times import with_kernel_times

# The columns of the table, and their types.
SCHEMA: Final = pl.Schema(_core.Forks().schema)


def forks(events: Events) -> pl.LazyFrame:
    """Give one row per created task, threads included.

    Parameters
    ----------
    events
        The events of a log, of Parquet files, or a part of them, in their order: filter rows as
        you like, but keep the columns.

    Returns
    -------
    polars.LazyFrame
        In order of `source` and `ts`. Null means that the log cannot say. Columns that end in
        ``_ns`` are nanoseconds, in ``_bytes`` bytes.

        `source` : String
            The log.
        `ts` : Datetime
            When the call that creates the task was entered.
        `line` : UInt64
            The line of the log on which that call starts.
        `task` : UInt32
            The task that made the call.
        `pid`, `tid` : Int32
            Its process and its thread.
        `parent_image` : String
            The program that it runs: the path of its last execve, otherwise its name.
        `name` : String
            ``clone``, ``clone3``, ``fork``, ``vfork``; null for tasks that only ftrace events show;
            these have no `call_ns` either.
        `kind` : String
            ``fork`` (memory of its own), ``vfork``, ``posix_spawn``, ``thread``, ``shared`` (shared
            memory, but not a thread).
        `child_task` : UInt32
            The task that was created; null if the call failed, or if the log does not show which of
            several it is (pid namespaces); what follows of the child is null then, too.
        `child_pid` : Int32
            Its number, as the call returned it.
        `errno` : String
            Name of the error if the call failed.
        `call_ns` : Int64
            Time in the call that creates the task. A call that the kernel restarted is one row,
            with the sum of its attempts.
        `restarts` : UInt32
            How often the kernel restarted it.
        `exec_gap_ns` : Int64
            From the start of the child to the entry of the first execve that succeeded.
        `exec_failed` : UInt32
            Failed calls of execve before that one.
        `exec_failed_ns` : Int64
            Time in these.
        `exec_ns` : Int64
            Time in the execve that succeeded.
        `image` : String
            The program that it executed; null if none.
        `argv` : List(String)
            The arguments with which `image` was started, as in `tracefast.processes`.
        `startup_ns` : Int64
            Dynamic linking: from the return of that execve to the ``munmap`` of the cache of
            library names, which is the last thing that the linker does; without such a cache, to
            the last ``mprotect`` before the first call that linkers do not make. Null for programs
            that are not dynamically linked, and in logs without mappings.
        `startup_calls`, `startup_libraries`, `startup_misses` : UInt32
            Calls during that time; objects mapped with code; calls that failed with ``ENOENT``.
        `error_pipe_ns` : Int64
            Time that the caller spends reading a close-on-exec pipe (``pipe2``) whose other end it
            has closed. The pipe shows whether the child could execute its program.
        `lifetime_ns` : Int64
            From the start of the child to its exit; null where the clock was set back between.
        `exit_status` : Int32
            Exit status of a child that exited: for a process as in `tracefast.processes`.
        `exit_signal` : String
            The signal that killed the child.
        `reap_ns` : Int64
            From its exit to the return of the wait that collected it.
        `child_utime_ns`, `child_stime_ns` : Int64
            Its time on a processor, in user mode and in the kernel, as SIGCHLD reports it. Null if
            that is more than its threads can have had.
        `parent_tasks` : UInt32
            Threads of the caller at the time of the call, including itself; a thread whose end is
            not in the log is counted until the end.
        `parent_anon_bytes` : Int64
            Private writable memory of the caller: the estimate `anon_bytes` of the events, or the
            last value of ftrace's ``rss_stat``.
        `tracer_low_ns`, `tracer_high_ns` : Int64
            Bounds of strace's own share in the sum of `call_ns`, `exec_gap_ns` and `exec_ns`; null
            for ftrace, which does not stop tasks.
        `call_kernel_ns`, `exec_kernel_ns` : Int64
            Time that the kernel spent in the call, and in the execve that succeeded: `call_ns` and
            `exec_ns` without strace. Only of joined events; null for calls that the kernel
            restarted.

    Raises
    ------
    polars.exceptions.ColumnNotFoundError
        The events lack a column that is needed.

    Notes
    -----
    strace stops a task twice per call. The cost of a line of the log is estimated from the time
    between one line of a thread and its next:

    - at least: the 10th percentile over the whole log, but no more than 100 µs (if lines are
      further apart, there were calls between them that were not traced);
    - usually, and at most: the median and the 90th percentile among the lines of new processes
      before they start their program. If there are fewer than ten such lines, both are the median
      over the whole log.

    The lower bound, `tracer_low_ns`, is the least cost of one line for each call of the child
    before its execve, but no more than `exec_gap_ns`.

    The upper bound, `tracer_high_ns`, for a ``fork`` is the sum of

    - the greatest cost of one line for each of these calls and for the execve, but no more than
      `exec_gap_ns`;
    - the usual cost of 5 lines for the call and the birth of the child, at which strace stops both
      tasks and attaches to the child;
    - the usual cost of 10 lines for the execve, which stops once more and whose strings strace
      reads, but no more than `exec_ns`.

    The call of ``vfork`` and ``posix_spawn`` contains what the child does until its execve is over,
    so the sum of the three columns counts that twice. The upper bound for these calls is twice
    `exec_gap_ns`, plus twice the greatest cost of 10 lines for the execve (no more than `exec_ns`),
    plus the rest of the call.

    In joined events (`tracefast.join`), `tracer_low_ns` is at least `call_ns` less
    `call_kernel_ns`, plus `exec_ns` less `exec_kernel_ns`; and so is `tracer_high_ns`.

    `call_ns` + `exec_gap_ns` + `exec_ns` minus each bound gives the range of their sum without
    strace. For ``vfork`` and ``posix_spawn``, `call_ns` minus each bound, but not below 0, gives
    the range of the call alone.

    Examples
    --------
    >>> import tracefast as tf
    >>> table = tf.forks(tf.scan("demo.strace")).collect()
    >>> table.select("kind", "child_pid", "call_ns", "image", "exit_status").rows()
    [('vfork', 101, 300000, '/bin/true', 0)]
    """
    rows = folded(events, _core.Forks, name="FORKS", question="tracefast.forks")
    return with_kernel_times(rows, events, "tracefast.forks")
