"""The rows of `forks`, with evidence from the events on why a process was started in this way."""

from typing import Final

import polars as pl

from tracefast import _core
from tracefast._polars.folds import folded
from tracefast._polars.given_events import Events, rows_of
from tracefast.analysis.forks.kernel_times import with_kernel_times
from tracefast.analysis.forks.table import SCHEMA

Types = dict[str, pl.DataType | type[pl.DataType]]

# Columns beyond those of `forks`: evidence for advice.
HINTS: Final[Types] = {
    # When the child began to run.
    "child_start": pl.Datetime("ns"),
    # Names of the calls that it made before it executed a program, in alphabetical order, blanks
    # between them; null if it executed none.
    "child_calls": pl.String,
    # Compiled modules of Python that its first thread opened; from the first to the last of them.
    "child_modules": pl.UInt32,
    "child_modules_ns": pl.Int64,
    # How the child was started: "fork", "spawn", "forkserver"; "exec" only of workers.
    "worker_method": pl.String,
    # Whether it is a worker of a pool, and its `start_ns`: see `tracefast.workers`.
    "in_pool": pl.Boolean,
    "child_ready_ns": pl.Int64,
    # Version of the Python that the parent runs, as the paths show that it opened: "3.7".
    "parent_python": pl.String,
    # Whether the parent opened files of PyTorch.
    "parent_torch": pl.Boolean,
    # From the first to the last moment of the log, and the fastest execve in it.
    "log_ns": pl.Int64,
    "log_exec_ns": pl.Int64,
}

ROWS: Final = pl.Schema({**SCHEMA, **HINTS})

# The columns that a summary needs; all others may be missing.
_LEAST: Final = ("source", "ts", "kind", "parent_image", "image", "call_ns")


def fork_rows(events: Events, question: str = "tracefast.fork_summary") -> pl.LazyFrame:
    """Give the rows of `forks` with `HINTS`, in order of `source` and time.

    Parameters
    ----------
    events
        Events, or rows of `forks`: columns that these lack are null.
    question
        Name of the function that was called, for the message.

    Raises
    ------
    polars.exceptions.ColumnNotFoundError
        Columns are missing that are needed; all of them are named.
    """
    rows = rows_of(events, (), question)
    have = rows.collect_schema()
    if "parent_image" not in have:
        table = folded(rows, lambda: _core.Forks(hints=True), name="FORKS", question=question)
        return with_kernel_times(table, rows, question)
    missing = [name for name in _LEAST if name not in have]
    if missing:
        names = ", ".join(map(repr, missing))
        raise pl.exceptions.ColumnNotFoundError(
            f"{question} needs {names} of the rows of tracefast.forks: filter rows, but keep the"
            " columns"
        )
    return rows.select(
        (pl.col(name) if name in have else pl.lit(None)).cast(dtype).alias(name)
        for name, dtype in ROWS.items()
    ).sort("source", "ts", "line", nulls_last=True, maintain_order=True)
