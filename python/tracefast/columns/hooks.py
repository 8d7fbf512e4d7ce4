"""The columns of `hooks`."""

from typing import Final

from tracefast.columns.column_group import columns

COLUMNS: Final = (
    columns("source", "String", "The log."),
    columns("name", "String", "The call."),
    columns("calls", "UInt32", "Number of calls."),
    columns("errors", "UInt32", "Calls that returned an error, as in `tracefast.syscalls`."),
    columns("total_ns", "Int64", "Sum of all durations; null if the log has none."),
    columns(
        "events_per_s",
        "Float64",
        "Entries and exits of the call per second of the log, from its first event to its last."
        " This is how often a probe on both tracepoints would have run. Null if the log has no"
        " times.",
    ),
    columns(
        "tracepoint_enter tracepoint_exit",
        "String",
        "Its tracepoints, such as ``syscalls:sys_enter_read``; null if there is none, see `why`.",
    ),
    columns(
        "wrapper",
        "String",
        "The function at which the call arrives in the kernel, such as ``__x64_sys_read``. Its"
        " only argument are the registers of the program, as ``struct pt_regs`` (from 4.17). Null"
        " if the kernel lacks it, or if its machine is not known.",
    ),
    columns(
        "functions",
        "List(Struct)",
        "Functions of the kernel that serve the call, from the outside inwards: `name`; `probe`,"
        " which is ``fentry`` or ``fexit`` where the kernel has its own types (BTF), otherwise"
        " ``kprobe`` or ``kretprobe``; `tells`, what its arguments or its result say; `since` and"
        " `until`, the first and last version that is known to have it (null: older than 4.4; still"
        " there). Without those that the kernel lacks.",
    ),
    columns(
        "related",
        "List(String)",
        "Tracepoints that show what the call set off: scheduler, page cache, disks, network."
        " Without those that the kernel lacks.",
    ),
    columns(
        "available",
        "String",
        "Whether the kernel has its tracepoints: ``yes``, ``no``, or ``unknown`` without a list.",
    ),
    columns(
        "why",
        "String",
        "Why it is not available, why its exit is not, and which functions the kernel lacks.",
    ),
)
