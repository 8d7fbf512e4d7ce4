"""What the columns of events mean, in a line each: unit and meaning. docs/schema.md says more."""

from typing import Final

WORDS: Final[dict[str, tuple[str | None, str]]] = {
    "ts": ("ns", "when the call was entered or the event happened, on the log's own clock"),
    "dur_ns": ("ns", "time in the call; null where the log does not tell"),
    "task": (None, "identity of the thread in this log, however often its number is used again"),
    "pid": (None, "process (thread group), as the model knows it"),
    "tid": (None, "thread, as printed"),
    "comm": (None, "name of the command, where the log prints one"),
    "cpu": (None, "processor (ftrace)"),
    "kind": (
        None,
        "syscall, signal, exit, event, function, marker, lost, aio, notice, unparsed",
    ),
    "name": (None, "name of the system call, signal, event or function"),
    "args": (None, "arguments exactly as printed; payload of an event"),
    "ret": (None, "return value; of errors -1"),
    "errno": (None, "name of the error, such as ENOENT"),
    "result": (None, "what follows the return value and is not the error's text"),
    "status": (
        None,
        "complete, interrupted, unfinished, headless, killed, detached, injected and others",
    ),
    "fd": (None, "descriptor acted on or made; the source of a two-sided call"),
    "fd2": (None, "destination of a two-sided call; the new descriptor of dup"),
    "ofd": (None, "open file description, which carries the position; unique in this log"),
    "ofd2": (None, "that of fd2"),
    "path": (None, "what the call acts on, absolute where the directory is known"),
    "path2": (None, "second path of rename and link, destination of a two-sided call"),
    "file": (None, "identity of the file, the same in every log; a rename keeps it"),
    "file2": (None, "identity of the file behind path2 or fd2"),
    "file_type": (
        None,
        "regular, directory, pipe, fifo, socket, char, block, memfd, anon, unknown",
    ),
    "size": ("bytes", "size of the file, on rows that prove one"),
    "offset": ("bytes", "position at which the transfer began; see offset_known"),
    "offset2": ("bytes", "that of the destination of a two-sided call"),
    "offset_known": (
        None,
        "exact, relative (to the first access of the description), ambiguous, unknown",
    ),
    "requested": ("bytes", "bytes asked for"),
    "bytes": ("bytes", "bytes moved; 0 at the end of the file, null where nothing can move"),
    "access": (None, "error, eof, first, consecutive, forward, backward: where an access began"),
    "access2": (None, "that of the write of a two-sided call"),
    "child": (None, "task that this call created"),
    "anon_bytes": (
        "bytes",
        "private writable memory of the caller, estimated, where it makes a process or executes",
    ),
    "line": (None, "number of the line on which the event began, from 1"),
    "source": (None, "which log"),
    "extra": (None, "the rest of what the log said: flags, columns, stacks, dumps"),
}
