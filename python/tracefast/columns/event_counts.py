"""The columns of the table that `tracefast.events` gives."""

from typing import Final

from tracefast.columns.column_group import columns

COLUMNS: Final = (
    columns("source", "String", "The log."),
    columns(
        "kind name",
        "String",
        "The event: ``syscall`` and ``read``, ``event`` and ``sched_switch``.",
    ),
    columns("count", "UInt64", "How often it occurs in the log."),
    columns("share", "Float64", "The part of the log's rows."),
    columns(
        "ts_first ts_last",
        "Datetime",
        "The first and the last time that it happened or the call was entered.",
    ),
    columns("tasks cpus", "UInt32", "Number of distinct tasks and processors."),
    columns(
        "dur_ns dur_p50_ns dur_max_ns",
        "Int64",
        "Sum of the durations, their median (exact, nearest rank), the longest; null where no row"
        " has one.",
    ),
)
