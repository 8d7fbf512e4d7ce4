"""What tasks did when: sums over all events, made in one pass over a few columns."""

from collections.abc import Mapping, Sequence
from typing import Final

import polars as pl

from tracefast import _core
from tracefast._polars.given_events import ArrowStream
from tracefast.analysis.overview.times import STARTS
from tracefast.plot.charts.timeline import WAYS
from tracefast.plot.histograms import bits_of

_CALLS: Final = ["syscall", "aio"]
# For a few rows, polars needs as long as for some thousand.
_TOGETHER: Final = 100_000
# Sums are added up once there are so many more of them.
_MORE: Final = 200_000
_WORDS: Final = ("source", "kind", "name", "status")
# What each table has sums of, besides the log.
_KEYS: Final = {
    "pids": ["task"],
    "tasks": ["task", "step"],
    "names": ["name", "step"],
    "starts": ["task", "name"],
    "histograms": ["name", "ns_bits", "bytes_bits"],
}


class Counts:
    """Sums of calls, of their time and bytes: a fold over all events, as those of the core.

    Its tables have one row for each `source` and each group of the first columns:

    - ``pids``: `task`; the last `pid`.
    - ``tasks``: `task`, `step`; `calls`, `ns`, the bytes `read` and `written`.
    - ``names``: `name`, `step`; `calls`, `ns`.
    - ``starts``: `task`, `name` of calls that start processes; `ns`.
    - ``histograms``: `name`, `ns_bits`, `bytes_bits`: the bits of the time and of the bytes of a
      call, null where the log has no number; `calls`, `ns`, `bytes`.

    Times are of system calls; bytes also of transfers in the background.

    Parameters
    ----------
    starts
        When each log starts, in ns on its clock.
    step_ns, steps
        How long a step of time is, and how many there are.
    """

    needed: Final = pl.Schema(
        {
            "ts": pl.Datetime("ns"),
            "dur_ns": pl.Int64(),
            "bytes": pl.Int64(),
            "task": pl.UInt32(),
            "pid": pl.Int32(),
            **dict.fromkeys(_WORDS, pl.Categorical()),
        }
    )
    schema: Final = pl.Schema({})

    def __init__(self, starts: Mapping[str, int], step_ns: int, steps: int) -> None:
        self._starts = starts
        self._step_ns = step_ns
        self._steps = steps
        self._words: dict[str, pl.Series] = {}
        self._held: list[pl.DataFrame] = []
        self._held_rows = 0
        self._parts: dict[str, list[pl.DataFrame]] = {name: [] for name in _KEYS}
        self._merged = dict.fromkeys(_KEYS, 0)

    def words(self, column: str, words: pl.DataFrame) -> None:
        """Take the dictionary of a column whose batches hold only keys."""
        self._words[column] = words.to_series().cast(pl.Categorical)

    def push(self, events: _core.Batch | pl.DataFrame) -> None:
        """Add events."""
        rows = pl.DataFrame(events).select(self.needed.names())
        self._held.append(rows.with_columns(self._named(rows[name]) for name in _WORDS))
        self._held_rows += rows.height
        if self._held_rows >= _TOGETHER:
            self._count()

    def ready(self) -> Sequence[ArrowStream]:
        """Return no rows: all can still change."""
        return []

    def finish(self) -> Sequence[ArrowStream]:
        """Count the rest; `table` gives the tables."""
        self._count()
        for name in _KEYS:
            self._merge(name)
        return []

    def table(self, name: str) -> pl.DataFrame:
        """Give one of the tables, once all events are counted; empty if there was no event."""
        if not self._parts[name]:
            return pl.DataFrame()
        return self._parts[name][0].with_columns(pl.col(pl.Categorical).cast(pl.String))

    def _named(self, values: pl.Series) -> pl.Series:
        """Give a column of words or of their numbers as words."""
        known = self._words.get(values.name)
        if known is not None and values.dtype.is_integer():
            return known.gather(values).alias(values.name)
        return values.cast(pl.Categorical)

    def _count(self) -> None:
        """Count the events that are held."""
        if not self._held:
            return
        rows = pl.concat(self._held)
        self._held.clear()
        self._held_rows = 0
        # A log for itself needs no key of its own: there is seldom more than one.
        several = rows["source"].n_unique() > 1
        for part in rows.partition_by("source", maintain_order=True) if several else [rows]:
            self._count_log(part)

    def _count_log(self, rows: pl.DataFrame) -> None:
        """Count events of one log."""
        source = rows["source"][0]
        start = self._starts.get(source, 0)
        called, name = pl.col("kind") == "syscall", pl.col("name")
        real = pl.col("status").ne_missing("injected")
        calls = (
            rows.lazy()
            .filter(pl.col("kind").is_in(_CALLS), name.is_not_null())
            .select(
                "task",
                "name",
                ((pl.col("ts").dt.epoch("ns") - start) // self._step_ns)
                .clip(0, self._steps - 1)
                .cast(pl.UInt8)
                .alias("step"),
                called.cast(pl.Int64).alias("calls"),
                pl.when(called).then("dur_ns").alias("ns"),
                pl.when(real).then("bytes").alias("bytes"),
            )
            .with_columns(
                *(pl.when(name.is_in(of)).then("bytes").alias(way) for way, of in WAYS.items()),
                *(bits_of(pl.col(of)).alias(f"{of}_bits") for of in ("ns", "bytes")),
            )
            .collect()
        )
        count = pl.len().cast(pl.Int64).alias("calls")
        starting = calls.filter(name.is_in(STARTS))
        self._add(source, "pids", rows, pl.col("pid").last(ignore_nulls=True))
        self._add(source, "tasks", calls, pl.col("calls", "ns", *WAYS).sum())
        self._add(source, "names", calls, pl.col("calls", "ns").sum())
        self._add(source, "starts", starting, pl.col("ns").sum())
        self._add(source, "histograms", calls, count, pl.col("ns", "bytes").sum())

    def _add(self, source: str | None, name: str, rows: pl.DataFrame, *sums: pl.Expr) -> None:
        """Add sums of some rows to a table."""
        parts = self._parts[name]
        found = rows.group_by(_KEYS[name]).agg(sums)
        parts.append(found.select(pl.lit(source, pl.Categorical).alias("source"), pl.all()))
        if sum(part.height for part in parts) > 2 * self._merged[name] + _MORE:
            self._merge(name)

    def _merge(self, name: str) -> None:
        """Make one part of those of a table."""
        parts = self._parts[name]
        if not parts:
            return
        keys = ["source", *_KEYS[name]]
        others = pl.all().exclude(keys)
        total = others.last(ignore_nulls=True) if name == "pids" else others.sum()
        parts[:] = [pl.concat(parts).group_by(keys).agg(total)]
        self._merged[name] = parts[0].height
