"""The goals, and which of them are reached."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cases import TABLES, Case, middle
from timing import processor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from startup import Startup

SPEED = {
    "strace to Arrow": 0.22,
    "strace to Parquet": 0.08,
    "ftrace to Arrow": 0.25,
    "ftrace to Parquet": 0.10,
}
"""Minimum ratio to ``wc -l`` with the most threads."""

ONE_THREAD = {
    "strace to Arrow": 0.65,
    "strace to Parquet": 1.65,
    "ftrace to Arrow": 0.75,
    "ftrace to Parquet": 1.85,
}
"""Maximum processor time of one thread, relative to ``zstd -1``."""

SECOND_CORE = 1.8
"""Minimum speed on two threads, relative to one."""

UNPACKED = {"gz": 1.15, "zst": 1.1}
"""Maximum time from a compressed log to Parquet, relative to the program that only unpacks it; of
zstd to the plain log, if that takes longer."""

PEAK = 128_000_000
"""Maximum memory on two threads, for a log of any length."""

GROWTH = 1.1
"""Maximum memory for a longer log, relative to the first."""

MODEL = 0.85
"""Minimum speed of strace to Parquet, relative to that without the model of the kernel."""

TABLE = 8.0
"""Maximum time of a table's command on the Parquet of a log, relative to ``wc -l`` on the log."""

TABLE_PEAK = 1_000_000_000
"""Maximum memory of such a command."""

FILES_OF_LOG = 1.3
"""Maximum time of ``tracefast files`` on a log, relative to making Parquet of it."""

START = 0.150
"""Maximum seconds of ``tracefast --help`` and ``--version``."""

IMPORT = 0.060
"""Maximum seconds of ``import tracefast`` after polars is imported."""

JUDGED_BYTES = 200_000_000
"""Shorter logs are not judged: the start of the process is too large a part of the time."""


@dataclass
class Verdict:
    """A measured value and its goal."""

    what: str
    measured: str
    goal: str
    reached: bool


def least(what: str, value: float, goal: float, unit: str) -> Verdict:
    """Judge a value that should be large."""
    return Verdict(what, f"{value:.3f} {unit}", f"at least {goal:g} {unit}", value >= goal)


def most(what: str, value: float, goal: float, unit: str, digits: int = 2) -> Verdict:
    """Judge a value that should be small."""
    return Verdict(what, f"{value:.{digits}f} {unit}", f"at most {goal:g} {unit}", value <= goal)


def by(over: list[float], under: list[float]) -> float:
    """Return the median of the ratios of two cases, round by round."""
    return middle([a / b for a, b in zip(over, under, strict=True)])


def judge(
    cases: list[Case], startup: Startup | None = None, alone: Sequence[Case] = ()
) -> list[Verdict]:
    """Return a verdict for each goal that the cases cover."""
    threads = max((case.threads for case in cases), default=0)
    last = {case.label: case for case in cases if case.threads == threads and not case.long}
    first = {case.label: case for case in cases if case.threads == 1 and not case.long}
    found = [
        least(label, middle(last[label].ratios), goal, "x `wc -l`")
        for label, goal in SPEED.items()
        if label in last
    ]
    if threads == 2:
        found += [
            least(
                f"second core, {label}",
                by(first[label].seconds, last[label].seconds),
                SECOND_CORE,
                "x one",
            )
            for label in SPEED
            if label in last and label in first
        ]
    found += one_thread(alone)
    found += packed(last)
    found += memory(cases, last)
    found += tables(last)
    if startup is not None:
        found += starts(startup)
    return found


def one_thread(cases: Sequence[Case]) -> list[Verdict]:
    """Judge processor time, relative to ``zstd -1`` on the same log."""
    found = []
    for case in cases:
        other = processor.of_log(cases, case.log, "zstd")
        if case.label in ONE_THREAD and not case.old and other is not None:
            what, goal = f"{case.label}, processor time", ONE_THREAD[case.label]
            found.append(most(what, processor.by(case, other), goal, "x `zstd -1`"))
    return found


def packed(last: dict[str, Case]) -> list[Verdict]:
    """Judge compressed logs: relative to unpacking, or to the plain log if that takes longer."""
    found = []
    for case in last.values():
        if not case.unpacked:
            continue
        plain = last["strace to Parquet"].seconds
        limits = (case.unpacked, plain) if case.form == "zst" else (case.unpacked,)
        limit = [max(times) for times in zip(*limits, strict=True)]
        unit = "x the time to unpack it" + (", or of the plain log" if case.form == "zst" else "")
        found.append(most(case.label, by(case.seconds, limit), UNPACKED[case.form], unit))
    return found


def memory(cases: list[Case], last: dict[str, Case]) -> list[Verdict]:
    """Judge the memory of the parser, and how it grows with the log."""
    own = [case for case in cases if case.tool in {"arrow", "parquet", "rows"}]
    if not own:
        return []
    peak = max(max(case.peaks) for case in own)
    found = [most("peak memory", peak / 1e6, PEAK / 1e6, "MB", 0)]
    for long in (case for case in own if case.long):
        short = last[long.label]
        length = long.log.stat().st_size / short.log.stat().st_size
        growth = max(long.peaks) / max(short.peaks)
        found.append(most(f"memory, a log {length:.3g} times as long", growth, GROWTH, "x"))
    return found


def tables(last: dict[str, Case]) -> list[Verdict]:
    """Judge the model and the tables: each relative to another case of its round."""
    found = []
    parse = last.get("strace to Parquet")
    plain = last.get("strace to Parquet, no model")
    if parse and plain:
        speed = by(plain.seconds, parse.seconds)
        found.append(least("strace to Parquet, model on", speed, MODEL, "x without"))
    saved = [last[of_parquet(name)] for name in TABLES if of_parquet(name) in last]
    for case in saved:
        unit = "x `wc -l` of the log"
        found.append(most(f"`{case.label}`", by(case.wall, case.counted), TABLE, unit, 1))
    if saved:
        peak = max(max(case.peaks) for case in saved)
        found.append(most("peak memory of tables", peak / 1e6, TABLE_PEAK / 1e6, "MB", 0))
    of_log = last.get("files of a log")
    if parse and of_log:
        unit = "x the time of strace to Parquet"
        found.append(most("`files` of a log", by(of_log.wall, parse.wall), FILES_OF_LOG, unit))
    return found


def of_parquet(name: str) -> str:
    """Return the label of a table's command on Parquet."""
    return f"{name} of Parquet"


def starts(startup: Startup) -> list[Verdict]:
    """Judge the time of starting."""
    found = [
        most(f"`{name}`", 1e3 * startup.middle(name), 1e3 * START, "ms", 0)
        for name in ("tracefast --version", "tracefast --help")
    ]
    beyond = startup.beyond("import polars, tracefast", "import polars")
    found.append(most("`import tracefast` beyond polars", 1e3 * beyond, 1e3 * IMPORT, "ms", 0))
    return found


def too_short(cases: list[Case]) -> bool:
    """Say whether the logs are too short to judge speed by."""
    return any(case.log.stat().st_size < JUDGED_BYTES * 0.999 for case in cases if not case.long)
