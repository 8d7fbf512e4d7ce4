"""The phases of starting a process, as lines of a table: how long, share of the time, and why."""

from typing import Final, NamedTuple

import polars as pl

from tracefast.analysis.forks.advice.case import Case
from tracefast.analysis.forks.measures import intervals
from tracefast.analysis.forks.measures.costs import SUSPENDING
from tracefast.quantities import duration, percent, plural

_ABSENT: Final = "-"


class Phase(NamedTuple):
    """One line of the table."""

    name: str
    median: str
    p95: str
    sum: str
    share: str
    note: str


# The columns of the summary, their headings, and the moments at which they start and end.
_PHASES: Final = (
    ("call", "in the call", "begin", "call_end"),
    ("exec_gap", "to execve", "child_begin", "exec_begin"),
    ("exec", "in execve", "exec_begin", "exec_end"),
    ("error_pipe", "error pipe", None, None),
    ("startup", "linking", "exec_end", "startup_end"),
    ("lifetime", "lifetime", "child_begin", "child_end"),
)

_NOTES: Final = {
    "exec_gap": "from the child's first event to its execve",
    "error_pipe": "the parent waits for the child's execve (overlaps)",
    "lifetime": "of the child, from start to exit",
}


def phases(case: Case) -> list[Phase]:
    """Give the phases that the log shows, in the order in which they happen."""
    rows = case.rows.with_columns((pl.col("exec_end") + pl.col("startup_ns")).alias("startup_end"))
    found = []
    for column, name, start, end in _PHASES:
        if not case.known(f"{column}_sum_ns"):
            continue
        share = _ABSENT if start is None or end is None else _share(case, rows, start, end)
        median, p95, total = (case.time(f"{column}_{what}_ns") for what in ("p50", "p95", "sum"))
        found.append(Phase(name, median, p95, total, share, _note(case, column)))
    return found


def _share(case: Case, rows: pl.DataFrame, start: str, end: str) -> str:
    """Give the part of the log's time in which at least one process was in this phase."""
    spans = rows.select("source", pl.col(start).alias("start"), pl.col(end).alias("end"))
    busy = int(intervals.covered(spans, ["source"])["covered"].sum())
    wall = case.number("wall_ns")
    return percent(min(busy / wall, 1.0)).removesuffix(" %") if wall > 0 else _ABSENT


def _note(case: Case, column: str) -> str:
    """Say what happens in a phase."""
    if column == "call":
        return _call_note(case)
    if column == "exec":
        return _exec_note(case)
    if column == "startup":
        calls, libraries = case.median("startup_calls"), case.median("startup_libraries")
        return f"{plural(calls or 0, 'call')}, {plural(libraries or 0, 'library', 'libraries')}"
    return _NOTES[column]


def _call_note(case: Case) -> str:
    kind = case.text("kind")
    if kind in SUSPENDING:
        return "the parent waits for the child's execve"
    if kind != "fork":
        return ""
    slope, r2 = case.summary["slope_ns_per_mib"], case.summary["slope_r2"]
    if not isinstance(slope, float):
        return "copies the parent's page tables"
    sure = f" (R² {r2:.2f})" if isinstance(r2, float) else ""
    return f"copies the parent's page tables: {slope / 1000:.1f} µs per MiB{sure}"


def _exec_note(case: Case) -> str:
    base = case.median("exec_base_ns")
    if case.text("kind") != "fork" or base is None or case.number("exec_p50_ns") <= 2 * base:
        return ""
    return f"frees the copied page tables ({duration(base)} without them)"
