"""What each file of a run was for."""

from collections.abc import Callable
from typing import Final

import polars as pl

from tracefast import _core
from tracefast._polars.folds import folded
from tracefast._polars.given_events import Events

# The columns of the table, and their types.
SCHEMA: Final = pl.Schema(_core.Roles().schema)


def roles(events: Events, *, gaps: Callable[[list[str]], object] | None = None) -> pl.LazyFrame:
    """Give the role of each file that was read or written.

    What was done to a file decides before its name does: a script that the run itself wrote is a
    result. A file that was renamed has one row, under its last name: the temporary file that a
    program writes and puts in place is the result. Directories, devices, pipes and shared memory
    have no role.

    Parameters
    ----------
    events
        The events of a log or of Parquet files, in their order: all of them.
    gaps
        Called with what the logs lack, as for `tracefast.flow`.

    Returns
    -------
    polars.LazyFrame
        In order of `source` and `path`. Null means that the log cannot say, or that there is none.

        `source` : String
            The log.
        `path` : String
            The file, by its last name.
        `role` : String
            What it was for: ``program``, ``library``, ``module`` (code of an interpreter),
            ``configuration``, ``input`` (read, never written), ``intermediate`` (read after it was
            written), ``result`` (written, not read after that, still there), ``scratch`` (the same,
            but removed), ``log`` (only appended to, not read after that).
        `decided_by` : String
            What the role follows from: ``exec``, ``map`` (to be executed), ``name``, ``folder``,
            ``read``, ``written``, ``appended``, ``read-after``, ``removed``.
        `writers`, `readers` : List(String)
            The processes that wrote or made it, and those that read, mapped or executed it, as
            `tracefast.flow` names them, in order; at most 1,000.
        `ts_written` : Datetime
            When the last call that wrote to it, or made it, ended.
        `ts_read_after` : Datetime
            When it was first read after that. What a program reads back through the descriptor that
            it writes to does not count.
        `from_path` : String
            The name that it had before (rename, link), or the file that it was copied from in the
            kernel.
        `removed` : Boolean
            It was removed, and not made again.

    Raises
    ------
    polars.exceptions.ColumnNotFoundError
        The events lack a column that is needed.

    Examples
    --------
    >>> import tracefast as tf
    >>> roles = tf.roles(tf.scan("demo.strace")).collect()
    >>> roles.select("path", "role", "decided_by").rows()
    [('/bin/true', 'program', 'exec'), ('/srv/demo/data.bin', 'input', 'read')]
    """

    def look(fold: _core.Roles) -> None:
        if gaps is not None:
            gaps(fold.gaps)

    return folded(events, _core.Roles, name="ROLES", question="tracefast.roles", look=look)
