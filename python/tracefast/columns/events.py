"""The columns of the events, in the types of Arrow."""

from typing import Final

from tracefast.columns.column_group import columns

COLUMNS: Final = (
    columns(
        "ts",
        "timestamp[ns]",
        "When the call was entered or the event happened, on the clock of the log.",
        unit="ns",
        detail="The clock is in the metadata, ``tracefast.clock``: ``epoch`` (UTC),"
        " ``time-of-day``, ``delta``, ``uptime`` (seconds with a fraction, ftrace), ``ticks``"
        " (integers, ftrace), ``none``.",
    ),
    columns(
        "dur_ns",
        "int64",
        "Time in the call; null where the log does not say.",
        detail="From ``-T``, otherwise the time of the exit minus that of the entry.",
    ),
    columns(
        "task",
        "uint32",
        "Identity of the thread in this log.",
        detail="A reused thread id is a new task. An execve in a thread other than the leader does"
        " not merge two tasks.",
    ),
    columns("pid", "int32", "Process (thread group), as far as the log shows it."),
    columns("tid", "int32", "Thread, as printed."),
    columns(
        "comm",
        "dictionary",
        "Command name, where the log prints one.",
        detail="In ftrace logs, the name at that moment if events show it.",
    ),
    columns("cpu", "uint16", "Processor (ftrace)."),
    columns(
        "kind",
        "dictionary",
        "``syscall``, ``signal``, ``exit``, ``event`` (tracepoint, probe), ``function``,"
        " ``marker``, ``lost``, ``aio``, ``notice``, ``unparsed``.",
    ),
    columns(
        "name",
        "dictionary",
        "Name of the system call, signal, event or function.",
        detail="System calls have no prefix (``openat``, ``newfstatat``), and the same name in"
        " strace and ftrace.",
    ),
    columns(
        "args",
        "string_view",
        "Arguments exactly as printed; payload of an event.",
        detail="The two parts of a call that is split over two lines are joined.",
    ),
    columns(
        "ret",
        "int64",
        "Return value: -1 for an error, null for ``?``.",
        detail="This holds for ftrace as well, which prints ``-ENOENT`` as ``-2``.",
    ),
    columns(
        "errno",
        "dictionary",
        "Name of the error, such as ``ENOENT``.",
        detail="Also ``ERESTARTSYS`` and the like of interrupted calls; ``ERRNO_524`` where the"
        " number has no name.",
    ),
    columns(
        "result",
        "string_view",
        "What follows the return value, without the text of an error.",
        detail="For example ``(Timeout)``, ``([{fd=5, revents=POLLIN}])``, ``(flags O_RDWR)``; the"
        " annotation of a number that is not a new descriptor (``<cat>``,"
        " ``<user:[4026531837]>``); what strace injected into the call (``(INJECTED: args)``).",
    ),
    columns(
        "status",
        "dictionary",
        "``complete``, ``interrupted`` (``ERESTARTSYS`` and the like), ``injected``, ``delayed``,"
        " ``unfinished`` (no end in the log), ``headless`` (an end without a start), ``killed``,"
        " ``detached``, ``superseded``, ``unavailable``, ``truncated``.",
    ),
    columns(
        "fd",
        "int32",
        "Descriptor that the call acts on or makes; the source of a two-sided call.",
        detail="Two-sided calls are ``sendfile``, ``splice``, ``copy_file_range`` and ``tee``,"
        " whatever the order of their arguments. For ``dup``, it is the old descriptor.",
    ),
    columns("fd2", "int32", "Destination of a two-sided call; the new descriptor of ``dup``."),
    columns(
        "ofd",
        "uint32",
        "Open file description, which holds the file position; unique in this log.",
    ),
    columns("ofd2", "uint32", "The same for `fd2`."),
    columns(
        "path",
        "string_view",
        "What the call acts on, absolute where the working directory is known.",
        detail="Escapes are resolved.",
    ),
    columns(
        "path2",
        "string_view",
        "Second path of ``rename`` and ``link``; destination of a two-sided call.",
    ),
    columns(
        "file",
        "uint64",
        "Identity of the file, the same in every log; a rename keeps it.",
        detail="It is a hash (with a fixed seed) of the name at the first open (without ``.``,"
        " ``..`` and ``//``) and its generation, of ``pipe:[…]`` or ``socket:[…]``,"
        " or of device and inode.",
    ),
    columns("file2", "uint64", "Identity of the file that `path2` or `fd2` refers to."),
    columns(
        "file_type",
        "dictionary",
        "``regular``, ``directory``, ``pipe``, ``fifo``, ``socket``, ``char``, ``block``,"
        " ``memfd``, ``anon``, ``unknown``; null up to the first row that shows it of the file.",
        detail="A stat shows it, an open of a directory or of a device, an annotation of ``-yy``,"
        " and what only regular files allow: an open with ``O_EXCL``, a mapping, data at an"
        " offset.",
    ),
    columns(
        "size",
        "int64",
        "Size of the file, on rows that show it; null on most.",
        unit="bytes",
        detail="These are calls of the stat family, ``lseek`` to the end, reads that reach the end"
        " of the file, and ``truncate``.",
    ),
    columns(
        "offset",
        "int64",
        "Position at which the transfer started; null where it is not known (`offset_known`).",
        unit="bytes",
    ),
    columns(
        "offset2",
        "int64",
        "The same for the destination of a two-sided call; of a notice `offset-burst`, the end.",
        unit="bytes",
    ),
    columns(
        "offset_known",
        "dictionary",
        "``exact``, ``relative`` (to the first access of the description), ``assumed`` or"
        " ``assumed-relative`` (the same, if no call moved the position that was not traced),"
        " ``ambiguous``, ``unknown``.",
    ),
    columns("requested", "int64", "Bytes that the call asked for.", unit="bytes"),
    columns(
        "bytes",
        "int64",
        "Bytes moved: 0 at the end of the file, null where the call cannot move any.",
        unit="bytes",
    ),
    columns(
        "access",
        "dictionary",
        "Class of a data access: ``error``, ``eof``, ``first``, ``consecutive``, ``forward``,"
        " ``backward``.",
        detail="The first of these that applies; null where the offset is ambiguous or unknown."
        " Reads and writes of a description are two streams, each with its own previous end;"
        " errors and ends of file do not change it.",
    ),
    columns("access2", "dictionary", "Class of the write of a two-sided call."),
    columns("child", "uint32", "`task` that this call created."),
    columns(
        "anon_bytes",
        "int64",
        "Private writable memory of the caller, estimated, on rows that create a process or"
        " execute a program.",
    ),
    columns("line", "uint64", "Number of the line on which the event started, from 1."),
    columns("source", "dictionary", "The log."),
    columns(
        "extra",
        "string_view",
        "What else the log says: flags, columns, stacks, dumps.",
        detail="The flags of an ftrace record, the columns of ``-i``, ``-n`` and ``--secontext``,"
        " stack frames and dumps that follow the line, and the prefix of a pasted log where it"
        " differs from line to line; usually null.",
    ),
)

