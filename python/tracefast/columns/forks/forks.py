"""The columns of `forks`."""

from typing import Final

from tracefast.columns.column_group import columns

COLUMNS: Final = (
    columns("source", "String", "The log."),
    columns("ts", "Datetime", "When the call that creates the task was entered."),
    columns("line", "UInt64", "The line of the log on which that call starts."),
    columns("task", "UInt32", "The task that made the call."),
    columns("pid tid", "Int32", "Its process and its thread."),
    columns(
        "parent_image",
        "String",
        "The program that it runs: the path of its last execve, otherwise its name.",
    ),
    columns(
        "name",
        "String",
        "``clone``, ``clone3``, ``fork``, ``vfork``; null for tasks that only ftrace events"
        " show; these have no `call_ns` either.",
    ),
    columns(
        "kind",
        "String",
        "``fork`` (memory of its own), ``vfork``, ``posix_spawn``, ``thread``, ``shared`` (shared"
        " memory, but not a thread).",
    ),
    columns(
        "child_task",
        "UInt32",
        "The task that was created; null if the call failed, or if the log does not show which of"
        " several it is (pid namespaces); what follows of the child is null then, too.",
    ),
    columns("child_pid", "Int32", "Its number, as the call returned it."),
    columns("errno", "String", "Name of the error if the call failed."),
    columns(
        "call_ns",
        "Int64",
        "Time in the call that creates the task. A call that the kernel restarted is one row,"
        " with the sum of its attempts.",
    ),
    columns("restarts", "UInt32", "How often the kernel restarted it."),
    columns(
        "exec_gap_ns",
        "Int64",
        "From the start of the child to the entry of the first execve that succeeded.",
    ),
    columns("exec_failed", "UInt32", "Failed calls of execve before that one."),
    columns("exec_failed_ns", "Int64", "Time in these."),
    columns("exec_ns", "Int64", "Time in the execve that succeeded."),
    columns("image", "String", "The program that it executed; null if none."),
    columns(
        "argv",
        "List(String)",
        "The arguments with which `image` was started, as in `tracefast.processes`.",
    ),
    columns(
        "startup_ns",
        "Int64",
        "Dynamic linking: from the return of that execve to the ``munmap`` of the cache of"
        " library names, which is the last thing that the linker does; without such a cache, to"
        " the last ``mprotect`` before the first call that linkers do not make. Null for programs"
        " that are not dynamically linked, and in logs without mappings.",
    ),
    columns(
        "startup_calls startup_libraries startup_misses",
        "UInt32",
        "Calls during that time; objects mapped with code; calls that failed with ``ENOENT``.",
    ),
    columns(
        "error_pipe_ns",
        "Int64",
        "Time that the caller spends reading a close-on-exec pipe (``pipe2``) whose other end"
        " it has closed. The pipe shows whether the child could execute its program.",
    ),
    columns(
        "lifetime_ns",
        "Int64",
        "From the start of the child to its exit; null where the clock was set back between.",
    ),
    columns(
        "exit_status",
        "Int32",
        "Exit status of a child that exited: for a process as in `tracefast.processes`.",
    ),
    columns("exit_signal", "String", "The signal that killed the child."),
    columns("reap_ns", "Int64", "From its exit to the return of the wait that collected it."),
    columns(
        "child_utime_ns child_stime_ns",
        "Int64",
        "Its time on a processor, in user mode and in the kernel, as SIGCHLD reports it. Null"
        " if that is more than its threads can have had.",
    ),
    columns(
        "parent_tasks",
        "UInt32",
        "Threads of the caller at the time of the call, including itself; a thread whose end is"
        " not in the log is counted until the end.",
    ),
    columns(
        "parent_anon_bytes",
        "Int64",
        "Private writable memory of the caller: the estimate `anon_bytes` of the events, or the"
        " last value of ftrace's ``rss_stat``.",
    ),
    columns(
        "tracer_low_ns tracer_high_ns",
        "Int64",
        "Bounds of strace's own share in the sum of `call_ns`, `exec_gap_ns` and `exec_ns`;"
        " null for ftrace, which does not stop tasks.",
    ),
)
# Of events that `tracefast.join` has made.
JOINED: Final = (
    columns(
        "call_kernel_ns exec_kernel_ns",
        "Int64",
        "Time that the kernel spent in the call, and in the execve that succeeded: `call_ns` and"
        " `exec_ns` without strace. Only of joined events; null for calls that the kernel"
        " restarted.",
    ),
)
