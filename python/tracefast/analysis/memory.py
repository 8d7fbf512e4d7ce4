"""The memory of processes over time."""

from typing import Final

import polars as pl

from tracefast import _core
from tracefast._polars.folds import folded
from tracefast._polars.given_events import Events

# The columns of the table, and their types.
SCHEMA: Final = pl.Schema(_core.Memory().schema)


def memory(events: Events) -> pl.LazyFrame:
    """Give the memory of processes over time: one row per change.

    From ftrace this is what was resident, by the event ``rss_stat``: pages of each kind, as the
    kernel counted them. Before Linux 6.2 a thread first adds up to 64 faults of its own
    (``TASK_RSS_EVENTS_THRESH`` in mm/memory.c), so an event may lack so many pages of each thread.
    Numbers in /proc are less exact since then: they may lack a batch of pages of each processor
    (include/linux/percpu_counter.h).

    From strace it is what is mapped, by ``mmap``, ``brk`` and their like, so an estimate: pages
    that were never touched count, and so do those that ``MADV_DONTNEED`` gives back, because they
    may come again without a call. Not in it is what execve itself maps, which no call shows: the
    program, its loader and its stack; nor segments of ``shmat``. fork copies, execve starts from
    nothing, and the child of vfork has its parent's. A process that is older than the log has no
    rows.

    Parameters
    ----------
    events
        The events of a log, of Parquet files, or a part of them, in their order: filter rows as
        you like, but keep the columns.

    Returns
    -------
    polars.LazyFrame
        In the order of the events. A value holds until the next row of the process; after its end
        all are 0. Before its first row nothing is known.

        `source` : String
            The log.
        `ts` : Datetime
            When it changed: the entry of the call, or the event.
        `task` : UInt32
            Identity: the task of the process's first thread.
        `pid` : Int32
            Its process id.
        `image` : String
            The program that it ran.
        `anon_bytes` : Int64
            Memory of the process alone: heap, stacks, ``MAP_ANONYMOUS``. From mappings, only what
            may be written to.
        `file_bytes` : Int64
            Pages of mapped files. From mappings, those that are private count here even where they
            were written to, which makes them anonymous.
        `shm_bytes` : Int64
            Shared memory: ``MAP_SHARED`` without a file, ``/dev/shm``, ``memfd_create``. Each
            process counts all that it has of it.
        `from` : String
            ``rss_stat``: resident pages, as the kernel counted them. ``mappings``: an estimate,
            what is mapped, so what may be resident.

    Raises
    ------
    polars.exceptions.ColumnNotFoundError
        The events lack a column that is needed.

    Examples
    --------
    >>> import tracefast as tf
    >>> table = tf.memory(tf.scan("demo.ftrace")).collect()
    >>> table.select("pid", "anon_bytes", "file_bytes", "from").rows()
    [(101, 8192, 0, 'rss_stat'), (101, 8192, 4096, 'rss_stat')]

    The most that each process had:

    >>> import polars as pl
    >>> table.group_by("source", "task").agg(pl.max("anon_bytes")).rows()
    [('demo.ftrace', 1, 8192)]
    """
    return folded(events, _core.Memory, name="MEMORY", question="tracefast.memory")
