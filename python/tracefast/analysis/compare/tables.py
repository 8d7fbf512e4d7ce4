"""Which tables are compared, by which columns: the one place that knows."""

from collections.abc import Callable
from typing import Final, NamedTuple

import polars as pl

from tracefast.analysis.errors.table import errors
from tracefast.analysis.files.table import files
from tracefast.analysis.forks.table import forks
from tracefast.analysis.insights.table import insights
from tracefast.analysis.processes import processes
from tracefast.analysis.syscalls import syscalls
from tracefast.analysis.waits.table import waits
from tracefast.columns.compare.diff import Table

# The number of rows, of tables that do not have such a column.
COUNT: Final = "count"
# The part of a key that the log does not name.
NO_NAME: Final = "?"


class Compared(NamedTuple):
    """How a table is compared."""

    make: Callable[[pl.LazyFrame], pl.LazyFrame]
    """Makes it of events."""
    keys: tuple[str, ...]
    """The columns that make up the key."""
    measures: tuple[str, ...]
    """Columns that can be summed up, those of most interest first."""
    paths: tuple[str, ...] = ()
    """Columns of the key that hold paths, whose names may vary from run to run."""


TABLES: Final[dict[Table, Compared]] = {
    "files": Compared(
        files,
        ("path",),
        (
            *("read_ns", "write_ns", "read_bytes", "write_bytes", "mmap_bytes"),
            *("opens", "opens_failed", "stats", "stats_failed", "reads", "writes", "mmaps"),
        ),
        ("path",),
    ),
    "syscalls": Compared(syscalls, ("name",), ("total_ns", "wait_ns", "bytes", "calls", "errors")),
    "forks": Compared(
        forks,
        ("parent_image", "kind", "image"),
        ("call_ns", "exec_ns", "startup_ns", "lifetime_ns", COUNT, "startup_misses"),
        ("parent_image", "image"),
    ),
    "processes": Compared(
        processes,
        ("image",),
        ("lifetime_ns", "io_ns", "wait_ns", "read_bytes", "write_bytes", COUNT, "calls"),
        ("image",),
    ),
    "waits": Compared(waits, ("image", "name", "on"), ("dur_ns", COUNT), ("image",)),
    "errors": Compared(
        errors, ("errno", "name", "pattern", "image"), ("total_ns", COUNT), ("pattern", "image")
    ),
    "insights": Compared(insights, ("code", "object"), ("saving_high_ns", COUNT), ("object",)),
}

# The tables whose sums over all keys are compared as well, and which of their measures.
TOTALS: Final = "totals"
SUMMED: Final[dict[Table, tuple[str, ...]]] = {
    "files": ("read_bytes", "write_bytes", "opens", "opens_failed", "reads", "writes"),
    "syscalls": ("total_ns", "wait_ns", "calls", "errors"),
    "forks": (COUNT,),
    "processes": (COUNT,),
}
# The log itself among the totals, and how long it is.
RUN: Final = "run"
WALL: Final = "wall_ns"


def unit_of(measure: str) -> str | None:
    """Give the unit of a measure.

    Examples
    --------
    >>> unit_of("total_ns"), unit_of("bytes"), unit_of("calls")
    ('ns', 'bytes', None)
    """
    last = measure.rpartition("_")[2]
    return last if last in {"ns", "bytes"} else None
