"""The counters of Darshan's POSIX module, from system calls."""

from typing import Final

import polars as pl

from tracefast import _core
from tracefast._polars.folds import folded
from tracefast._polars.given_events import Events

# The columns of the table, and their types.
SCHEMA: Final = pl.Schema(_core.Darshan().schema)


def darshan(events: Events) -> pl.LazyFrame:
    """Count as Darshan's POSIX module does, one row per path; see `tracefast.files`.

    Parameters
    ----------
    events
        The events, in their order.

    Raises
    ------
    polars.exceptions.ColumnNotFoundError
        The events lack a column that is needed.

    Examples
    --------
    >>> import tracefast as tf
    >>> counters = darshan(tf.scan("demo.strace")).collect()
    >>> counters.select("path", "POSIX_READS", "POSIX_SEQ_READS", "POSIX_CONSEC_READS").rows()
    [('/srv/demo/data.bin', 2, 1, 1)]
    """
    return folded(events, _core.Darshan, name="DARSHAN", question="tracefast.files(darshan=True)")
