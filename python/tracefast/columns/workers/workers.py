"""The columns of `workers`."""

from typing import Final

from tracefast.columns.column_group import columns

COLUMNS: Final = (
    columns("source", "String", "The log."),
    columns("pool", "UInt32", "Number of its pool, from 0 in each log, in order of their start."),
    columns(
        "round",
        "UInt32",
        "Round of work, from 0: a round begins with the first worker that starts after all before"
        " it have ended, such as the workers of an epoch.",
    ),
    columns(
        "method",
        "String",
        "How it was started: ``fork`` (a copy of its maker), ``spawn`` (a new interpreter that is"
        " told what to import, by `multiprocessing` or loky), ``forkserver`` (by a server of"
        " `multiprocessing`), ``exec`` (a program of its own).",
    ),
    columns(
        "parent_pid",
        "Int32",
        "The process that made the pool: its parent or, with ``forkserver``, that of the server.",
    ),
    columns("pid", "Int32", "Its process id."),
    columns("task", "UInt32", "Identity: the task of its first thread."),
    columns(
        "image",
        "String",
        "The program that it ran, as in `tracefast.processes`.",
    ),
    columns("ts_start", "Datetime", "Its first event."),
    columns(
        "start_ns",
        "Int64",
        "From the call that created it until it waits for its first job: for a pipe or socket that"
        " its maker writes, for a semaphore that processes share, or for a connection to a socket"
        " on which its maker listens. Null if it never does.",
    ),
    columns("start_calls", "UInt64", "System calls in this time, of all its threads."),
    columns(
        "modules",
        "UInt32",
        "Modules of Python (``.py``, ``.pyc``) and libraries (``.so``) opened or mapped in this"
        " time, each once.",
    ),
    columns("module_bytes", "Int64", "Their sizes, as far as the log shows them."),
    columns(
        "jobs",
        "UInt64",
        "Messages that it took from its maker: of `multiprocessing` by their lengths, without those"
        " that ask it to end; of other programs, reads and connections. Null if it has no job.",
    ),
    columns(
        "busy_ns wait_ns",
        "Int64",
        "From `ts_start` to its end, or that of the log: time in which its first thread did not"
        " wait for other processes, which includes sleep; and in which it did, for a pipe, a"
        " socket, a child, or a semaphore that processes share. Null if the log has no durations.",
    ),
    columns("files", "UInt32", "Files that it read."),
    columns("read_bytes", "Int64", "Bytes that it read from them."),
    columns(
        "read_shared_bytes",
        "Int64",
        "Bytes, each once, that it read and another worker of the pool as well, as far as the"
        " positions are known.",
    ),
    columns(
        "shm_bytes",
        "Int64",
        "Bytes of memory that processes share (``/dev/shm``, ``memfd_create``) which it mapped,"
        " read or wrote.",
    ),
    columns(
        "anon_start_bytes anon_peak_bytes anon_growth_bytes",
        "Int64",
        "Anonymous memory, as in `tracefast.memory`: what it started with (after a fork what"
        " it has of its maker, after starting a program nothing), the most that it had, and the"
        " difference. Null if the log does not show it.",
    ),
    columns(
        "anon_per_phase_bytes anon_per_job_bytes",
        "Int64",
        "What it grows by with each phase that its maker marks, such as an epoch"
        " (`tracefast.mark`; names may differ in their numbers), and with each job. It is the least"
        " of what it grew by in each third of them, so what grows only for a while is not in it."
        " Null with less than two phases, or nine jobs.",
    ),
    columns(
        "anon_once_bytes",
        "Int64",
        "What came once: `anon_growth_bytes` without what came with each phase or, if that is null,"
        " with each job.",
    ),
    columns(
        "memory_from",
        "String",
        "``rss_stat``: what was resident, as the kernel counted it. ``mappings``: what was mapped,"
        " so what may have been resident; a fork's copies of its maker's pages are no growth.",
    ),
    columns(
        "cow_faults",
        "UInt64",
        "Page faults on writes to pages that were there, but protected: most of them copies of"
        " pages that it had shared with its maker (copy on write). Null if the log has no page"
        " faults (``exceptions:page_fault_user`` of ftrace).",
    ),
    columns("ts_end", "Datetime", "Its last exit, as in `tracefast.processes`."),
    columns("exit_status", "Int32", "Its exit status."),
    columns("exit_signal", "String", "The signal that killed it."),
)
