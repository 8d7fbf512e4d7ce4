"""For how long each task of a log was there, counted together with what failed."""

from typing import Final

import polars as pl

from tracefast._polars.given_events import ArrowStream
from tracefast.analysis.errors.failed_calls import CALLER, FailedCalls, Sums

_KINDS: Final = (("calls", "syscall"), ("unparsed", "unparsed"))
_COUNTS: Final = ("events", "calls", "unparsed", "with_cpu")
_SCHEMA: Final = pl.Schema(
    {
        "source": pl.String(),
        "task": pl.UInt32(),
        **dict.fromkeys(_COUNTS, pl.UInt64()),
        "first": pl.Datetime("ns"),
        "last": pl.Datetime("ns"),
    }
)


class Lifetimes(FailedCalls):
    """The table of errors, and one row per task: its events, its first and its last moment.

    Both look at every batch as a table of polars, which is made once.
    """

    columns = (*FailedCalls.columns, "cpu")

    def __init__(self) -> None:
        super().__init__()
        self._tasks = Sums(
            [*CALLER], [pl.col(_COUNTS).sum(), pl.col("first").min(), pl.col("last").max()]
        )
        self.tasks = _SCHEMA.to_frame()
        """The rows of tasks, once the table is finished."""

    @property
    def needed(self) -> pl.Schema:
        """The columns of the events that are read, with their types."""
        return pl.Schema(super().needed | {"cpu": pl.UInt16()})

    def finish(self) -> list[ArrowStream]:
        """Return the table of errors."""
        errors = super().finish()
        if (tasks := self._tasks.total()) is not None:
            self.tasks = tasks.select(pl.col(name).cast(type_) for name, type_ in _SCHEMA.items())
        return errors

    def count_log(self, rows: pl.DataFrame) -> None:
        """Count rows of one log."""
        super().count_log(rows)
        end = pl.col("ts") + pl.duration(nanoseconds=pl.col("dur_ns").fill_null(0))
        counted = rows.group_by("task").agg(
            pl.col("source").first(),
            pl.len().alias("events"),
            *((pl.col("kind") == kind).sum().alias(name) for name, kind in _KINDS),
            pl.col("cpu").count().alias("with_cpu"),
            pl.col("ts").min().alias("first"),
            end.max().alias("last"),
        )
        self._tasks.add(counted)
