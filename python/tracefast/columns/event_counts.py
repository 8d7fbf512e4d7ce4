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
    columns("share", "Float64", "Its share of the log's rows."),
    columns(
        "ts_first ts_last",
        "Datetime",
        "When it first and last happened; for calls, when they were entered.",
    ),
    columns("tasks cpus", "UInt32", "Number of distinct tasks and processors."),
    columns(
        "dur_ns dur_p50_ns dur_max_ns",
        "Int64",
        "Sum of the durations, their median (exact, nearest rank), the longest; null where no row"
        " has one.",
    ),
)
