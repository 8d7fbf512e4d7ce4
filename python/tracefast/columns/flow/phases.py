"""The columns of `phases`."""

from typing import Final

from tracefast.columns.column_group import columns

COLUMNS: Final = (
    columns("source", "String", "The log."),
    columns("name", "String", "The name of the phase."),
    columns("task", "UInt32", "Identity of the process: the task of its first thread."),
    columns("pid", "Int32", "Its process id."),
    columns("ts_start", "Datetime", "When it began."),
    columns(
        "ts_end",
        "Datetime",
        "When it ended: with the next mark of the process, at the end of the block, at the exit of"
        " the process, or with the log.",
    ),
    columns("dur_ns", "Int64", "How long it took."),
    columns(
        "count",
        "UInt64",
        "System calls of the process and its children in it, without those of phases within it.",
    ),
)
