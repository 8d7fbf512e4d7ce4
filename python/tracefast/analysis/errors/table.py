"""Which calls failed, how often, and what programs looked for in vain."""

import polars as pl

from tracefast import _core
from tracefast._polars.folds import folded
from tracefast._polars.given_events import Events
from tracefast._polars.map_rows import map_rows
from tracefast.analysis.errors.frame import SCHEMA, error_frame


def errors(events: Events) -> pl.LazyFrame:
    r"""Give one row per call, error, program and kind of path: which calls failed, how often.

    A program that looks for one thing in many folders has one row for that, with the folders: a
    command along PATH, a library, a Python module, a header, translations, the prefixes of a path.

    Parameters
    ----------
    events
        The events of a log, of Parquet files, or a part of them, in their order: filter rows as
        you like, but keep the columns.

    Returns
    -------
    polars.LazyFrame
        Largest `count` first. Null means that the log cannot say. Columns that end in ``_ns`` are
        nanoseconds.

        `source` : String
            The log.
        `errno` : String
            Name of the error, such as ``ENOENT``.
        `name` : String
            The call.
        `pattern` : String
            The path that the calls were about; where several differ in numbers, hashes or names of
            temporary files, or a folder has more than eight of one suffix, with ``*`` for that. Of
            a search, what the names that it tried have in common. Null for calls without a path.
        `image` : String
            The program of the process, as in `tracefast.syscalls`: the path of its last execve, or
            of the last execve of the process that it was forked from, otherwise its name.
        `count` : UInt64
            Calls that returned this error to the program, as `errors` of `tracefast.syscalls`:
            without those that the kernel restarts. All rows of a log add up to its failed calls.
        `share` : Float64
            `count` divided by all calls of that name and image.
        `total_ns` : Int64
            Time in these calls; null where the log has no durations of them.
        `first_line` : UInt64
            The line of the first one.
        `search` : String
            What the calls were a part of: the search for a command (``PATH``), a library
            (``ld.so``), a Python module (``import``), a header (``include``), translations and
            character sets (``locale``), or one thing in each prefix of a path (``prefixes``: what
            realpath does, or who looks for a file in all folders above). Null for none of these.
        `wanted` : List(String)
            What a search looked for, in order; at most 1,000.
        `folders` : List(String)
            Where a search looked for it, in order; at most 1,000.

    Raises
    ------
    polars.exceptions.ColumnNotFoundError
        The events lack a column that is needed.

    Examples
    --------
    >>> from pathlib import Path
    >>> import tracefast as tf
    >>> call = '100 execve("{}/cc", ["cc"], 0x1 /* 2 vars */) = -1 ENOENT (No file) <0.00001>\n'
    >>> lines = map(call.format, ("/usr/local/bin", "/opt/bin"))
    >>> _ = Path("search.strace").write_text("".join(lines))
    >>> table = tf.errors(tf.scan("search.strace")).collect()
    >>> table.select("errno", "name", "pattern", "count", "total_ns", "search").rows()
    [('ENOENT', 'execve', '*/cc', 2, 20000, 'PATH')]
    >>> table["folders"].to_list()
    [['/usr/local/bin', '/opt/bin']]
    """
    failed = folded(events, _core.FailedCalls, name="ERRORS", question="tracefast.errors")
    return map_rows(failed, error_frame, SCHEMA)
