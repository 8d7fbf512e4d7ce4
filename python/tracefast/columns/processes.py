"""The columns of `processes` and `memory`."""

from typing import Final

from tracefast.columns.column_group import columns

COLUMNS: Final = (
    columns("source", "String", "The log."),
    columns("task", "UInt32", "Identity: the task of its first thread."),
    columns("pid", "Int32", "Its process id."),
    columns(
        "parent_task",
        "UInt32",
        "`task` of the process that created it; if the log does not have the call that did, of"
        " the process that received its exit status. In another pid namespace than strace's, calls"
        " return other numbers: where several processes may have created it, and neither its own"
        " number nor the order of numbers decides, null.",
    ),
    columns("ppid", "Int32", "`pid` of the same process."),
    columns(
        "image",
        "String",
        "The program that it ran last; if it executed none, the program of the process that"
        " created it, at that moment.",
    ),
    columns(
        "images",
        "List(String)",
        "The programs that it executed itself, in order; null for one whose name is not in the"
        " log.",
    ),
    columns(
        "argv",
        "List(String)",
        "The arguments with which `image` was started, its name first. What strace cut ends with"
        " ``...``, and so does the list where it left out some: both at 32 unless ``-s`` says"
        " otherwise. Null where the log has only their address, as in ftrace.",
    ),
    columns("comm", "String", "Its name, where the log prints one."),
    columns(
        "kind",
        "String",
        "How it was created: ``fork`` (memory of its own), ``vfork``, ``posix_spawn``, ``shared``.",
    ),
    columns(
        "ts_start ts_end",
        "Datetime",
        "Its first event or, if it has none, the entry of the call that created it; its last"
        " exit, if the log shows that no thread is left.",
    ),
    columns("lifetime_ns", "Int64", "From `ts_start` to `ts_end`."),
    columns(
        "threads children",
        "UInt32",
        "Threads that it had, including the first one; processes that it created.",
    ),
    columns("calls", "UInt64", "System calls, including those that failed or never ended."),
    columns(
        "io_ns wait_ns",
        "Int64",
        "Sums over its threads. Time spent moving data to and from files, and to the disk"
        " (``fsync``); and time spent waiting for others: in ``futex``, ``poll``, ``wait4`` and"
        " the like, in reads of pipes, sockets, events and terminals, and in writes to them and"
        " calls of fcntl that took a millisecond.",
    ),
    columns(
        "read_bytes write_bytes",
        "Int64",
        "Bytes moved by reads and writes of files, pipes and sockets, as in `tracefast.files`.",
    ),
    columns(
        "exit_status",
        "Int32",
        "Its exit status, from its last event, from its parent's SIGCHLD or wait, or from its own"
        " call of exit. If other threads outlast the first one, it is that of the last thread, as"
        " in Linux since 5.17, unless the parent got another one.",
    ),
    columns("exit_signal", "String", "The signal that killed it."),
)

# Those of `memory`.
MEMORY: Final = (
    columns("source", "String", "The log."),
    columns("ts", "Datetime", "When it changed: the entry of the call, or the event."),
    columns("task", "UInt32", "Identity: the task of the process's first thread."),
    columns("pid", "Int32", "Its process id."),
    columns("image", "String", "The program that it ran."),
    columns(
        "anon_bytes",
        "Int64",
        "Memory of the process alone: heap, stacks, ``MAP_ANONYMOUS``. From mappings, only what may"
        " be written to.",
    ),
    columns(
        "file_bytes",
        "Int64",
        "Pages of mapped files. From mappings, those that are private count here even where they"
        " were written to, which makes them anonymous.",
    ),
    columns(
        "shm_bytes",
        "Int64",
        "Shared memory: ``MAP_SHARED`` without a file, ``/dev/shm``, ``memfd_create``. Each process"
        " counts all that it has of it.",
    ),
    columns(
        "from",
        "String",
        "``rss_stat``: resident pages, as the kernel counted them. ``mappings``: an estimate, what"
        " is mapped, so what may be resident.",
    ),
)
