"""Random programs: what the model says of each access, against a kernel that knows.

The simulated kernel (`tests/support/kernel/simulated.py`) runs everywhere. Where strace is
installed, real programs run as well, and read their positions from /proc/self/fdinfo after each
step.
"""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from contextlib import contextmanager
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.kernel import simulated, truth
from support.kernel.implied import appended, determined
from support.kernel.positions import held_and_told
from support.paths import DATA

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import polars as pl

STEPS = DATA / "kernel-model" / "steps.py"
CALM = settings(
    deadline=None,
    max_examples=150,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
NUMBERS = st.lists(st.integers(0, 9999), min_size=20, max_size=500)
Row = dict[str, Any]


def read_rows(log: Path) -> pl.DataFrame:
    """Rows of a simulated log: its programs make no calls but those that matter to positions."""
    return truth.read_rows(log, assume_complete=True)


def rows_by_begin(rows: pl.DataFrame) -> dict[tuple[int, int], Row]:
    calls = rows.filter(kind="syscall")
    return {(row["tid"], row["line"]): row for row in calls.iter_rows(named=True)}


def raced(machine: simulated.Machine) -> set[object]:
    """Give descriptions, and their files, whose number another task changed during a call on it."""
    found: set[object] = set()
    made = [call for call in machine.calls if call.made is not None]
    closing = [call for call in machine.calls if call.name in {"close", "close_range"}]
    replacing = [call for call in machine.calls if call.shared and call.replaced]
    for call in machine.calls:
        for other in filter(call.races, made):
            found |= {call.description, other.description, *other.replaced} - {None}
        # On which number others were is not kept, nor through which description a file changed.
        for other in replacing:
            both = other.replaced | {other.description}
            files = {one.inode for one in other.replaced}
            near = call.description in both or (
                call.description and call.description.inode in files
            )
            closes = call.table and call.numbers is other.numbers
            if (near or closes) and call is not other and call.overlaps(other):
                found |= both
        # Where one was closed, a call that is under way at the end may have made it again.
        if any(map(call.loses_number, closing)) and any(
            other.may_make(call) for other in machine.calls
        ):
            found |= {call.description} - {None}
    return found | {one.inode for one in found}


def check_offset(call: simulated.Call, row: Row, must: bool, bases: dict[object, int]) -> None:
    """Exact and right; where the log does not imply it, perhaps unknown, but never wrong."""
    known = row["offset_known"]
    if call.error:
        assert row["access"] == "error" or row["ofd"] is None
        assert known is None
    elif known == "exact":
        assert row["offset"] == call.offset
        assert (row["access"] == "eof") == (call.ret == 0)
    elif known == "relative":
        # The end of a file of unknown size, at which appending began.
        assert not must
        base = call.offset - row["offset"]
        assert bases.setdefault(call.description, base) == base
    elif known == "assumed":
        # It gives its offset, but may append to what has raced.
        assert not must
        assert (call.name, row["offset"]) == ("pwrite64", call.given)
    else:
        assert not must
        assert known in {"ambiguous", "unknown"}
        assert row["offset"] is None
        assert row["access"] == ("eof" if call.ret == 0 else None)


def check_identities(calls: list[tuple[simulated.Call, Row]]) -> None:
    """What is one thing has one identity, what is another has another."""
    for thing, name in [
        (lambda call: call.task, "task"),
        (lambda call: call.description, "ofd"),
        (lambda call: call.description and call.description.inode, "file"),
    ]:
        there: dict[object, object] = {}
        back: dict[object, object] = {}
        for call, row in calls:
            if (what := thing(call)) is not None:
                assert row[name] is not None
                assert there.setdefault(what, row[name]) == row[name]
                assert back.setdefault(row[name], what) is what


def check_classes(calls: list[tuple[simulated.Call, Row]], races: set[object]) -> None:
    """Classes of a stream follow from its offsets, wherever order and offsets are certain."""
    streams: dict[tuple[object, str], list[tuple[simulated.Call, Row]]] = {}
    for call, row in calls:
        moved = call.ret is not None and call.ret > 0
        if call.kind in {"read", "write"} and moved and call.description not in races:
            streams.setdefault((call.description, call.kind), []).append((call, row))
    for stream in streams.values():
        stream.sort(key=lambda pair: pair[0].ended)
        clear = [
            not any(other is not call and other.overlaps(call) for other, _ in stream)
            and row["offset_known"] == "exact"
            for call, row in stream
        ]
        for at, (call, row) in enumerate(stream):
            if not clear[at]:
                continue
            if at == 0:
                assert row["access"] == "first"
            elif clear[at - 1]:
                before = stream[at - 1][0]
                gap = call.offset - (before.offset + before.ret)
                names = {0: "consecutive", 1: "forward", -1: "backward"}
                assert row["access"] == names[(gap > 0) - (gap < 0)]


def made_while_parents_are_guessed(machine: simulated.Machine) -> set[simulated.Call]:
    """Give what is called while two calls are under way that make tasks: whose is the new one?"""
    forks = [call for call in machine.calls if call.name in {"clone", "vfork"}]
    pairs = [{one, other} for one, other in combinations(forks, 2) if one.overlaps(other)]
    unclear = set[simulated.Call]().union(*pairs)
    return {call for call in machine.calls if any(call.overlaps(fork) for fork in unclear)}


def check(machine: simulated.Machine, found: Callable[[simulated.Call], Row], strict: bool) -> None:
    ended = [(call, found(call)) for call in machine.calls if call.ended]
    certain = dict(determined(machine))
    ends = dict(appended(machine, certain))
    bases: dict[object, int] = {}
    unclear = made_while_parents_are_guessed(machine)
    guessed = {call.description for call in unclear if call.kind}
    races = raced(machine)
    for call, row in ended:
        assert row["name"] == call.name
        # It may be of a thread of one process, or of another process.
        assert row["pid"] == call.task.group or (row["pid"] is None and call in unclear)
        assert row["ret"] == call.ret
        if call.description and call.name != "openat":
            assert row["path"] == call.description.inode.path
        if call.kind in {"read", "write"}:
            must = ends.get(call, False) if call.appends else certain.get(call, True)
            must = must and (strict or len(machine.everyone) == 1)
            must = must and call.description not in guessed | races
            must = must and not (call.appends and call.description.inode in races)
            check_offset(call, row, must, bases)
            if call.kind == "read" and row["size"] is not None:
                assert row["size"] == call.size
    check_identities(ended)
    check_classes(ended, races)


def check_bursts(machine: simulated.Machine, rows: pl.DataFrame) -> int:
    """The calls of a burst covered what the model says, each byte once. Returns how many calls."""
    calls = {(call.task.tid, call.line): call for call in machine.calls}
    bases: dict[int, int] = {}
    overlapping: dict[int, list[simulated.Call]] = {}
    count = 0
    for row in rows.iter_rows(named=True):
        if row["name"] == "offset-burst":
            found = overlapping[row["ofd"]][-row["ret"] :]
            spans = sorted((call.offset, call.offset + call.ret) for call in found)
            assert len(spans) == row["ret"]
            base = spans[0][0] - row["offset"]
            assert spans[-1][1] - row["offset2"] == base
            # Offsets of a description that has appended may count from the end of its file.
            exact = row["offset_known"] == "exact"
            assert base == 0 if exact else bases.setdefault(row["ofd"], base) == base
            assert all(before[1] == after[0] for before, after in pairwise(spans))
            count += len(spans)
        elif row["offset_known"] == "ambiguous" and (row["bytes"] or 0) > 0:
            overlapping.setdefault(row["ofd"], []).append(calls[row["tid"], row["line"]])
        elif row["offset_known"] == "relative":
            base = calls[row["tid"], row["line"]].offset - row["offset"]
            assert bases.setdefault(row["ofd"], base) == base
    return count


@contextmanager
def shown(*logs: Path) -> Iterator[None]:
    """Print the logs with what is wrong of them."""
    try:
        yield
    except AssertionError as error:
        error.add_note("\n".join(f"{log.name}:\n{log.read_text()}" for log in logs))
        raise


def check_whole(numbers: list[int], folder: Path) -> None:
    """Compare a log of all tasks with the machine that made it."""
    machine = simulated.Machine(numbers)
    log = folder / "made.strace"
    log.write_text("\n".join(machine.lines) + "\n")
    rows = read_rows(log)
    found = rows_by_begin(rows)
    with shown(log):
        check(machine, lambda call: found[call.task.tid, call.line], strict=True)
        check_bursts(machine, rows)


def check_separate(numbers: list[int], folder: Path) -> None:
    """Compare logs cut by task with the machine: only times show what overlaps."""
    machine = simulated.Machine(numbers, reuse=False)
    for old in folder.glob("made.cut.*"):
        old.unlink()
    begun: dict[simulated.Call, int] = {}
    for tid, lines in machine.separate.items():
        (folder / f"made.cut.{tid}").write_text("".join(f"{line}\n" for line, _ in lines))
        begun |= {call: number for number, (_, call) in enumerate(lines, 1) if call}
    found = rows_by_begin(read_rows(folder / "made.cut"))
    with shown(*sorted(folder.glob("made.cut.*"))):
        check(machine, lambda call: found[call.task.tid, begun[call]], strict=False)


CHECKS = pytest.mark.parametrize("check_log", [check_whole, check_separate], ids=["whole", "cut"])


@CHECKS
@CALM
@given(numbers=NUMBERS)
def test_simulated_programs(check_log: Callable, tmp_path: Path, numbers: list[int]) -> None:
    check_log(numbers, tmp_path)


@CHECKS
@pytest.mark.parametrize("seed", range(10))
def test_long_simulated_programs(check_log: Callable, tmp_path: Path, seed: int) -> None:
    """More tasks and more overlaps than what shrinks well; every run has the same."""
    chance = random.Random(seed)
    wrong = 0
    for _ in range(100):
        numbers = [chance.randrange(10_000) for _ in range(chance.choice([90, 400, 900]))]
        try:
            check_log(numbers, tmp_path)
        except AssertionError:
            if check_log is check_whole:
                raise
            wrong += 1
    # Where threads take over each other's numbers within microseconds, the times in logs cut by
    # task do not always show who had one.
    assert wrong <= 1


@pytest.mark.parametrize(
    "change",
    [
        lambda row: row | {"offset": row["offset"] + 1} if row["offset_known"] == "exact" else row,
        lambda row: row | {"offset_known": "ambiguous", "offset": None, "access": None},
        lambda row: row | {"access": "forward"} if row["access"] == "consecutive" else row,
        lambda row: row | {"path": "/srv/a"},
        lambda row: row | {"pid": 1000},
        lambda row: row | {"ofd": row["ofd"] and row["ofd"] % 7},
        lambda row: row | {"file": 1},
        lambda row: row | {"task": row["task"] % 2},
    ],
)
def test_differences_are_seen(tmp_path: Path, change: Callable[[Row], Row]) -> None:
    chance = random.Random(3)
    machine = simulated.Machine([chance.randrange(10_000) for _ in range(900)])
    log = tmp_path / "made.strace"
    log.write_text("\n".join(machine.lines) + "\n")
    found = rows_by_begin(read_rows(log))
    with pytest.raises(AssertionError):
        check(machine, lambda call: change(found[call.task.tid, call.line]), strict=True)


def test_the_simulation_does_what_it_says() -> None:
    """Programs of some length have children, overlapping calls, shared and copied tables."""
    text = ""
    uncertain = 0
    for seed in range(40):
        machine = simulated.Machine(
            [(seed * 7919 + n * n * 31 + n * 17) % 9973 for n in range(600)]
        )
        text += "\n".join(machine.lines)
        uncertain += sum(not must for _, must in determined(machine))
    for part in (
        "vfork",
        "CLONE_THREAD",
        "<unfinished",
        "<... read resumed",
        "execve",
        "dup3",
        "EBADF",
    ):
        assert part in text
    assert uncertain > 20


def test_the_simulation_has_bursts(tmp_path: Path) -> None:
    log = tmp_path / "made.strace"
    count = 0
    for seed in range(40):
        chance = random.Random(seed)
        machine = simulated.Machine([chance.randrange(10_000) for _ in range(900)])
        log.write_text("\n".join(machine.lines) + "\n")
        count += check_bursts(machine, read_rows(log))
    assert count > 20


@pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace")
@pytest.mark.parametrize("seed", range(12))
def test_real_programs(tmp_path: Path, seed: int) -> None:
    """Real programs, real strace: the kernel says after each step where descriptors are."""
    chance = random.Random(seed)
    numbers = [str(chance.randrange(10_000)) for _ in range(400)]
    log = tmp_path / "steps.strace"
    done = subprocess.run(
        ["strace", "-f", "-o", log, sys.executable, "-I", "-S", STEPS, tmp_path, *numbers],
        check=False,
        capture_output=True,
        text=True,
    )
    if "ptrace" in done.stderr:
        pytest.skip(done.stderr)
    assert done.returncode == 0, done.stderr
    rows = truth.read_rows(log).filter(kind="syscall")
    differences, asked = held_and_told(rows)
    assert differences == []
    assert asked > 40
