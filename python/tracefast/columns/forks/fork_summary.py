"""The columns of `fork_summary`."""

from typing import Final

from tracefast.columns.column_group import columns


def _figures(phase: str) -> str:
    return f"{phase}_sum_ns {phase}_p50_ns {phase}_p95_ns"


COLUMNS: Final = (
    columns("source", "String", "The log."),
    columns(
        "parent_image kind image",
        "String",
        "The program that started others; how (``fork``, ``vfork``, ``posix_spawn``, ``shared``,"
        " ``thread``); what they executed, null if nothing.",
    ),
    columns("count failed", "UInt32", "Tasks that were started; calls that failed."),
    columns(
        "rate_per_s",
        "Float64",
        "How many per second, from the first call to the last; null for a single one.",
        unit="1/s",
    ),
    columns(
        "in_flight_max",
        "UInt32",
        "The largest number that were alive at the same time. A task whose end is not in the"
        " log counts as alive until the end.",
    ),
    columns(
        _figures("call"),
        "Int64",
        "Time in the call that creates the task: sum, median, 95th percentile.",
    ),
    columns(_figures("exec_gap"), "Int64", "From the start of the child to its execve."),
    columns(_figures("exec"), "Int64", "Time in that execve."),
    columns(_figures("startup"), "Int64", "Dynamic linking."),
    columns(
        _figures("error_pipe"),
        "Int64",
        "Time that the parent waits on the pipe that reports a failed execve.",
    ),
    columns(_figures("lifetime"), "Int64", "From the start of the child to its exit."),
    columns(
        "tax_ns",
        "Int64",
        "What this way of starting them costs: the time in the call and, for `kind` ``fork``,"
        " the time in execve beyond what it takes without copied page tables to free. That base"
        " is the median of the children of vfork and posix_spawn that executed the same"
        " program; otherwise the median of the children of the smallest parents (up to 10 %"
        " above the smallest), if the largest has at least twice their memory; otherwise the"
        " fastest execve in the log.",
    ),
    columns(
        "wall_share",
        "Float64",
        "The part of the log's time during which at least one of them was in the call or, after"
        " fork, in execve.",
    ),
    columns(
        "parent_anon_min_bytes parent_anon_max_bytes",
        "Int64",
        "Private writable memory of the parents, smallest and largest.",
    ),
    columns(
        "slope_ns_per_mib",
        "Float64",
        "How much longer the call takes for each MiB of that memory: the median of the slopes of"
        " all pairs (Theil-Sen). Null unless the memory varies at least twofold, and for fewer"
        " than three calls.",
        unit="ns/MiB",
    ),
    columns("slope_r2", "Float64", "The squared correlation."),
    columns(
        "slope_points",
        "UInt32",
        "Calls that the slope is computed from: all, or 1,500 evenly chosen ones if there are"
        " more.",
    ),
    columns(
        "saving_ns",
        "Int64",
        "The part of `tax_ns` that vfork or posix_spawn would save, at 0.1 ms per process, which"
        " is about what vfork takes when nothing traces it; 0 for vfork and posix_spawn; null"
        " where no program was executed.",
    ),
    columns(
        "advice",
        "String",
        "Codes of the advice in `tracefast.fork_advice`, separated by blanks.",
    ),
)
