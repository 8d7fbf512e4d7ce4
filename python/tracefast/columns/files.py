"""The columns of `files`: those of reads, and the same of writes."""

from collections.abc import Iterable, Iterator
from typing import Final

from tracefast.columns.column_group import ColumnGroup, columns

# Writes do not meet the end of the file.
_READS_ONLY: Final = ("read_eof",)

COLUMNS: Final = (
    columns("source", "String", "The log."),
    columns(
        "phase",
        "String",
        "The innermost phase in which the calls began; null outside of phases, and for the marks"
        ' themselves; only with ``by="phase"``.',
    ),
    columns("pid", "Int32", 'The process; only with ``by="process"``.'),
    columns(
        "ofd task",
        "UInt32",
        'The open file description, and the task that opened it; only with ``by="open"``.',
    ),
    columns(
        "ts_open ts_close",
        "Datetime",
        'When it was opened, and when the last close in the log started; only with ``by="open"``.',
    ),
    columns("file", "UInt64", "Identity of the file; null where the log shows only a path."),
    columns(
        "path",
        "String",
        "The name under which it was first opened, absolute where that is known.",
    ),
    columns(
        "type",
        "String",
        "``regular``, ``directory``, ``pipe``, ``fifo``, ``socket``, ``char``, ``block``,"
        " ``memfd``, ``anon``, ``unknown``; from any event that shows it.",
    ),
    columns(
        "size",
        "Int64",
        "The largest size that the log shows, by a stat, a seek from the end, an end of file,"
        " or the last byte read.",
        unit="bytes",
    ),
    columns("processes tasks", "UInt32", "Number of processes and tasks that used the file."),
    columns(
        "opens opens_failed",
        "UInt32",
        "Calls that opened it by name, and those that failed to.",
    ),
    columns(
        "stats stats_failed",
        "UInt32",
        "Calls that looked at the name or the open file: of the stat family, access, readlink,"
        " statfs, getxattr, listxattr; and those of them that failed.",
    ),
    columns("mmaps mmaps_failed", "UInt32", "Calls that mapped it, and those that failed to."),
    columns("mmap_bytes", "Int64", "Bytes mapped, whether or not they were read."),
    columns("ts_first ts_last", "Datetime", "Start of the first call, end of the last one."),
    columns(
        "offset_known",
        "String",
        "How well positions are known, at worst: ``exact``, ``relative`` (to the first access),"
        " ``assumed`` or ``assumed-relative`` (the same, if no call moved them that was not"
        " traced), ``ambiguous``, ``unknown``.",
    ),
    columns(
        "reads read_errors",
        "UInt32",
        "Calls that succeeded, including those at the end of the file; calls that failed.",
    ),
    columns(
        "read_bytes read_requested",
        "Int64",
        "Bytes returned; bytes asked for.",
        unit="bytes",
    ),
    columns(
        "read_first read_consecutive read_forward read_backward read_eof",
        "UInt32",
        "Reads by class: the first access; starts where the previous one ended; starts after"
        " that; starts before that; met the end of the file.",
    ),
    columns(
        "read_unknown",
        "UInt32",
        "Reads at a position that the log does not show. These and the classes add up to `reads`.",
    ),
    columns("read_near", "UInt32", "Reads of `read_forward` that skip at most `near` bytes."),
    columns("read_rewinds", "UInt32", "Reads of `read_backward` that start at 0."),
    columns("read_short", "UInt32", "Reads that returned fewer bytes than asked for, but not 0."),
    columns(
        "read_random_share",
        "Float64",
        "1 - (consecutive + near) / (consecutive + forward + backward); null if no read has"
        " one of these classes.",
    ),
    columns("read_random_bytes_share", "Float64", "The same by bytes."),
    columns("read_runs", "UInt32", "Runs of consecutive reads."),
    columns("read_run_bytes_median", "Int64", "Median of the bytes in a run.", unit="bytes"),
    columns(
        "read_jump_median read_jump_p90",
        "Int64",
        "Distance jumped by the other reads, in either direction: median, 90th percentile.",
        unit="bytes",
    ),
    columns(
        "read_unique_bytes read_reread_bytes",
        "Int64",
        "Distinct bytes of the file that were read; bytes that were read again.",
    ),
    columns(
        "read_reread_factor",
        "Float64",
        "Bytes read divided by distinct bytes: 2 means everything was read twice.",
    ),
    columns("read_coverage_share", "Float64", "Distinct bytes divided by `size`."),
    columns(
        "read_shared_bytes",
        "Int64",
        "Bytes that several processes each read for themselves: the sum of the distinct bytes"
        " of each process, minus the distinct bytes of all together.",
    ),
    columns(
        "read_size_median read_size_max read_asked_common",
        "Int64",
        "Bytes returned by a call, median and largest; the number of bytes asked for most often.",
        unit="bytes",
    ),
    columns(
        "read_ns read_wall_ns",
        "Int64",
        "Sum of the durations; time during which at least one read was in progress (as in"
        " `syscalls`).",
    ),
    columns(
        "read_p50_ns read_p99_ns read_max_ns",
        "Int64",
        "Duration of a call: median, 99th percentile, longest.",
    ),
)

# Of events that `tracefast.join` has made.
JOINED: Final = (
    columns(
        "cached_reads cold_reads",
        "UInt32",
        "Reads for which no page was missing and no device moved anything; all others. Only of"
        " joined events, and not by phase.",
    ),
    columns(
        "disk_read_bytes",
        "Int64",
        "What devices moved for these reads, also ahead of them. Only of joined events, and not by"
        " phase.",
        unit="bytes",
    ),
)


def _of_writes(groups: Iterable[ColumnGroup]) -> Iterator[ColumnGroup]:
    """Describe the columns of writes by those of reads."""
    for group in groups:
        for name in group.names:
            if name.startswith("read") and name not in _READS_ONLY:
                yield ColumnGroup(
                    ("write" + name.removeprefix("read"),),
                    group.type,
                    group.unit,
                    f"For writes, what `{name}` is for reads.",
                )


# Docstring and documentation mention these in one sentence.
WRITE_COLUMNS: Final = tuple(_of_writes(COLUMNS))
