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

    Raises
    ------
    polars.exceptions.ColumnNotFoundError
        The events lack a column that is needed.

    Examples
    --------
    >>> import tracefast as tf
    >>> tf.roles(tf.scan("demo.strace")).select("path", "role", "decided_by").collect().row(0)
    ('/srv/demo/data.bin', 'input', 'read')
    """

    def look(fold: _core.Roles) -> None:
        if gaps is not None:
            gaps(fold.gaps)

    return folded(events, _core.Roles, name="ROLES", question="tracefast.roles", look=look)
