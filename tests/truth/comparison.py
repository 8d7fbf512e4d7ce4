"""Rows of a log held against what the kernel said at each call."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from support.kernel import truth as rows_of
from truth.recording import Recording
from truth.scenarios import FILTER

Row = dict[str, Any]
# How the place of a transfer is known. Where `open`, nobody can say where it began.
COUNTS = [
    *("exact", "relative", "assumed", "assumed-relative"),
    *("ambiguous", "unknown", "none", "open", "wrong"),
]
ASYNCHRONOUS = {"pread", "pwrite", "fsync", "fdsync", "poll", "noop"}
PLACED = {"regular", "block"}


@dataclass
class Outcome:
    """What was right, and what was not."""

    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    unpaired: list[str] = field(default_factory=list)

    @property
    def less(self) -> int:
        """Those whose position is not known as well as it could be."""
        return sum(self.counts[name] for name in COUNTS[1:7])


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
    expected = defaultdict(list)
    for call in calls:
        expected[int(call["tid"])].append(call)
    # The log of a single task does not name it.
    alone = next(iter(expected), None)
    found = {
        alone if tid is None else tid: part.sort("line").to_dicts()
        for (tid,), part in transfers.group_by("tid")
    }
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


SIDES = [("offset", "type", "at", "ofd"), ("offset2", "type2", "at2", "ofd2")]
Bases = dict[tuple[str, int], int]


def judge(call: dict[str, str], row: Row, outcome: Outcome, bases: Bases) -> None:
    """Count a row, by how well its place is known and whether it is right."""
    sides = [side for side in SIDES if call[side[1]] in PLACED]
    if not sides:
        # A pipe has no positions: nothing is claimed, or only that nobody knows.
        if row["offset_known"] == "exact" and (row["offset"], row["offset2"]) != (None, None):
            outcome.counts["wrong"] += 1
            outcome.wrong.append(f"{brief(row)}: {call['type']} has no positions")
        return
    verdicts = [verdict(call, row, side, bases) for side in sides]
    worst = max(verdicts, key=COUNTS.index)
    outcome.counts[worst] += 1
    if worst == "wrong":
        places = " and ".join(call[at] for _, _, at, _ in sides)
        outcome.wrong.append(f"{brief(row)}: began at {places} of {call['path']}")


def verdict(call: dict[str, str], row: Row, side: tuple[str, ...], bases: Bases) -> str:
    """Say how well one end of a transfer is known: one of COUNTS."""
    offset, _, at, ofd = side
    how, claimed = row["offset_known"] or "none", row[offset]
    if claimed is None:
        return "none" if how == "exact" else how
    if call[at] == "":
        return "open"
    place = int(call[at])
    right = how == "exact" and claimed == place
    if how == "relative":
        # The place of the first access; a row after it may prove where that was.
        base = bases.setdefault((row["source"], row[ofd]), place - claimed)
        proved = row["position"] if offset == "offset" else None
        right = place - claimed == base and proved in {None, place}
    if how in {"assumed", "assumed-relative"}:
        # What the log lacks may have moved it.
        return how
    if how == "none":
        # It moved nothing, and the log gives the offset.
        right = claimed == place
    if how in {"ambiguous", "unknown"} and row["ofd"] is not None and row["ofd2"] is not None:
        # The label of a copy is that of the side that is known less.
        right = claimed == place
    return how if right else "wrong"


BRIEF = ["line", "tid", "name", "fd", "ofd", "fd2", "ret", "offset", "offset2", "offset_known"]


def brief(row: Row) -> str:
    return " ".join(f"{name}={row[name]}" for name in [*BRIEF, "path"] if row[name] is not None)
