"""Compare tracefast with what one writes without it, on one log: two jobs, each in several ways.

Columns of every line in a Parquet file, and what ``strace -c`` counts: calls, errors and time by
name. The others do less than tracefast for the same row of the table: ``benches/README.md`` says
what.
"""

from __future__ import annotations

import platform
import shutil
import subprocess
from importlib import metadata
from typing import TYPE_CHECKING

from cases import Case, middle
from text_table import markdown

if TYPE_CHECKING:
    from pathlib import Path

LABELS = {
    "parquet": "tracefast, every column",
    "polars": "polars, one regex",
    "duckdb": "duckdb, regexp_extract",
    "syscalls": "tracefast, calls by name",
    "awk": "awk, calls by name",
    "re": "Python re, calls by name",
}
"""By the case of ``measure.py``: what is compared. The first three make Parquet."""

PARALLEL = {"parquet", "polars", "duckdb", "syscalls"}
"""Tools that use several threads by default."""

BYTES = 200_000_000
"""Longest log for them: most are slow, and some take more memory for longer logs."""


def plan(log: Path, threads: int) -> list[Case]:
    """List the cases: each with all threads that it can use."""
    tools = [tool for tool in LABELS if tool != "awk" or shutil.which("awk")]
    return [
        Case(LABELS[tool], tool, log, threads if tool in PARALLEL else 1, compared=True)
        for tool in tools
    ]


def first_line(command: list[str]) -> str:
    """Return the first line that a command prints, or nothing."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return next(iter((done.stdout + done.stderr).splitlines()), "")


def awk_version() -> str:
    """Return the name and version of awk."""
    return first_line(["awk", "-W", "version"]) or first_line(["awk", "--version"]) or "awk"


def versions() -> dict[str, str]:
    """Return the version of each tool, by the case of ``measure.py``."""
    installed = {found.metadata["Name"]: found.version for found in metadata.distributions()}
    own = {tool: f"{tool} {installed.get(tool, '?')}" for tool in ("polars", "duckdb")}
    tracefast = f"tracefast {installed.get('tracefast', '?')}"
    return {
        "wc": first_line(["wc", "--version"]) or "wc",
        "parquet": tracefast,
        "syscalls": tracefast,
        **own,
        "awk": awk_version(),
        "re": f"Python {platform.python_version()}",
    }


def table(cases: list[Case]) -> str:
    """Return the comparison as a Markdown table: ratios to ``wc -l``, and to tracefast."""
    own = {case.tool: case for case in cases}
    known = versions()
    log = cases[0].log
    size = log.stat().st_size
    counted = middle([seconds for case in cases for seconds in case.counted])
    rows = [("`wc -l`", known["wc"], "1", f"{size / counted / 1e6:,.0f}", "1", "", "")]
    for case in cases:
        best = own["syscalls" if case.tool in {"awk", "re", "syscalls"} else "parquet"]
        pairs = zip(times(case), times(best), strict=True)
        slower = middle([one / other for one, other in pairs])
        rows.append(
            (
                case.label,
                known[case.tool],
                str(case.threads),
                f"{size / middle(times(case)) / 1e6:,.0f}",
                f"{ratio(case):.4f}",
                f"{slower:.1f}",
                f"{max(case.peaks) / 1e6:,.0f}",
            )
        )
    head = ("", "version", "threads", "MB/s", "x `wc -l`", "time by tracefast's", "peak MB")
    return markdown(head, rows, left=2)


def times(case: Case) -> list[float]:
    """Return the time to compare: for commands that of the whole process, as users wait for it."""
    return case.wall if case.tool in {"syscalls", "awk"} else case.seconds


def ratio(case: Case) -> float:
    """Return the time of ``wc -l`` divided by that of the case."""
    return middle([one / other for one, other in zip(case.counted, times(case), strict=True)])
