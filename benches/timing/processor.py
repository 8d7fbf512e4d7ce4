"""Processor time of one thread: a line, a row, and beside programs that read the same log.

The time that a processor spends swings less than what a clock shows, because other programs on the
machine do not count; what is left of them, in caches and memory, falls out of the lowest of several
rounds and of ratios within a run. An older build of the extension runs in turn with this one.
"""

from __future__ import annotations

import importlib.util
import json
import shutil
from typing import TYPE_CHECKING

import guard
import make_log
from cases import YARDSTICKS, Case
from text_table import markdown

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

BYTES = 200_000_000
"""Longest log: what is compared takes seconds for it."""

WAYS = {"arrow": "Arrow", "parquet": "Parquet"}
"""By the case of ``measure.py``: what tracefast makes of a log."""

LABELS = {
    "zstd": "zstd -1",
    "rg": "rg -c ' = '",
    "wc": "wc -l",
    "polars": "polars, one regex",
    "duckdb": "duckdb, regexp_extract",
    "awk": "awk, calls by name",
}
"""The same for what it is compared with. All but the first three know only strace's layout."""

HEAD = ("one thread", "log", "ns a line", "ns a row", "instructions a line")


def missing(tool: str) -> bool:
    """Say whether the machine does not have a program or package."""
    if tool in {"polars", "duckdb"}:
        return importlib.util.find_spec(tool) is None
    return shutil.which(tool) is None


def plan(logs: dict[str, Path], *, old: bool) -> list[Case]:
    """List the cases of a log of each kind; with `old` an older build makes the same."""
    cases = []
    for kind, log in logs.items():
        for tool, made in WAYS.items():
            label = f"{kind} to {made}"
            cases += [Case(label, tool, log, 1, alone=True, old=True)] if old else []
            cases.append(Case(label, tool, log, 1, alone=True))
        tools = LABELS if kind == "strace" else YARDSTICKS
        cases += [
            Case(LABELS[tool], tool, log, 1, alone=True) for tool in tools if not missing(tool)
        ]
    return cases


def left_out() -> str:
    """Name what is not compared because it is not installed; nothing if all is."""
    tools = [tool for tool in LABELS if missing(tool)]
    return f"Not installed, and so not compared: {', '.join(tools)}." if tools else ""


def instructions_per_line(kind: str, tool: str) -> float:
    """Return the instructions that the guard recorded for the log that ships with the project."""
    stages = json.loads(guard.RECORDED.read_text(encoding="utf-8"))["instructions"][kind]
    order = guard.GUARDED
    through = order[: order.index("parquet" if tool == "parquet" else "batches") + 1]
    return sum(stages[stage] for stage in through) / make_log.bundled(kind).count(b"\n")


def by(case: Case, other: Case) -> float:
    """Return processor time by that of another: the lowest of the rounds of each."""
    return min(case.processor) / min(other.processor)


def of_log(cases: Sequence[Case], log: Path, tool: str, *, old: bool = False) -> Case | None:
    """Return the case of a log and a tool, if it was measured."""
    found = (case for case in cases if (case.log, case.tool, case.old) == (log, tool, old))
    return next(found, None)


def ratio(cases: list[Case], case: Case, tool: str, *, old: bool = False) -> str:
    """Return a cell: processor time by that of another tool on the same log."""
    other = of_log(cases, case.log, tool, old=old)
    return f"{by(case, other):.2f}" if other is not None else ""


def table(cases: list[Case], lines: dict[Path, int]) -> str:
    """Return the measurements as a Markdown table, and what was left out."""
    yardsticks = [tool for tool in YARDSTICKS if any(case.tool == tool for case in cases)]
    compared = any(case.old for case in cases)
    rows = []
    for case in (case for case in cases if not case.old):
        own = case.tool in WAYS
        kind = case.label.split()[0]
        lowest = 1e9 * min(case.processor)
        rows.append(
            (
                case.label,
                make_log.show_size(case.log.stat().st_size) + f" {case.log.name.split('-')[0]}",
                f"{lowest / lines[case.log]:,.1f}",
                f"{lowest / case.rows:,.0f}" if own else "",
                f"{instructions_per_line(kind, case.tool):,.0f}" if own else "",
                *(ratio(cases, case, tool) for tool in yardsticks),
                *([ratio(cases, case, case.tool, old=True) if own else ""] if compared else []),
            )
        )
    head = (*HEAD, *(f"x {LABELS[tool]}" for tool in yardsticks))
    parts = [markdown((*head, *(["x the old build"] if compared else [])), rows, left=2)]
    return "\n\n".join([*parts, *filter(None, [left_out()])])
