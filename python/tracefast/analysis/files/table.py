"""One row per file: what was read and written, in which order, and how long that took."""

from collections.abc import Callable
from datetime import timedelta
from typing import Final, Literal, get_args

import polars as pl

from tracefast import _core
from tracefast._polars.folds import folded
from tracefast._polars.given_events import Events
from tracefast.analysis.files.device_reads import with_device_reads
from tracefast.arguments import integer

Scope = Literal["stream", "file"]
By = Literal["process", "open", "phase"]
Rings = Callable[[int, int], object]

NEAR: Final = 131_072


def files(
    events: Events,
    *,
    scope: Scope = "stream",
    by: By | None = None,
    near: int = NEAR,
    darshan: bool = False,
    every: str | timedelta | None = None,
) -> pl.LazyFrame:
    """Give one row per file: what was read and written, and in which order.

    Reads are the calls that take data from the file: read, readv, pread64, preadv, preadv2, the
    input side of sendfile, splice, copy_file_range and tee, the parts of io_submit that read, and
    on sockets the recv family; writes are their counterparts. Calls whose result strace injected do
    not count. What is read through a mapping or submitted to io_uring is not in a log.

    Of events that :func:`tracefast.join` made, the table has three more columns at its end, except
    by phase: `cold_reads`, reads that missed pages or for which a device moved bytes,
    `cached_reads`, the other ones, and `disk_read_bytes`, which devices moved for them.

    Calls that have only a path (a failed open, a stat) are counted with the first file of that
    name, or, if no such file was ever opened, in a row without `file`. Descriptors for which the
    log shows neither file nor path have one row per open file description, without either.

    Parameters
    ----------
    events
        The events of a log, of Parquet files, or a part of them, in their order: filter rows as
        you like, but keep the columns. Accesses keep the class that they had among all events;
        distances are computed between the accesses that are left.
    scope
        Which previous access an access is compared with: ``"stream"`` for the one through the same
        open file description, which is what the program did; ``"file"`` for the one in the same row
        of the table, through any description, which is what storage sees. Reads and writes are
        separate; errors and ends of file are left out. Not with ``by="phase"``.
    by
        ``"process"`` for one row per process (`pid`) and file; ``"open"`` for one row per open
        file description, with `ofd`, the `task` that opened it, `ts_open`, and `ts_close`, the
        start of the last close in the log; ``"phase"`` for one row per name of a phase and file:
        see `tracefast.phases`. Phases need the rows that mark them, and those that make processes:
        to count only a part of the events, do not filter them, but give them a Boolean column
        `counted`.
    near
        Number of bytes that an access may skip and still count as near the previous one.
    darshan
        Give the counters of Darshan's POSIX module instead, one row per path: see
        ``docs/files.md``. `scope`, `by` and `near` are ignored then.
    every
        Give one row per window of this length (``"100ms"``, a timedelta) and file that was read or
        written: the columns are those of the table ``files_by_time`` of :doc:`tables`. Not with the
        other options.

    Returns
    -------
    polars.LazyFrame
        Largest sum of `read_bytes` and `write_bytes` first. Null means that the log cannot say.
        Columns that end in ``_ns`` are nanoseconds, in ``_bytes`` bytes, in ``_share`` fractions
        of 1. Times include every call of that kind that has a duration, even if it failed; sizes
        include only calls that succeeded. Medians and percentiles are exact, nearest rank.

        `source` : String
            The log.
        `phase` : String
            The innermost phase in which the calls began; null outside of phases, and for the marks
            themselves; only with ``by="phase"``.
        `pid` : Int32
            The process; only with ``by="process"``.
        `ofd`, `task` : UInt32
            The open file description, and the task that opened it; only with ``by="open"``.
        `ts_open`, `ts_close` : Datetime
            When it was opened, and when the last close in the log started; only with ``by="open"``.
        `file` : UInt64
            Identity of the file; null where the log shows only a path.
        `path` : String
            The name under which it was first opened, absolute where that is known.
        `type` : String
            ``regular``, ``directory``, ``pipe``, ``fifo``, ``socket``, ``char``, ``block``,
            ``memfd``, ``anon``, ``unknown``; from any event that shows it.
        `size` : Int64, in bytes
            The largest size that the log shows, by a stat, a seek from the end, an end of file, or
            the last byte read.
        `processes`, `tasks` : UInt32
            Number of processes and tasks that used the file.
        `opens`, `opens_failed` : UInt32
            Calls that opened it by name, and those that failed to.
        `stats`, `stats_failed` : UInt32
            Calls that looked at the name or the open file: of the stat family, access, readlink,
            statfs, getxattr, listxattr; and those of them that failed.
        `mmaps`, `mmaps_failed` : UInt32
            Calls that mapped it, and those that failed to.
        `mmap_bytes` : Int64
            Bytes mapped, whether or not they were read.
        `ts_first`, `ts_last` : Datetime
            Start of the first call, end of the last one.
        `offset_known` : String
            How well positions are known, at worst: ``exact``, ``relative`` (to the first access),
            ``assumed`` or ``assumed-relative`` (the same, if no call moved them that was not
            traced), ``ambiguous``, ``unknown``.
        `reads`, `read_errors` : UInt32
            Calls that succeeded, including those at the end of the file; calls that failed.
        `read_bytes`, `read_requested` : Int64, in bytes
            Bytes returned; bytes asked for.
        `read_first`, `read_consecutive`, `read_forward`, `read_backward`, `read_eof` : UInt32
            Reads by class: the first access; starts where the previous one ended; starts after
            that; starts before that; met the end of the file.
        `read_unknown` : UInt32
            Reads at a position that the log does not show. These and the classes add up to `reads`.
        `read_near` : UInt32
            Reads of `read_forward` that skip at most `near` bytes.
        `read_rewinds` : UInt32
            Reads of `read_backward` that start at 0.
        `read_short` : UInt32
            Reads that returned fewer bytes than asked for, but not 0.
        `read_random_share` : Float64
            1 - (consecutive + near) / (consecutive + forward + backward); null if no read has one
            of these classes.
        `read_random_bytes_share` : Float64
            The same by bytes.
        `read_runs` : UInt32
            Runs of consecutive reads.
        `read_run_bytes_median` : Int64, in bytes
            Median of the bytes in a run.
        `read_jump_median`, `read_jump_p90` : Int64, in bytes
            Distance jumped by the other reads, in either direction: median, 90th percentile.
        `read_unique_bytes`, `read_reread_bytes` : Int64
            Distinct bytes of the file that were read; bytes that were read again.
        `read_reread_factor` : Float64
            Bytes read divided by distinct bytes: 2 means everything was read twice.
        `read_coverage_share` : Float64
            Distinct bytes divided by `size`.
        `read_shared_bytes` : Int64
            Bytes that several processes each read for themselves: the sum of the distinct bytes of
            each process, minus the distinct bytes of all together.
        `read_size_median`, `read_size_max`, `read_asked_common` : Int64, in bytes
            Bytes returned by a call, median and largest; the number of bytes asked for most often.
        `read_ns`, `read_wall_ns` : Int64
            Sum of the durations; time during which at least one read was in progress (as in
            `syscalls`).
        `read_p50_ns`, `read_p99_ns`, `read_max_ns` : Int64
            Duration of a call: median, 99th percentile, longest.
        `cached_reads`, `cold_reads` : UInt32
            Reads for which no page was missing and no device moved anything; all others. Only of
            joined events, and not by phase.
        `disk_read_bytes` : Int64
            What devices moved for these reads, also ahead of them. Only of joined events, and not
            by phase.

        Writes have the same columns: `writes`, and `write_` instead of `read_`, but no
        `write_eof`.

    Raises
    ------
    polars.exceptions.ColumnNotFoundError
        The events lack a column that is needed.
    ValueError
        There is no such `scope` or `by`, they do not go together, or `near` is negative.
    TypeError
        `near` is not an integer.

    Examples
    --------
    >>> import tracefast as tf
    >>> table = tf.files(tf.scan("demo.strace")).collect()
    >>> table.select("path", "opens", "reads", "read_eof", "read_bytes").rows()[0]
    ('/srv/demo/data.bin', 1, 2, 1, 4096)
    """
    if every is not None:
        if by is not None or darshan or scope != "stream" or near != NEAR:
            raise ValueError("every: not with scope, by, near or darshan")
        from tracefast.analysis.over_time.calls import files_by_time

        return files_by_time(events, every)
    return files_and_rings(events, scope=scope, by=by, near=near, darshan=darshan)


