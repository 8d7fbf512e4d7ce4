"""A case, which rules look at, and the advice that they give."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

import polars as pl

from tracefast.analysis.forks.measures.costs import SUSPENDING
from tracefast.quantities import Range, duration

Value = int | float | str | None


@dataclass(frozen=True)
class Advice:
    """One piece of advice."""

    code: str
    """Name of the rule, for machines."""
    what: str
    """What was found, in one sentence."""
    evidence: str
    """What in the log shows it."""
    remedy: str
    """What to change."""
    saving: Range | None = None
    """What that would save; None where it is not about time, or cannot be said."""
    touched: Range | None = None
    """The time that it is about; None where it is not about time."""
    numbers: Mapping[str, float] = field(default_factory=dict)
    """What the evidence says, for machines."""


# What strace takes for a call, at most, on the machines where it was measured.
STOP_NS: Final = 60_000

_PYTHON: Final = re.compile(r"python(?:\d[\d.]*)?[a-z]*$")
_VERSION: Final = re.compile(r"python(\d+)\.(\d+)|/(?:versions|python|envs)/[^/]*?(\d+)\.(\d+)")


@dataclass(frozen=True)
class Case:
    """Processes of one kind, started by one program to execute one program."""

    summary: Mapping[str, Value]
    """Their row of the summary, with the sums `tracer_low_ns`, `tracer_high_ns`, and `wall_ns`."""
    table: pl.DataFrame
    """The rows of all groups."""
    indices: pl.Series
    """Which of these are theirs."""

    @cached_property
    def rows(self) -> pl.DataFrame:
        """Their rows of `forks`, with hints and costs, in order of time."""
        # Gathered on demand: no rule looks at most of the groups.
        return self.table[self.indices]

    def column(self, name: str) -> pl.Series:
        """Give a column of their rows, without the others."""
        return self.table[name].gather(self.indices)

    def columns(self, *names: str) -> pl.DataFrame:
        """Give some columns of their rows."""
        return self.table.select(names)[self.indices]

    def number(self, name: str) -> int:
        """Give a whole number of the summary; 0 where the log cannot say."""
        value = self.summary[name]
        return value if isinstance(value, int) else 0

    def share(self, name: str) -> float:
        """Give a part of the log's time: of a sum, or of a share as it is."""
        value = self.summary[name]
        if isinstance(value, float):
            return value
        wall = self.number("wall_ns")
        return self.number(name) / wall if wall > 0 else 0.0

    def text(self, name: str) -> str | None:
        """Give a text of the summary."""
        value = self.summary[name]
        return value if isinstance(value, str) else None

    def known(self, name: str) -> bool:
        """Say whether the log shows this."""
        return self.summary[name] is not None

    @property
    def count(self) -> int:
        """How many processes were started."""
        return self.number("count")

    @property
    def traced(self) -> bool:
        """Whether the tracer stopped the tasks: strace does, ftrace does not."""
        return self.known("tracer_high_ns")

    @property
    def stop_ns(self) -> int:
        """What the tracer may take for each call of a task."""
        return STOP_NS if self.traced else 0

    def less_tracer(self, nanoseconds: int) -> Range:
        """Take the tracer's share of call, gap and exec from a sum that holds the gap.

        What the tracer takes at least are stops at the calls that the child makes in the gap.
        """
        low, high = self.number("tracer_low_ns"), self.number("tracer_high_ns")
        return Range(max(nanoseconds - high, 0), max(nanoseconds - low, 0))

    def less_tracer_beside(self, nanoseconds: int) -> Range:
        """Take the tracer's share from a sum of calls and execs that does not hold the gap."""
        most = self.number("tracer_high_ns") - self.number("tracer_low_ns")
        return Range(max(nanoseconds - most, 0), nanoseconds)

    @property
    def price(self) -> Range:
        """What starting them in this way took, without the tracer's share."""
        tax = self.number("tax_ns")
        # The call that makes a child of vfork holds all that the child does until its execve.
        waits = self.text("kind") in SUSPENDING
        return self.less_tracer(tax) if waits else self.less_tracer_beside(tax)

    @property
    def price_share(self) -> tuple[float, float]:
        """The part of the log's time in which they were being started, as a range like `price`."""
        tax, share = self.number("tax_ns"), self.share("wall_share")
        return (share * self.price.low / tax, share * self.price.high / tax) if tax else (0.0, 0.0)

    @property
    def linking(self) -> Range:
        """Time of dynamic linking, less what stopping at each of its calls may have taken."""
        total = self.number("startup_sum_ns")
        stops = self.sum("startup_calls") * self.stop_ns
        return Range(max(total - stops, 0), total)

    @property
    def python(self) -> tuple[int, int] | None:
        """Version of the Python that the parent runs, as far as the log shows one."""
        opened = self.column("parent_python").drop_nulls()
        text = str(opened.mode().sort()[0]) if len(opened) else None
        found = _VERSION.search(f"python{text}" if text else self.text("parent_image") or "")
        if found is None:
            return None
        major, minor = (int(group) for group in found.groups() if group is not None)
        return major, minor

    @property
    def runs_python(self) -> bool:
        """Whether the parent is Python, or a program that has it inside."""
        name = (self.text("parent_image") or "").rpartition("/")[2]
        return _PYTHON.match(name) is not None or bool(self.column("parent_python").count())

    def sum(self, name: str) -> int:
        """Sum up a column of the rows."""
        return int(self.column(name).sum() or 0)

    def median(self, name: str) -> int | None:
        """Give the median of a column of the rows, nearest rank."""
        values = self.column(name).drop_nulls().sort()
        return int(values[(len(values) - 1) // 2]) if len(values) else None

    def first(self, name: str) -> str:
        """Give the line of the first row in which this is positive."""
        return self.line(self.rows.filter(pl.col(name) > 0)) or "an unknown line"

    def line(self, rows: pl.DataFrame) -> str | None:
        """Name the first line of some rows, and its log if there are several."""
        lines = rows["line"].drop_nulls()
        if lines.is_empty():
            return None
        log = self.log
        return f"line {lines[0]}" + (f" of {log}" if log is not None else "")

    @property
    def log(self) -> str | None:
        """Name their log, if there are several."""
        several = self.table["source"].n_unique() > 1
        return self.text("source") if several else None

    @property
    def workers(self) -> pl.DataFrame:
        """Those of the rows that are workers of a pool; `worker_method` says how they were started.

        A manager of multiprocessing is not a worker, although it is started like one.
        """
        return self.rows.filter(pl.col("in_pool"))

    def time(self, name: str) -> str:
        """Write a time of the summary."""
        return duration(self.number(name))
