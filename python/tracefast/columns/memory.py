"""The columns of `memory`."""

from typing import Final

from tracefast.columns.column_group import columns

COLUMNS: Final = (
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