# What `tracefast.join` adds after these: the next version of the schema.
JOINED: Final = (
    columns(
        "kernel_ns",
        "int64",
        "Time in the call without the tracer's stops, by ftrace's log; null for rows that are no"
        " system call that both logs show.",
    ),
    columns("tracer_ns", "int64", "What is left of `dur_ns`: how long strace held the call up."),
    columns("cpu_ns", "int64", "Part of `kernel_ns` on a processor."),
    columns(
        "off_cpu_ns",
        "int64",
        "Part of `kernel_ns` off the processor; where the log lacks"
        " the switch back to the task, up to its next record.",
    ),
    columns(
        "run_delay_ns",
        "int64",
        "Part of `off_cpu_ns` in which the task could run, but had no processor.",
    ),
    columns(
        "cached_pages",
        "int64",
        "Pages that the call asked for and that were in the page cache, or on their way to it.",
    ),
    columns("missed_pages", "int64", "Pages that the call asked for and had to have read."),
    columns(
        "readahead_bytes",
        "int64",
        "Bytes that read-ahead added to the page cache in this call, including missing pages.",
    ),
    columns(
        "disk_requests",
        "int64",
        "Requests to a device that moved bytes for this call, also those that an earlier call"
        " made to read ahead; a request counts for each call that it served.",
    ),
    columns(
        "disk_bytes",
        "int64",
        "Bytes that a device moved for this call. A byte counts once: for the first call that"
        " asked for its page, and else for the call that requested it.",
    ),
    columns(
        "disk_ns",
        "int64",
        "Time during which at least one of these requests was open.",
    ),
)
