"""Where the time of all tasks went, added up."""

from dataclasses import dataclass
from typing import Final

import polars as pl

from tracefast import _core
from tracefast.analysis.forks.advice.case import STOP_NS
from tracefast.analysis.overview.tables import Overview

# Calls that start processes.
STARTS: Final = [*_core.syscalls_that("forks"), *_core.syscalls_that("execs")]


@dataclass(frozen=True)
class Times:
    """Nanoseconds of all tasks, added up: what they spent in each kind of call, and outside."""

    tasks: int
    """How many tasks have times."""
    total_ns: int
    """From the first event of each to its last one."""
    waiting_ns: int
    """In calls that wait for others."""
    files_ns: int
    """In calls that move data to and from files."""
    starting_ns: int
    """In calls that create processes or start programs."""
    other_ns: int
    """In all other calls."""
    outside_ns: int
    """Between calls: computing, and the tracer."""
    tracer_ns: int | None
    """What the tracer took of that, at most; None for ftrace, which does not stop tasks."""


def times_of(found: Overview) -> Times | None:
    """Add up the times; None for a log without times, or with too few durations.

    Examples
    --------
    >>> import tracefast as tf
    >>> from tracefast.analysis.overview.tables import overview
    >>> times_of(overview(tf.scan("demo.strace"))).files_ns
    60000
    """
    tasks = found.table("tasks").filter(pl.col("first").is_not_null(), pl.col("calls") > 0)
    calls, processes = found.table("syscalls"), found.table("processes")
    in_calls = _sum(calls, "total_ns")
    if tasks.is_empty() or not in_calls or "few-durations" in found.gaps:
        return None
    span = tasks.select((pl.col("last") - pl.col("first")).dt.total_nanoseconds().alias("span"))
    # Calls of a task may overlap in a damaged log.
    total = max(_sum(span, "span"), in_calls)
    waiting, files = _sum(calls, "wait_ns"), _sum(processes, "io_ns")
    starts = calls.filter(pl.col("name").is_in(STARTS))
    starting = max(_sum(starts, "total_ns") - _sum(starts, "wait_ns"), 0)
    outside = total - in_calls
    stops = None
    if not int(tasks["with_cpu"].sum()):
        stops = min(STOP_NS * int(tasks["calls"].sum()), outside)
    return Times(
        tasks=tasks.height,
        total_ns=total,
        waiting_ns=waiting,
        files_ns=files,
        starting_ns=starting,
        other_ns=max(in_calls - waiting - files - starting, 0),
        outside_ns=outside,
        tracer_ns=stops,
    )


def _sum(table: pl.DataFrame, name: str) -> int:
    return int(table[name].sum() or 0)
