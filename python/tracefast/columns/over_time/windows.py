"""The columns of tables by windows of time: `files`, `syscalls` and `blocks` with `every`."""

from typing import Final

from tracefast.columns.column_group import columns

_SOURCE: Final = columns("source", "String", "The log.")
_TS: Final = columns(
    "ts", "Datetime", "Start of the window: a multiple of `every` on the clock of the log."
)

FILES: Final = (
    _SOURCE,
    _TS,
    columns("file", "UInt64", "Identity of the file; null where the log shows only a path."),
    columns(
        "path", "String", "A path that these calls show for it: the first one, alphabetically."
    ),
    columns(
        "reads writes",
        "UInt32",
        "Calls that began in the window and succeeded. What copies from one file to another reads"
        " the first one and writes the second one.",
    ),
    columns("read_bytes write_bytes", "Int64", "Bytes that they moved.", unit="bytes"),
    columns(
        "read_ns write_ns",
        "Int64",
        "Sum of their durations, those of calls that failed included; null where the log has none.",
    ),
)
SYSCALLS: Final = (
    _SOURCE,
    _TS,
    columns("name", "String", "The call."),
    columns("calls", "UInt32", "Calls that began in the window."),
    columns("errors", "UInt32", "Calls that returned an error to the program."),
    columns("total_ns max_ns", "Int64", "Sum of their durations; the longest one."),
    columns("bytes", "Int64", "Bytes moved; null where no call says so.", unit="bytes"),
)
BLOCKS: Final = (
    _SOURCE,
    _TS,
    columns("dev", "String", "The device, ``major:minor``."),
    columns("op", "String", "``read``, ``write`` and so on: the kind of request."),
    columns("requests", "UInt32", "Requests that were issued in the window."),
    columns("bytes", "Int64", "Sum of their sizes.", unit="bytes"),
    columns("completed", "UInt32", "Requests whose completion is in the log, at any time."),
    columns("latency_p50_ns latency_max_ns", "Int64", "Their time to completion: median, longest."),
)
