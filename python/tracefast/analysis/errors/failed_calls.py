"""The failed calls of a log by program, call, error and path, in one pass over its events."""

from typing import Final

import polars as pl

from tracefast import _core
from tracefast._polars.given_events import ArrowStream
from tracefast.analysis.errors.known_paths import KnownPaths
from tracefast.analysis.errors.rows import SCHEMA, error_rows

_FORKS: Final = _core.syscalls_that("forks")
_SIGRETURNS: Final = _core.syscalls_that("sigreturns")
_WORDS: Final = ("source", "kind", "name", "errno", "status")
# Aggregating many rows at once takes less time than a few each time.
_ROWS: Final = 1 << 17
CALLER: Final = ("source", "task")
# A thread that executes a program becomes the leader of its process.
_LAST_PID: Final = pl.col("pid").drop_nulls().last()
# The call that created a task returns in it, too, but it is the parent's call.
_IN_CHILD: Final = (
    pl.col("name").is_in(_FORKS) & (pl.col("status") == "headless") & (pl.col("ret") == 0)
)
_CALL: Final = (
    (pl.col("kind") == "syscall") & pl.col("name").is_not_null() & ~_IN_CHILD.fill_null(value=False)
)
_ERROR: Final = ~pl.col("errno").cast(pl.String).str.starts_with("ERESTART") & ~pl.col(
    "name"
).is_in(_SIGRETURNS)


class FailedCalls:
    """The table of errors in the making.

    Which program a process ran is known at the end of the log. Until then, calls are counted by
    task, and failed ones also by error and path: memory grows with the tasks and with what each of
    them failed at, and at most some 200,000 paths are kept (`KnownPaths`).
    """

    columns: tuple[str, ...] = (*_WORDS, "task", "pid", "ret", "path", "ts", "dur_ns", "line")
    """What is looked at of each event."""

    def __init__(self) -> None:
        self._processes = _core.Processes()
        self.processes = pl.Schema(self._processes.schema).to_frame()
        """`tracefast.processes` of the same events, once the table is finished."""
        self._words: dict[str, pl.Series] = {}
        self._waiting: list[pl.DataFrame] = []
        self._height = 0
        self._paths = KnownPaths()
        self._callers = Sums([*CALLER], [_LAST_PID, pl.col("ts").min()])
        self._calls = Sums([*CALLER, "name"], [pl.col("calls").sum()])
        self._failed = Sums(
            [*CALLER, "errno", "name", "number"],
            [pl.col("count", "total_ns", "timed").sum(), pl.col("first_line").min()],
        )

    @property
    def needed(self) -> pl.Schema:
        """The columns of the events that are read, with their types."""
        types = pl.Schema(self._processes.needed)
        return pl.Schema(types | {"errno": pl.Categorical(), "line": pl.UInt64()})

    @property
    def schema(self) -> pl.Schema:
        """The columns of the table."""
        return SCHEMA

    def words(self, column: str, words: pl.DataFrame) -> None:
        """Take the words of a column whose batches hold only their numbers."""
        if column in self._processes.needed.names:
            self._processes.words(column, words)
        self._words[column] = words.to_series().cast(pl.Categorical)

    def push(self, events: _core.Batch | pl.DataFrame) -> None:
        """Add events."""
        self._processes.push(events)
        rows = events if isinstance(events, pl.DataFrame) else pl.DataFrame(events)
        # Each query takes longer than to name the columns of a small batch.
        self._waiting.append(pl.DataFrame([self._column(rows, name) for name in self.columns]))
        self._height += rows.height
        if self._height >= _ROWS:
            self._count()

    def ready(self) -> list[ArrowStream]:
        """Return the first rows, if they can no longer change: no row is known before the end."""
        return []

    def finish(self) -> list[ArrowStream]:
        """Return the table."""
        self._count()
        self.processes = pl.concat(pl.DataFrame(part) for part in self._processes.finish())
        calls, failed, callers = self._calls.total(), self._failed.total(), self._callers.total()
        if calls is None or failed is None or callers is None:
            return [SCHEMA.to_frame()]
        failed = failed.join(self._paths.texts(), on="number", how="left").drop("number")
        return [error_rows(failed, calls, callers, self.processes)]

    def _column(self, rows: pl.DataFrame, name: str) -> pl.Series:
        """Give a column of a batch, text with few words as words."""
        column = rows[name]
        if name in self._words:
            return self._words[name].gather(column).alias(name)
        return column.cast(pl.Categorical) if name in _WORDS else column

    def _count(self) -> None:
        """Count the calls of the rows that wait, by log: tasks are those of one."""
        if not self._waiting:
            return
        rows = pl.concat(self._waiting)
        self._waiting.clear()
        self._height = 0
        if rows["source"].n_unique() == 1:
            self.count_log(rows)
        else:
            for log in rows.partition_by("source"):
                self.count_log(log)

    def count_log(self, rows: pl.DataFrame) -> None:
        """Count rows of one log."""
        source = rows["source"].head(1)
        with_task = rows["task"].null_count() == 0
        # One key of one number takes a fraction of the time of two keys.
        by = pl.col("task").cast(pl.UInt64) * (1 << 32) + pl.col("name").to_physical()
        calls = (
            rows.lazy()
            .filter(_CALL)
            .group_by(by.alias("key") if with_task else ["task", "name"])
            .agg(
                *([pl.col("task", "name").first()] if with_task else []),
                pl.len().alias("calls"),
                _LAST_PID,
                pl.col("ts").min(),
            )
            .with_columns(pl.lit(source).first().alias("source"))
            .collect()
        )
        self._calls.add(calls.select(*CALLER, "name", "calls"))
        self._callers.add(calls.group_by(*CALLER).agg(_LAST_PID, pl.col("ts").min()))
        failed = (
            rows.lazy()
            .filter(pl.col("errno").is_not_null())
            .filter(_CALL, _ERROR)
            .group_by(*CALLER, "errno", "name", "path")
            .agg(
                pl.len().alias("count"),
                pl.col("dur_ns").sum().alias("total_ns"),
                pl.col("dur_ns").count().alias("timed"),
                pl.col("line").min().alias("first_line"),
            )
            .collect()
        )
        paths = failed["path"].drop_nulls().unique(maintain_order=True)
        numbers = self._paths.numbered(paths)
        self._failed.add(failed.join(numbers, on="path", how="left").drop("path"))


class Sums:
    """Sums of groups, of which parts come in; added up again when they have doubled."""

    def __init__(self, keys: list[str], sums: list[pl.Expr]) -> None:
        self._keys, self._sums = keys, sums
        self._parts: list[pl.DataFrame] = []
        self._added = 0
        self._height = 0

    def add(self, part: pl.DataFrame) -> None:
        """Add the groups of some rows."""
        self._parts.append(part)
        self._added += part.height
        if self._added > max(self._height, 4 * _ROWS):
            self._add_up()

    def total(self) -> pl.DataFrame | None:
        """Give the groups of all rows; None if there were no rows."""
        self._add_up()
        return self._parts[0] if self._parts else None

    def _add_up(self) -> None:
        if len(self._parts) > 1:
            rows = pl.concat(self._parts, how="diagonal")
            self._parts = [rows.group_by(self._keys).agg(self._sums)]
        self._added = 0
        self._height = self._parts[0].height if self._parts else 0
