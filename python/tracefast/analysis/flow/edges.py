"""Which data went where: the edges of a graph of processes, files, pipes and sockets."""

from collections.abc import Callable
from typing import Final, Literal

import polars as pl

from tracefast import _core
from tracefast._polars.folds import folded
from tracefast._polars.given_events import Events

By = Literal["process", "image", "phase"]
BYS: Final = ("process", "image", "phase")
# The columns of the table, and their types.
SCHEMA: Final = pl.Schema(_core.Flow().schema)


def flow(
    events: Events,
    by: By = "process",
    *,
    gaps: Callable[[list[str]], object] | None = None,
    roles: Callable[[pl.DataFrame], object] | None = None,
) -> pl.LazyFrame:
    """Give the edges of the flow of data: who read what, who wrote what.

    An edge leads from what data came from to what it went to: from a file to the process that read
    it, from a process to the pipe that it wrote to, from one name of a file to the next. What
    io_uring moves is in no log of system calls.

    Parameters
    ----------
    events
        The events of a log or of Parquet files, in their order: all of them, as names and
        descriptors follow from the calls of all processes.
    by
        What processes are called by: each is one, those that ran one program are one, or those of
        one phase (see `tracefast.phases`) are.
    gaps
        Called with what the logs lack, once the table is made: ``calls``, ``names``,
        ``addresses``, ``children``.
    roles
        Called with the table of `tracefast.roles`, which the same pass over the events gives, once
        the table is made.

    Returns
    -------
    polars.LazyFrame
        In order of `source` and `ts_first`. Null means that the log cannot say.

        `source` : String
            The log.
        `src_kind` : String
            What the data came from: ``process``, ``file``, ``pipe``, ``socket``, ``shm`` (memory
            that processes share: ``/dev/shm``, ``memfd_create``, segments of System V, anonymous
            mappings that a child has from its maker), ``host`` (the other end of a socket, where
            only one is in the log); with ``by="phase"``, ``phase`` in place of ``process``. Null
            where the log does not show what a descriptor leads to.
        `src` : String
            Its name: ``gzip 11807`` (program and process id; with ``#2`` for the second process
            that has them), with ``by="image"`` the path of the program, with ``by="phase"`` the
            phase; the last path of a file; ``pipe:[28347]``, or ``pipe 1`` where the log has no
            name for it; ``shmid 5`` (a segment of System V), ``shared memory 1`` (an anonymous
            mapping); the address at which the server of a socket listens. Pipes are called by who
            gives and who takes, ``tar | gzip``, where processes are joined.
        `dst_kind` : String
            What the data went to, as `src_kind`.
        `dst` : String
            Its name, as `src`.
        `how` : String
            ``read``, ``write``; ``map`` (mmap, shmat, or a fork that kept it); ``pipe``,
            ``socket``; ``copy`` (sendfile, copy_file_range, splice, a clone: the data did not pass
            through the process that asked for it); ``rename``, ``link`` (from the old name to the
            new one); ``create`` (the file was made, or emptied); ``exec`` (the process started the
            program).
        `bytes` : Int64, in bytes
            Bytes that the calls moved, of ``map`` those that were mapped. Null for ``rename``,
            ``link``, ``create`` and ``exec``, and where the log does not show it.
        `calls` : UInt64
            Calls.
        `ts_first`, `ts_last` : Datetime
            When the first call began, and the last one ended.
        `phase` : String
            The phase of the program in which this was, the innermost one; null outside of phases.

    Raises
    ------
    ValueError
        `by` is none of these.
    polars.exceptions.ColumnNotFoundError
        The events lack a column that is needed.

    Examples
    --------
    >>> import tracefast as tf
    >>> edges = tf.flow(tf.scan("demo.strace")).collect()
    >>> edges.select("src", "dst", "how", "bytes").row(0)
    ('/srv/demo/data.bin', 'process 100', 'read', 4096)
    """
    if by not in BYS:
        raise ValueError(f"by must be 'process', 'image' or 'phase', got {by!r}")

    def look(fold: _core.Flow) -> None:
        if gaps is not None:
            gaps(fold.gaps)
        if roles is not None:
            roles(pl.concat(map(pl.DataFrame, fold.roles())))

    return folded(
        events,
        lambda: _core.Flow(by=by),
        name="FLOW",
        question="tracefast.flow",
        look=look,
    )