def files_and_rings(
    events: Events,
    *,
    scope: Scope = "stream",
    by: By | None = None,
    near: int = NEAR,
    darshan: bool = False,
    rings: Rings | None = None,
) -> pl.LazyFrame:
    """Give the table of `files`, and count what went through io_uring, in one pass.

    Parameters
    ----------
    events, scope, by, near, darshan
        As for `files`.
    rings
        Called with the number of calls of io_uring_enter and of their submissions, each time that
        the table is made; not called for Darshan's counters.

    Examples
    --------
    >>> import tracefast as tf
    >>> counts = []
    >>> table = files_and_rings(tf.scan("demo.strace"), rings=lambda *ring: counts.append(ring))
    >>> table.collect().height, counts
    (2, [(0, 0)])
    """
    if scope not in get_args(Scope):
        raise ValueError(f"scope must be 'stream' or 'file', got {scope!r}")
    if by is not None and by not in get_args(By):
        raise ValueError(f"by must be None, 'process', 'open' or 'phase', got {by!r}")
    if by == "phase" and scope == "file":
        raise ValueError("by='phase' takes scope 'stream' only")
    near = integer("near", near, low=0)
    if darshan:
        from tracefast.analysis.files.darshan import darshan as counters

        return counters(events)

    table = folded(
        events,
        lambda: _core.Files(by=by, scope=scope, near=near),
        name="FILES",
        question="tracefast.files",
        look=None if rings is None else lambda fold: rings(*fold.rings),
        by_phase=by == "phase",
    )
    return with_device_reads(table, events, by)


def columns(by: By | None = None, *, darshan: bool = False) -> pl.Schema:
    """Give the columns of the table.

    Examples
    --------
    >>> columns("process").names()[:4]
    ['source', 'pid', 'file', 'path']
    """
    if darshan:
        from tracefast.analysis.files.darshan import SCHEMA as COUNTERS

        return COUNTERS
    return pl.Schema(_core.Files(by=by).schema)
