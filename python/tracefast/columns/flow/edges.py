"""The columns of `flow`."""

from typing import Final

from tracefast.columns.column_group import columns

COLUMNS: Final = (
    columns("source", "String", "The log."),
    columns(
        "src_kind",
        "String",
        "What the data came from: ``process``, ``file``, ``pipe``, ``socket``, ``shm`` (memory that"
        " processes share: ``/dev/shm``, ``memfd_create``, segments of System V, anonymous mappings"
        " that a child has from its maker), ``host`` (the other end of a socket,"
        ' where only one is in the log); with ``by="phase"``, ``phase`` in place of ``process``.'
        " Null where the log does not show what a descriptor leads to.",
    ),
    columns(
        "src",
        "String",
        "Its name: ``gzip 11807`` (program and process id; with ``#2`` for the second process that"
        ' has them), with ``by="image"`` the path of the program, with ``by="phase"`` the phase;'
        " the last path of a file; ``pipe:[28347]``, or ``pipe 1`` where the log has no name for"
        " it; ``shmid 5`` (a segment of System V), ``shared memory 1`` (an anonymous mapping); the"
        " address at which the server of a socket listens. Pipes are called by who gives"
        " and who takes, ``tar | gzip``, where processes are joined.",
    ),
    columns("dst_kind", "String", "What the data went to, as `src_kind`."),
    columns("dst", "String", "Its name, as `src`."),
    columns(
        "how",
        "String",
        "``read``, ``write``; ``map`` (mmap, shmat, or a fork that kept it); ``pipe``, ``socket``;"
        " ``copy`` (sendfile, copy_file_range, splice, a clone: the data did not pass through the"
        " process that asked for it); ``rename``, ``link`` (from the old name to the new one);"
        " ``create`` (the file was made, or emptied); ``exec`` (the process started the program).",
    ),
    columns(
        "bytes",
        "Int64",
        "Bytes that the calls moved, of ``map`` those that were mapped. Null for ``rename``,"
        " ``link``, ``create`` and ``exec``, and where the log does not show it.",
        unit="bytes",
    ),
    columns("calls", "UInt64", "Calls."),
    columns("ts_first ts_last", "Datetime", "When the first call began, and the last one ended."),
    columns(
        "phase",
        "String",
        "The phase of the program in which this was, the innermost one; null outside of phases.",
    ),
)
