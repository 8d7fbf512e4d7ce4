"""The named parts of a run."""

from typing import Final

import polars as pl

from tracefast import _core
from tracefast._polars.folds import folded
from tracefast._polars.given_events import Events

# The columns of the table, and their types.
SCHEMA: Final = pl.Schema(_core.Phases().schema)


def phases(events: Events) -> pl.LazyFrame:
    """Give the phases that programs marked: one row per phase.

    A program marks a phase by looking up a path that does not exist, which tracers show:
    ``/tracefast/phase/NAME`` begins a phase, and ends the one that such a mark began before;
    ``/tracefast/begin/NAME`` begins one within the other; ``/tracefast/end/NAME`` ends it. In
    Python that is `tracefast.mark` and `tracefast.phase`. ftrace shows the same text where the
    program may write to the kernel's trace_marker. A child is in the phase of its maker, unless it
    has one of its own.

    Parameters
    ----------
    events
        The events of a log or of Parquet files, in their order.

    Returns
    -------
    polars.LazyFrame
        In order of `source` and `ts_start`.

        `source` : String
            The log.
        `name` : String
            The name of the phase.
        `task` : UInt32
            Identity of the process: the task of its first thread.
        `pid` : Int32
            Its process id.
        `ts_start` : Datetime
            When it began.
        `ts_end` : Datetime
            When it ended: with the next mark of the process, at the end of the block, at the exit
            of the process, or with the log.
        `dur_ns` : Int64
            How long it took.
        `count` : UInt64
            System calls of the process and its children in it, without those of phases within it.

    Raises
    ------
    polars.exceptions.ColumnNotFoundError
        The events lack a column that is needed.

    Examples
    --------
    >>> from pathlib import Path
    >>> import tracefast as tf
    >>> lines = '''1 1700000001.000000 access("/tracefast/phase/load", F_OK) = -1 ENOENT (C)
    ... 1 1700000001.500000 read(3, "", 10) = 0
    ... 1 1700000002.000000 access("/tracefast/phase/train", F_OK) = -1 ENOENT (C)
    ... 1 1700000004.000000 exit_group(0) = ?
    ... 1 1700000004.000000 +++ exited with 0 +++
    ... '''
    >>> _ = Path("marked.strace").write_text(lines)
    >>> tf.phases(tf.scan("marked.strace")).select("name", "dur_ns", "count").collect().rows()
    [('load', 1000000000, 1), ('train', 2000000000, 1)]
    """
    return folded(events, _core.Phases, name="PHASES", question="tracefast.phases")
