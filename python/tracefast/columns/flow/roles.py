"""The columns of `roles`."""

from typing import Final

from tracefast.columns.column_group import columns

COLUMNS: Final = (
    columns("source", "String", "The log."),
    columns("path", "String", "The file, by its last name."),
    columns(
        "role",
        "String",
        "What it was for: ``program``, ``library``, ``module`` (code of an interpreter),"
        " ``configuration``, ``input`` (read, never written), ``intermediate`` (read after it was"
        " written), ``result`` (written, not read after that, still there), ``scratch`` (the same,"
        " but removed), ``log`` (only appended to, not read after that).",
    ),
    columns(
        "decided_by",
        "String",
        "What the role follows from: ``exec``, ``map`` (to be executed), ``name``, ``folder``,"
        " ``read``, ``written``, ``appended``, ``read-after``, ``removed``.",
    ),
    columns(
        "writers readers",
        "List(String)",
        "The processes that wrote or made it, and those that read, mapped or executed it, as"
        " `tracefast.flow` names them, in order; at most 1,000.",
    ),
    columns("ts_written", "Datetime", "When the last call that wrote to it, or made it, ended."),
    columns(
        "ts_read_after",
        "Datetime",
        "When it was first read after that. What a program reads back through the descriptor that"
        " it writes to does not count.",
    ),
    columns(
        "from_path",
        "String",
        "The name that it had before (rename, link), or the file that it was copied from in the"
        " kernel.",
    ),
    columns("removed", "Boolean", "It was removed, and not made again."),
)
