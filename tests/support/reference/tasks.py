"""Tasks, processes and births, with all rows about them: parts of the slow table."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise

from support.reference.calls import CLONE3, EXECS, EXITS, FORKS, Row

MAKERS = FORKS | CLONE3
VM, VFORK, THREAD = 0x100, 0x4000, 0x10000
BITS = {"CLONE_VM": VM, "CLONE_VFORK": VFORK, "CLONE_THREAD": THREAD}


@dataclass(eq=False)
class Life:
    """A task."""

    number: int | None = None
    rows: list[tuple[int, Row]] = field(default_factory=list)
    pid_use: Pid | None = None
    birth: Birth | None = None
    known_at: float = 0
    collected: int | None = None
    signal: tuple[int | None, int | None] | None = None
    attempts: list[Birth] = field(default_factory=list)
    made: Birth | None = None
    announced: Birth | None = None

    @property
    def calls(self) -> list[tuple[int, Row]]:
        """Its calls, without the one that made it."""
        return [(i, r) for i, r in self.rows if r["kind"] == "syscall" and not returns(r)]

    @property
    def first(self) -> int | None:
        return min((r["ts"] for _, r in self.rows if r["ts"] is not None), default=None)

    @property
    def start(self) -> int | None:
        back = [r["ts"] for _, r in self.rows if r["kind"] == "syscall" and returns(r)]
        return min((ts for ts in back if ts is not None), default=self.first)

    @property
    def end(self) -> int | None:
        lines = [r["ts"] for _, r in self.rows if r["kind"] == "exit" and r["ts"] is not None]
        events = [r["ts"] for _, r in self.rows if is_event(r, "sched_process_exit")]
        return max(lines, default=max((e for e in events if e is not None), default=None))

    @property
    def ends(self) -> list[int]:
        """Its rows that report its end."""
        over = "sched_process_exit"
        return [i for i, r in self.rows if r["kind"] == "exit" or is_event(r, over)]

    @property
    def exec(self) -> tuple[int, Row] | None:
        return next(((i, r) for i, r in self.rows if starts(r)), None)


@dataclass(eq=False)
class Pid:
    """A use of a process id."""

    anon: int | None = None
    made: Birth | None = None


@dataclass(eq=False)
class Birth:
    """A call that makes a task, or events that report one."""

    at: int
    ts: int | None
    line: int | None
    caller: Life | None
    rows: list[Row] = field(default_factory=list)
    reported: Row | None = None
    flags: int | None = None
    events: set[str] = field(default_factory=set)
    child: Life | None = None
    child_pid: int | None = None
    anon: int | None = None
    reads: list[Row] | None = None

    @property
    def last(self) -> Row:
        return self.rows[-1] if self.rows else self.reported

    @property
    def kind(self) -> str | None:
        name = self.name or ""
        kind = kind_of_call(name, self.rows[-1]["args"]) if self.rows else None
        if kind is None and self.flags is not None:
            kind = by_flags(name, self.flags, None)
        return kind

    @property
    def name(self) -> str | None:
        name = self.rows[-1]["name"] if self.rows else None
        return "clone3" if name in CLONE3 else name

    @property
    def guessed_kind(self) -> str | None:
        """Guess the kind by the calls of the child, if nothing else shows it."""
        child = self.child
        if child is None or self.name != "clone3":
            return None
        tried = any(took_place(r) and r["name"] in EXECS and r["errno"] for _, r in child.rows)
        first = [row["name"] for _, row in child.calls][:2]
        return "thread" if "set_robust_list" in first and not tried else None


def returns(row: Row) -> bool:
    return row["name"] in MAKERS and row["ret"] == 0


def is_event(row: Row, name: str) -> bool:
    return row["kind"] == "event" and row["name"] == name


def is_end(row: Row) -> bool:
    return row["kind"] == "exit" or is_event(row, "sched_process_exit")


def took_place(row: Row) -> bool:
    return row["kind"] == "syscall" and row["status"] != "injected"


def starts(row: Row) -> bool:
    done = row["errno"] is None and row["ret"] == 0
    return took_place(row) and row["name"] in EXECS and done


def by_flags(name: str, flags: int, stack: bool | None) -> str:
    if name in ("fork", "vfork"):
        return name
    if flags & THREAD:
        return "thread"
    if not flags & VM:
        return "fork"
    if not flags & VFORK:
        return "shared"
    own = stack if stack is not None else name == "clone3"
    return "posix_spawn" if own else "vfork"


def kind_of_call(name: str, args: str | None) -> str | None:
    args = args or ""
    if name in ("fork", "vfork"):
        return name
    if found := re.search(r"clone_flags: (?:0x)?([0-9a-f]+)", args):
        stack = re.search(r"newsp: (?:0x)?([0-9a-f]+)", args)
        return by_flags(name, int(found[1], 16), stack and int(stack[1], 16) != 0)
    if found := re.search(r"\bflags=([A-Z_|0-9a-fx]+)", args):
        words = found[1].split("|")
        flags = sum(BITS.get(word, 0) for word in words)
        stack = re.search(r"stack=(\w+)", args)
        return by_flags(name, flags, stack and stack[1] != "NULL")
    if name == "clone" and (found := re.match(r"(?:0x)?([0-9a-f]+), (?:0x)?([0-9a-f]+)", args)):
        return by_flags(name, int(found[1], 16), int(found[2], 16) != 0)
    return None


def same_call(a: str, b: str) -> bool:
    return a == b or {a, b} <= CLONE3


def at_least(a: int | None, b: int | None) -> bool:
    return b is None or (a is not None and a >= b)


def less(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else a - b


def asked_status(row: Row) -> int | None:
    if row["name"] not in EXITS:
        return None
    args = row["args"] or ""
    if found := re.match(r"error_code: (?:0x)?([0-9a-f]+)", args):
        return int(found[1], 16) & 0xFF
    return int(found[0]) & 0xFF if (found := re.match(r"-?\d+", args)) else None


def gaps(rows: object) -> list[int]:
    times = [row["ts"] for row in rows if row["ts"] is not None]
    return [b - a for a, b in pairwise(times) if b >= a]


def rank(values: list[int], percent: int) -> int:
    """Nearest rank, rounded down to five binary digits."""
    value = sorted(values)[max(-(-len(values) * percent // 100), 1) - 1]
    shift = max(value.bit_length() - 5, 0)
    return value >> shift << shift


def end_of(row: Row) -> int | None:
    return None if None in (row["ts"], row["dur_ns"]) else row["ts"] + row["dur_ns"]
