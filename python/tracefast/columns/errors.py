"""The columns of `errors`."""

from typing import Final

from tracefast.columns.column_group import columns

COLUMNS: Final = (
    columns("source", "String", "The log."),
    columns("errno", "String", "Name of the error, such as ``ENOENT``."),
    columns("name", "String", "The call."),
    columns(
        "pattern",
        "String",
        "The path that the calls were about; where several differ in numbers, hashes or names of"
        " temporary files, or a folder has more than eight of one suffix, with ``*`` for that. Of a"
        " search, what the names that it tried have in common. Null for calls without a path.",
    ),
    columns(
        "image",
        "String",
        "The program of the process, as in `tracefast.syscalls`: the path of its last execve, or"
        " of the last execve of the process that it was forked from, otherwise its name.",
    ),
    columns(
        "count",
        "UInt64",
        "Calls that returned this error to the program, as `errors` of `tracefast.syscalls`:"
        " without those that the kernel restarts. All rows of a log add up to its failed calls.",
    ),
    columns("share", "Float64", "`count` divided by all calls of that name and image."),
    columns(
        "total_ns", "Int64", "Time in these calls; null where the log has no durations of them."
    ),
    columns("first_line", "UInt64", "The line of the first one."),
    columns(
        "search",
        "String",
        "What the calls were a part of: the search for a command (``PATH``), a library"
        " (``ld.so``), a Python module (``import``), a header (``include``), translations and"
        " character sets (``locale``), or one thing in each prefix of a path (``prefixes``: what"
        " realpath does, or who looks for a file in all folders above). Null for none of these.",
    ),
    columns(
        "wanted",
        "List(String)",
        "What a search looked for, in order; at most 1,000.",
    ),
    columns(
        "folders",
        "List(String)",
        "Where a search looked for it, in order; at most 1,000.",
    ),
)
