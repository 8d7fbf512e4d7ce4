"""The columns of `waits`, `stuck` and `wait_graph`."""

from typing import Final

from tracefast.columns.column_group import columns

COLUMNS: Final = (
    columns("source", "String", "The log."),
    columns("ts", "Datetime", "When the wait began."),
    columns("dur_ns", "Int64", "How long it took; null if it has no end in the log."),
    columns(
        "open_ns",
        "Int64",
        "How long it lasted at least, if it has no end: to the last event of the log. For a wait"
        " with a `verdict`, to the moment of the verdict; if it is the last of a series that timed"
        " out again and again, from the first of them.",
    ),
    columns(
        "run_delay_ns",
        "Int64",
        "From the wake-up until the task ran again (ftrace with events of the scheduler, and joined"
        " events).",
    ),
    columns("task", "UInt32", "Identity of the thread that waited."),
    columns("pid tid", "Int32", "Its process and thread id."),
    columns("image", "String", "The program that its process ran."),
    columns("line", "UInt64", "The line of the log on which the call began."),
    columns(
        "name",
        "String",
        "The call; null for time off the CPU that belongs to no call.",
    ),
    columns(
        "fd",
        "Int32",
        "The descriptor that it waited on, if it is one; of accept the listening one.",
    ),
    columns(
        "on",
        "String",
        "What it waited on: ``futex``, ``pipe``, ``socket``, ``child``, ``lock`` (on a file, a"
        " lease, or a semaphore of System V), ``timer``, ``signal``, ``eventfd``, ``terminal``,"
        " ``disk``, ``ring``, ``other`` (a message queue, for example).",
    ),
    columns(
        "object",
        "String",
        "Which one: ``pipe:[219782]``, ``futex 0x55d0c0 of 11952`` (of the threads of a process),"
        " ``futex FILE+0x40`` (shared), ``pid 11953``, ``lock PATH 0-100``,"
        " ``lease PATH``, ``UNIX-STREAM:[236577->235641]``, ``socket to 127.0.0.1:5000``,"
        " ``semaphore 7 of set 32768``, ``queue 5``, ``queue /name``. For a poll the one that ended"
        " it, otherwise up to eight.",
    ),
    columns(
        "timeout_ns",
        "Int64",
        "How long it would have waited at most; null for ever, or if the log does not say.",
    ),
    columns("end", "String", "``woken``, ``timeout``, ``signal``, ``error``, or ``open``."),
    columns(
        "waker_task",
        "UInt32",
        "The task that ended it; null if the log does not show who did.",
    ),
    columns("waker_pid", "Int32", "Its process id."),
    columns("waker_line", "UInt64", "The line of what it did to end the wait."),
    columns(
        "waker_known",
        "String",
        "``exact`` if the log proves it: it shows the wake-up, the exit of the child, or the only"
        " one who acted within the wait on a thing whose users it all shows. Otherwise"
        " ``inferred``.",
    ),
    columns(
        "could_wake",
        "List(UInt32)",
        "Of a wait without an end: the live tasks that could end it. Null if others could that the"
        " log does not show.",
    ),
    columns(
        "verdict",
        "String",
        "Of a wait without an end, or that only a signal or death ended: ``deadlock`` (the log"
        " proves that it can never end), ``likely-deadlock`` (the same, but the log is too short or"
        " does not show all), ``stalled`` (it waits only for those that can never go on),"
        " ``waiting`` (somebody could end it), ``asleep`` (it ends by itself), or null.",
    ),
    columns(
        "proof",
        "String",
        "What proves a deadlock: ``private-futex``, ``cycle``, ``own-pipe``, ``no-writer``,"
        " ``lost-child``, ``held-lock``.",
    ),
    columns("root_task", "UInt32", "The stuck task that it leads to."),
    columns(
        "because_line",
        "UInt64",
        "The line that explains it: the fork while another thread used the lock, the death of the"
        " child, the fork that copied the other end of the pipe.",
    ),
)
# Of events that `tracefast.join` has made.
JOINED: Final = (
    columns(
        "off_cpu_ns",
        "Int64",
        "Part of `dur_ns` in which the thread was off the processor. The rest is work of the"
        " kernel, and of strace. Only of joined events.",
    ),
)

GRAPH: Final = (
    columns("source", "String", "The log."),
    columns("waiter_pid", "Int32", "The process that waited."),
    columns("waiter_image", "String", "The program that it ran."),
    columns(
        "waker_pid",
        "Int32",
        "The process that ended the waits, or that stuck ones wait for; null if it is not known.",
    ),
    columns("waker_image", "String", "The program that it ran."),
    columns("on", "String", "What they waited on, as in `tracefast.waits`."),
    columns("object", "String", "Which one."),
    columns("count", "UInt32", "Waits."),
    columns("total_ns max_ns", "Int64", "Their time together, and the longest; open ones so far."),
    columns("open", "UInt32", "Those without an end."),
)
