"""The columns of `blocks`."""

from typing import Final

from tracefast.columns.column_group import columns

COLUMNS: Final = (
    columns("source", "String", "The log."),
    columns("dev", "String", "The device, ``major:minor``."),
    columns(
        "op",
        "String",
        "``read``, ``write``, ``discard``, ``flush``, ``zone`` or ``none``: the kind of request"
        " without its flags.",
    ),
    columns(
        "requests",
        "UInt32",
        "Requests that were issued to the driver. One that the driver gives back, and the kernel"
        " issues again, counts once: ``block_rq_requeue`` shows them, and without this event their"
        " completions do, if at least 95 % of all requests have one.",
    ),
    columns("bytes", "Int64", "Sum of their sizes.", unit="bytes"),
    columns(
        "sequential_share_1",
        "Float64",
        "Share of the requests that start at the sector after the previous one of the same"
        " device and operation, in the order in which they were issued. bcc's biopattern counts"
        " the same, but for reads and writes together, and in the order of completion. The"
        " first request is not counted.",
    ),
    columns(
        "sequential_share_4",
        "Float64",
        "Share of the requests that start where one of the last four streams ended, so that"
        " programs that read side by side do not hide each other's order. A request that"
        " continues none of them starts a stream, which replaces the least recently used one.",
    ),
    columns("size_median size_max", "Int64", "Size of a request.", unit="bytes"),
    columns(
        "completed",
        "UInt32",
        "Requests whose completion is in the log, for the same sectors. A request whose sector"
        " another one asks for before, or that was open where records were lost, has none.",
    ),
    columns(
        "latency_p50_ns latency_p99_ns latency_max_ns",
        "Int64",
        "Time from the first issue to completion, of the completed requests: median, 99th"
        " percentile (exact, nearest rank), longest.",
    ),
    columns(
        "readahead_share", "Float64", "Share of the requests that the kernel made to read ahead."
    ),
    columns(
        "in_flight_max",
        "UInt32",
        "The largest number of completed requests that were open at the same time.",
    ),
    columns(
        "task_top",
        "String",
        "Name of the task that issued most requests; the kernel's own threads issue many.",
    ),
)

# Of `by="file"`.
BY_FILE: Final = (
    columns("source", "String", "The log."),
    columns("dev", "String", "The device of the requests, ``major:minor``."),
    columns("op", "String", "``read``, ``write`` and so on: the kind of request."),
    columns(
        "file_dev",
        "String",
        "The device of the file; null where the log does not show whose bytes they are, as of"
        " journals, and of flushes and discards, which are of no file.",
    ),
    columns("ino", "UInt64", "The inode of the file."),
    columns("path", "String", "The path from `inode_map`; null without it."),
    columns("requests", "UInt32", "Requests that moved bytes of this file."),
    columns("bytes", "Int64", "Bytes of this file that they moved.", unit="bytes"),
    columns("completed", "UInt32", "Requests whose completion is in the log."),
    columns("latency_p50_ns latency_max_ns", "Int64", "Their time to completion: median, longest."),
    columns("readahead_share", "Float64", "Share of the requests that were made to read ahead."),
)
