"""The columns of `syscalls`."""

from typing import Final

from tracefast.columns.column_group import columns

COLUMNS: Final = (
    columns("source", "String", "The log."),
    columns(
        "phase",
        "String",
        "The innermost phase in which the calls began; null outside of phases, and for the marks"
        ' themselves; only with ``by="phase"``.',
    ),
    columns("pid", "Int32", 'The process; only with ``by="process"``.'),
    columns(
        "image",
        "String",
        "The path of its last execve, or of the last execve of the process that it was forked"
        ' from, otherwise its name, where the log prints one; only with ``by="process"``.',
    ),
    columns("name", "String", "The call."),
    columns("calls", "UInt32", "Number of calls."),
    columns(
        "errors",
        "UInt32",
        "Calls that returned an error to the program. ``ERESTARTSYS`` and the like only make the"
        " kernel restart the call, and what ``rt_sigreturn`` returns is the result of another"
        " call.",
    ),
    columns(
        "unfinished",
        "UInt32",
        "Calls whose end is not in the log. ``exit`` and ``exit_group`` never return and are"
        " not counted here.",
    ),
    columns(
        "open_ns",
        "Int64",
        "How long the unfinished calls have run, added up: from their start to the last event of"
        " the log. Null if every call has an end.",
    ),
    columns(
        "timed",
        "UInt32",
        "Calls whose duration is in the log, as with strace's ``-T``. All times are computed"
        " from these.",
    ),
    columns(
        "total_ns wall_ns",
        "Int64",
        "Sum of all durations; time during which at least one call of that name (and process) was"
        " in progress, or the least that it can be where a call started among many thousands of"
        " earlier ones that do not overlap.",
    ),
    columns(
        "min_ns mean_ns p50_ns p90_ns p99_ns max_ns",
        "Int64",
        "Duration of a call; percentiles are exact, nearest rank.",
    ),
    columns("total_share", "Float64", "`total_ns` divided by that of all calls of the log."),
    columns(
        "wait_ns",
        "Int64",
        "The part of `total_ns` spent waiting for others: in futex, poll, select, epoll, wait,"
        " sleep, pause, accept, connect, recv, flock, semop and the like, and in reads from"
        " pipes, sockets, terminals and other devices, eventfd, inotify, timerfd, signalfd. Writes"
        " to a pipe, socket or terminal, sendfile and the like into one, the open of a FIFO, and"
        " fcntl (which may wait for a lock) count if they took at least a millisecond; without"
        " waiting they take microseconds."
        " Reads of files, directories, block devices, ``/dev/zero`` and ``/dev/urandom`` do not"
        " count as waiting. A descriptor with a path but no known type counts as a file, except"
        " for the usual names of devices. Null if the log does not show for any of the reads"
        " what it reads from.",
    ),
    columns("bytes", "Int64", "Bytes moved; null where no call says so.", unit="bytes"),
)
