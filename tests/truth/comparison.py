"""Rows of a log held against what the kernel said at each call."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from support.kernel import truth as rows_of
from truth.recording import FILTER, Recording

Row = dict[str, Any]
ASYNCHRONOUS = {"pread", "pwrite", "fsync", "fdsync", "poll", "noop"}
PLACED = {"regular", "block"}


@dataclass
class Outcome:
    """What was right, and what was not."""

    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    unpaired: list[str] = field(default_factory=list)

    @property
    def rows(self) -> int:
        """Transfers of which the truth is known."""
        return self.counts.total() - self.counts["open"]

    @property
    def less(self) -> int:
        """Those whose position is not known as well as it could be."""
        return sum(self.counts[name] for name in ("relative", "ambiguous", "unknown", "none"))


def compare(recording: Recording, recorder: str) -> Outcome:
    """Hold each transfer against its truth."""
    rows = rows_of.with_positions(rows_of.read_rows(recording.log))
    observed = recording.observed()
    calls = [one for one in observed if one["call"] not in ASYNCHRONOUS]
    parts = [one for one in observed if one["call"] in ASYNCHRONOUS]
    names = {one["call"] for one in calls}
    if recorder == "filtered":
        names &= set(FILTER)
        calls = [one for one in calls if one["call"] in names]
    outcome = Outcome()
    bases: dict[tuple[str, int], int] = {}
    for one, row in pairs(rows, names, calls, outcome):
        judge(one, row, outcome, bases)
    for one, row in asynchronous(rows, parts, outcome):
        judge(one, row, outcome, bases)
    return outcome


def pairs(
    rows: pl.DataFrame, names: set[str], calls: list[dict[str, str]], outcome: Outcome
) -> list[tuple[dict[str, str], Row]]:
    """Pair the rows of a task with its calls: both are in order."""
    transfers = rows.filter(
        pl.col("name").is_in(list(names)),
        pl.col("ret") >= 0,
        kind="syscall",
    )
    found = {tid: part.sort("line").to_dicts() for (tid,), part in transfers.group_by("tid")}
    expected = defaultdict(list)
    for call in calls:
        expected[int(call["tid"])].append(call)
    paired = []
    for tid in sorted({*found, *expected}):
        both = found.get(tid, []), expected.get(tid, [])
        for row, call in zip(*both, strict=False):
            if (row["name"], row["ret"]) != (call["call"], int(call["ret"])) or (
                row["fd"] is not None and row["fd"] != int(call["fd"])
            ):
                outcome.unpaired.append(f"{brief(row)} is not {call}")
                break
            paired.append((call, row))
        if len(both[0]) != len(both[1]):
            outcome.unpaired.append(f"{tid}: {len(both[0])} rows of {len(both[1])} calls")
    return paired


def asynchronous(
    rows: pl.DataFrame, parts: list[dict[str, str]], outcome: Outcome
) -> list[tuple[dict[str, str], Row]]:
    """Pair parts of io_submit: equal ones have equal places."""
    waiting = defaultdict(list)
    for part in parts:
        waiting[part["call"], int(part["fd"])].append(part)
    paired = []
    for row in rows.filter(kind="aio").to_dicts():
        candidates = waiting.get((row["name"], row["fd"]), [])
        one = next((c for c in candidates if int(c["ret"]) == row["requested"]), None)
        if one is None:
            outcome.unpaired.append(brief(row))
            continue
        candidates.remove(one)
        paired.append((one, row))
    return paired


def judge(
    call: dict[str, str], row: Row, outcome: Outcome, bases: dict[tuple[str, int], int]
) -> None:
    """Say how a row does."""
    how = row["offset_known"]
    sides = [("offset", "type", "at", "ofd"), ("offset2", "type2", "at2", "ofd2")]
    real = [side for side in sides if call[side[1]] in PLACED]
    if not real:
        # A pipe has no positions: nothing is claimed, or only that nobody knows.
        if how == "exact" and (row["offset"] is not None or row["offset2"] is not None):
            outcome.counts["wrong"] += 1
            outcome.wrong.append(f"{brief(row)}: {call['type']} has no positions")
        return
    verdict = how or "none"
    for offset, _, at, ofd in real:
        claimed, place = row[offset], call[at]
        if claimed is None:
            verdict = "none" if verdict == "exact" else verdict
        elif place == "":
            verdict = "open"
        elif how == "exact" and claimed != int(place):
            verdict = "wrong"
        elif how == "relative":
            base = int(place) - claimed
            proved = row["position"] if offset == "offset" else None
            if bases.setdefault((row["source"], row[ofd]), base) != base or (
                proved is not None and proved != int(place)
            ):
                verdict = "wrong"
        elif how not in {"exact", "relative"}:
            verdict = "wrong"
        if verdict == "wrong":
            outcome.wrong.append(f"{brief(row)}: began at {place} of {call['path']}")
            break
    outcome.counts[verdict] += 1
    size = row["size"]
    if size is not None and call["size"] and call["file"].startswith("fe") and False:
        outcome.counts["size"] += 1


BRIEF = ["line", "tid", "name", "fd", "ofd", "fd2", "ret", "offset", "offset2", "offset_known"]


def brief(row: Row) -> str:
    return " ".join(f"{name}={row[name]}" for name in [*BRIEF, "path"] if row[name] is not None)
