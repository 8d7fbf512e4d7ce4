"""The columns of `accesses`."""

from typing import Final

from tracefast.columns.column_group import columns

COLUMNS: Final = (
    columns("source", "String", "The log."),
    columns("n", "UInt32", "Number of the row, from 1."),
    columns("ts", "Datetime", "When the call was entered."),
    columns("task", "UInt32", "The task that made the call."),
    columns("pid", "Int32", "Its process."),
    columns("name", "String", "The call."),
    columns("way", "String", "``read`` or ``write``."),
    columns(
        "access",
        "String",
        "The class among the reads, or the writes, of the open file description `ofd`: ``first``,"
        " ``consecutive``, ``forward``, ``backward``, ``eof``, ``error``.",
    ),
    columns("offset", "Int64", "The position at which the access started.", unit="bytes"),
    columns(
        "offset_known",
        "String",
        "How reliable that position is: ``exact``, ``relative`` (to the first access of the"
        " open file description), ``assumed`` or ``assumed-relative`` (the same, if no call moved"
        " it that was not traced), ``ambiguous``, ``unknown``. A relative position is ``exact``"
        " here if the log later shows what it is relative to.",
    ),
    columns(
        "gap",
        "Int64",
        "Distance from the end of the previous access to this one, negative where it went back;"
        " null where one of the two positions is not known.",
        unit="bytes",
    ),
    columns("requested bytes", "Int64", "Bytes asked for, and moved.", unit="bytes"),
    columns("errno", "String", "Name of the error if the call failed."),
    columns("dur_ns", "Int64", "Time in the call."),
    columns("ofd", "UInt32", "The open file description."),
    columns("file", "UInt64", "Identity of the file."),
    columns("line", "UInt64", "The line of the log on which the call started."),
)
