"""One row per worker process: its pool, what starting it cost, what it did."""

from typing import Final

import polars as pl

from tracefast import _core
from tracefast._polars.folds import folded
from tracefast._polars.given_events import Events

# What the fold gives besides, for the tables of pools, batches and shared reads.
_BATCHES: Final = "batch_"
DETAILS: Final = (
    *("module_ns", "anon_ready_bytes", "ts_ready", "made_ns", "read_again_bytes"),
    *("shared_files", "shared_paths", "shared_readers", "shared_bytes", "shared_again_bytes"),
)
_DETAILED: Final = pl.Schema(_core.Workers().schema)
# The columns of the table, and their types.
SCHEMA: Final = pl.Schema(
    {
        name: dtype
        for name, dtype in _DETAILED.items()
        if name not in DETAILS and not name.startswith(_BATCHES)
    }
)


def workers_in_detail(events: Events, question: str = "tracefast.workers") -> pl.LazyFrame:
    """Give the rows of `workers` with what the table of pools and the screen need besides.

    Parameters
    ----------
    events
        As for `workers`.
    question
        Name of the function that was called, for messages.
    """
    return folded(events, _core.Workers, name="WORKERS", question=question)


def workers(events: Events) -> pl.LazyFrame:
    r"""Give one row per worker process: its pool, what starting it cost, what it did.

    A pool is a set of processes with the same maker that do the same: forked to get jobs from it,
    started by Python's `multiprocessing` in any of its ways or by loky, or the same program with
    like arguments, several at a time, as make and xargs start them. Servers and trackers that serve
    workers are not workers.

    Parameters
    ----------
    events
        The events of a log or of Parquet files, in their order: all of them, as who writes to whom
        follows from the calls of all processes.

    Returns
    -------
    polars.LazyFrame
        In order of `source`, `pool`, `round` and `ts_start`. Null means that the log cannot say.
        Columns that end in ``_ns`` are nanoseconds, in ``_bytes`` bytes.

        `source` : String
            The log.
        `pool` : UInt32
            Number of its pool, from 0 in each log, in order of their start.
        `round` : UInt32
            Round of work, from 0: a round begins with the first worker that starts after all before
            it have ended, such as the workers of an epoch.
        `method` : String
            How it was started: ``fork`` (a copy of its maker), ``spawn`` (a new interpreter that is
            told what to import, by `multiprocessing` or loky), ``forkserver`` (by a server of
            `multiprocessing`), ``exec`` (a program of its own).
        `parent_pid` : Int32
            The process that made the pool: its parent or, with ``forkserver``, that of the server.
        `pid` : Int32
            Its process id.
        `task` : UInt32
            Identity: the task of its first thread.
        `image` : String
            The program that it ran, as in `tracefast.processes`.
        `ts_start` : Datetime
            Its first event.
        `start_ns` : Int64
            From the call that created it until it waits for its first job: for a pipe or socket
            that its maker writes, for a semaphore that processes share, or for a connection to a
            socket on which its maker listens. Null if it never does.
        `start_calls` : UInt64
            System calls in this time, of all its threads.
        `modules` : UInt32
            Modules of Python (``.py``, ``.pyc``) and libraries (``.so``) opened or mapped in this
            time, each once.
        `module_bytes` : Int64
            Their sizes, as far as the log shows them.
        `jobs` : UInt64
            Messages that it took from its maker: of `multiprocessing` by their lengths, without
            those that ask it to end; of other programs, reads and connections. Null if it has no
            job.
        `busy_ns`, `wait_ns` : Int64
            From `ts_start` to its end, or that of the log: time in which its first thread did not
            wait for other processes, which includes sleep; and in which it did, for a pipe, a
            socket, a child, or a semaphore that processes share. Null if the log has no durations.
        `files` : UInt32
            Files that it read.
        `read_bytes` : Int64
            Bytes that it read from them.
        `read_shared_bytes` : Int64
            Bytes, each once, that it read and another worker of the pool as well, as far as the
            positions are known.
        `shm_bytes` : Int64
            Bytes of memory that processes share (``/dev/shm``, ``memfd_create``) which it mapped,
            read or wrote.
        `anon_start_bytes`, `anon_peak_bytes`, `anon_growth_bytes` : Int64
            Anonymous memory, as in `tracefast.memory`: what it started with (after a fork what it
            has of its maker, after starting a program nothing), the most that it had, and the
            difference. Null if the log does not show it.
        `anon_per_phase_bytes`, `anon_per_job_bytes` : Int64
            What it grows by with each phase that its maker marks, such as an epoch
            (`tracefast.mark`; names may differ in their numbers), and with each job. It is the
            least of what it grew by in each third of them, so what grows only for a while is not in
            it. Null with less than two phases, or nine jobs.
        `anon_once_bytes` : Int64
            What came once: `anon_growth_bytes` without what came with each phase or, if that is
            null, with each job.
        `memory_from` : String
            ``rss_stat``: what was resident, as the kernel counted it. ``mappings``: what was
            mapped, so what may have been resident; a fork's copies of its maker's pages are no
            growth.
        `cow_faults` : UInt64
            Page faults on writes to pages that were there, but protected: most of them copies of
            pages that it had shared with its maker (copy on write). Null if the log has no page
            faults (``exceptions:page_fault_user`` of ftrace).
        `ts_end` : Datetime
            Its last exit, as in `tracefast.processes`.
        `exit_status` : Int32
            Its exit status.
        `exit_signal` : String
            The signal that killed it.

    Raises
    ------
    polars.exceptions.ColumnNotFoundError
        The events lack a column that is needed.

    Examples
    --------
    A process that forks a worker, and sends it a job as `multiprocessing` does:

    >>> from pathlib import Path
    >>> import tracefast as tf
    >>> log = Path("worker.strace")
    >>> _ = log.write_text(
    ...     "7 1700000000.000000 pipe2([3, 4], 0) = 0 <0.000010>\n"
    ...     "7 1700000000.001000 clone(child_stack=NULL, flags=SIGCHLD) = 8 <0.000200>\n"
    ...     "8 1700000000.005000 read(3,  <unfinished ...>\n"
    ...     '7 1700000000.006000 write(4, "\\0\\0\\0\\5image", 9) = 9 <0.000020>\n'
    ...     '8 1700000000.006100 <... read resumed>"\\0\\0\\0\\5", 4) = 4 <0.001100>\n'
    ...     '8 1700000000.006200 read(3, "image", 5) = 5 <0.000010>\n'
    ...     "8 1700000000.009000 +++ exited with 0 +++\n"
    ... )
    >>> columns = "pool", "method", "parent_pid", "pid", "start_ns", "jobs", "wait_ns"
    >>> tf.workers(tf.scan(log)).select(columns).collect().rows()
    [(0, 'fork', 7, 8, 4000000, 1, 1110000)]
    """
    return workers_in_detail(events).select(SCHEMA.names())
