"""The columns of `batches`."""

from typing import Final

from tracefast.columns.column_group import columns

COLUMNS: Final = (
    columns("source", "String", "The log."),
    columns(
        "pool round", "UInt32", "Numbers of the pool and of its round, as in `tracefast.workers`."
    ),
    columns(
        "batch",
        "UInt32",
        "Number of the message, from 0 in each round, in the order of `ts`.",
    ),
    columns(
        "ts",
        "Datetime",
        "When the maker had taken it over; of one that had come early, when it used it.",
    ),
    columns(
        "wait_ns",
        "Int64",
        "How long the maker waited for it: from the poll or read in which it asked, until it had"
        " taken it over. What it waited for others that came meanwhile, and that it used later, is"
        " part of it; for one that had come early it is what giving back the one before took. A"
        " sleep just before ends where the wait begins, and one just after begins where it ends."
        " Null if the log does not show when one that came early was used.",
    ),
    columns(
        "take_over_ns",
        "Int64",
        "The part of `wait_ns` after the message itself had come: receiving and mapping the memory"
        " that came with it, and giving back that of an earlier one.",
    ),
    columns("bytes", "Int64", "Its length."),
    columns("worker_pid", "Int32", "The worker that sent it."),
    columns(
        "worker_busy_ns",
        "Int64",
        "From when the worker had taken the job until it began to send the result; null if the log"
        " does not show a job.",
    ),
    columns("worker_read_ns", "Int64", "Time in reads of files, of the thread that took the job."),
    columns("worker_read_bytes", "Int64", "What these read."),
    columns("worker_files", "UInt32", "Files that it read."),
    columns("slowest_path", "String", "The file that took longest to read."),
    columns("slowest_ns", "Int64", "How long that took."),
    columns("worker_wait_ns", "Int64", "Time in which the thread waited for others."),
    columns(
        "cause",
        "String",
        "What the worker spent most of its time on: ``reading`` files, ``waiting`` for others,"
        " ``computing`` (all else); ``queue`` if the message was there before the maker asked.",
    ),
    columns(
        "maker_tid",
        "Int32",
        "The thread of the maker that received it. One that does nothing else always waits, as that"
        " of a ``Pool``, or of a DataLoader with ``pin_memory=True``.",
    ),
    columns("line", "UInt64", "The line on which the maker began to take it."),
)
