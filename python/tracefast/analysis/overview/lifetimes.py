"""How many events a log has, and for how long each of its tasks was there."""

from typing import Final

import polars as pl

from tracefast import _core
from tracefast._polars.given_events import ArrowStream

_WORDS: Final = ("source", "kind")
_NEEDED: Final = pl.Schema(
    {
        "source": pl.Categorical(),
        "kind": pl.Categorical(),
        "task": pl.UInt32(),
        "ts": pl.Datetime("ns"),
        "dur_ns": pl.Int64(),
        "cpu": pl.UInt16(),
    }
)
_SCHEMA: Final = pl.Schema(
    {
        "source": pl.String(),
        "task": pl.UInt32(),
        "events": pl.UInt64(),
        "calls": pl.UInt64(),
        "unparsed": pl.UInt64(),
        "with_cpu": pl.UInt64(),
        "first": pl.Datetime("ns"),
        "last": pl.Datetime("ns"),
    }
)
_KEYS: Final = ("source", "task")
_COUNTS: Final = ("events", "calls", "unparsed", "with_cpu")
_ROWS: Final = 1 << 17


class Lifetimes:
    """One row per task of a log: its events, its first and its last moment."""

    def __init__(self) -> None:
        self._words: dict[str, pl.Series] = {}
        self._waiting: list[pl.DataFrame] = []
        self._counted: list[pl.DataFrame] = []

    @property
    def needed(self) -> pl.Schema:
        """The columns of the events that are read, with their types."""
        return _NEEDED

    @property
    def schema(self) -> pl.Schema:
        """The columns of the table."""
        return _SCHEMA

    def words(self, column: str, words: pl.DataFrame) -> None:
        """Take the words of a column whose batches hold only their numbers."""
        if column in _WORDS:
            self._words[column] = words.to_series().cast(pl.Categorical)

    def push(self, events: _core.Batch | pl.DataFrame) -> None:
        """Add events."""
        rows = events if isinstance(events, pl.DataFrame) else pl.DataFrame(events)
        self._waiting.append(pl.DataFrame([self._column(rows, name) for name in _NEEDED]))
        if sum(rows.height for rows in self._waiting) >= _ROWS:
            self._count()

    def ready(self) -> list[ArrowStream]:
        """Return the first rows, if they can no longer change: none."""
        return []

    def finish(self) -> list[ArrowStream]:
        """Return the table."""
        self._count()
        if not self._counted:
            return [_SCHEMA.to_frame()]
        total = self._added_up()
        return [total.select(pl.col(name).cast(dtype) for name, dtype in _SCHEMA.items())]

    def _column(self, rows: pl.DataFrame, name: str) -> pl.Series:
        column = rows[name]
        if name in self._words:
            return self._words[name].gather(column).alias(name)
        return column.cast(pl.Categorical) if name in _WORDS else column

    def _count(self) -> None:
        if not self._waiting:
            return
        rows = pl.concat(self._waiting)
        self._waiting.clear()
        ts = pl.col("ts")
        counted = rows.group_by(_KEYS).agg(
            pl.len().cast(pl.UInt64).alias("events"),
            *((pl.col("kind") == kind).sum().cast(pl.UInt64).alias(name) for name, kind in _KINDS),
            pl.col("cpu").count().cast(pl.UInt64).alias("with_cpu"),
            ts.min().alias("first"),
            (ts + pl.duration(nanoseconds=pl.col("dur_ns").fill_null(0))).max().alias("last"),
        )
        self._counted.append(counted)
        if sum(part.height for part in self._counted[1:]) > _ROWS:
            self._counted = [self._added_up()]

    def _added_up(self) -> pl.DataFrame:
        return (
            pl.concat(self._counted)
            .group_by(_KEYS)
            .agg(pl.col(_COUNTS).sum(), pl.col("first").min(), pl.col("last").max())
        )


_KINDS: Final = (("calls", "syscall"), ("unparsed", "unparsed"))
