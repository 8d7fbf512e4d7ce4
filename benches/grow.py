"""Grow a short real log into a long one.

A log is repeated with its pids and times shifted, so that each copy is about other tasks at a later
time. Tasks end in each copy as they ended when it was recorded: what is live at any moment does
not grow with the length, as in a real long log. What a copy leaves alone are the paths, the data
and the durations: a grown log has no more distinct files than the log it grew from.

The text between two things that change is kept as one piece, and a copy is one join of the kept
pieces with a table of the changed ones: a gigabyte takes seconds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

PID_MAX = 4_194_304
"""Where Linux starts again with small pids on a 64-bit machine."""

PID_MIN = 300
"""Where it starts again: smaller ones belong to the system."""

STRACE_LINE = re.compile(rb"(\d+) +(\d+)(\.\d{6} .*\n)")
"""Pid, seconds and the rest, of a line written with ``-f -ttt -o``."""

FTRACE_LINE = re.compile(rb"(.{16,}?)-(\d+) +(\[\d+\] \S+)( +\d+)(\.\d{6,9}: .*\n)")
"""Command, pid, processor and flags, seconds and the rest, of a line of tracefs text."""

CALLS_WITH_PIDS = (
    rb"(?:clone3?|v?fork|wait4|waitid|t?g?kill|get[pt]id|getppid|[gs]etpgid|[gs]etsid|getpgrp"
    rb"|set_tid_address|prlimit64|pidfd_open|sched_\w+)\b"
)

STRACE_WITH_PIDS = re.compile(
    rb"\.\d+ (?:<\.\.\. )?(?:" + CALLS_WITH_PIDS + rb"|--- SIG|\+\+\+ superseded)"
)
"""Lines whose text may name a task by number, apart from the line's own pid."""

FTRACE_WITH_PIDS = re.compile(rb"\.\d+: (?:sched_|signal_|task_|sys_" + CALLS_WITH_PIDS + rb")")

NUMBER = re.compile(rb"(?<![\w.])\d+(?![\w.])")
PID_FIELD = re.compile(rb"(?<=pid=)\d+|(?<=0x)[0-9a-f]+")
BORN_OR_DEAD = re.compile(rb"child_pid=(\d+)|sched_process_exit: comm=.* pid=(\d+) ")


class LogError(ValueError):
    """A log that cannot be grown: its lines do not have the expected layout."""


@dataclass
class Shift:
    """What one copy changes: seconds added to every time stamp, new numbers of the tasks."""

    seconds: int
    pids: dict[int, int]

    def pid(self, old: int) -> int:
        """Return the number of a task in this copy."""
        return self.pids.get(old, old)


Piece = Callable[[Shift], bytes]


@dataclass
class Template:
    """A log cut into what every copy repeats and what each copy changes.

    Attributes
    ----------
    head
        Lines that come only before the first copy.
    tasks
        The task numbers to be changed.
    span
        Whole seconds from the start of one copy to the start of the next.
    pieces
        The distinct changing pieces.
    changed
        Indices into `pieces`, in the order of the text.
    kept
        The unchanging text after each of `changed`.
    """

    head: bytes = b""
    tasks: frozenset[int] = frozenset()
    span: int = 1
    pieces: list[Piece] = field(default_factory=list)
    changed: list[int] = field(default_factory=list)
    kept: list[bytes] = field(default_factory=list)
    _known: dict[tuple[object, ...], int] = field(default_factory=dict)

    def add(self, key: tuple[object, ...], piece: Callable[[], Piece], kept: bytes) -> None:
        """Append a changing piece, made by `piece` if its `key` is new, and what follows."""
        index = self._known.get(key)
        if index is None:
            index = self._known[key] = len(self.pieces)
            self.pieces.append(piece())
        self.changed.append(index)
        self.kept.append(kept)

    def add_line(
        self,
        key: tuple[object, ...],
        leader: Callable[[], Piece],
        text: bytes,
        pids: Iterator[tuple[int, int, int, bytes]],
    ) -> None:
        """Append a line: its leader, then its text cut at the numbers that name tasks."""
        last = 0
        for start, end, pid, form in pids:
            if pid in self.tasks:
                self.add(key, leader, text[last:start])
                key, leader, last = (pid, form), partial(pid_in_text, pid, form), end
        self.add(key, leader, text[last:])

    def copy(self, number: int) -> bytes:
        """Return the text of one copy; number 0 is the log itself, without its head."""
        count = len(self.tasks)
        first = min(self.tasks, default=PID_MIN) - PID_MIN + number * count
        pids = {
            old: PID_MIN + (first + rank) % (PID_MAX - PID_MIN)
            for rank, old in enumerate(sorted(self.tasks))
        }
        shift = Shift(number * self.span, pids if number else {})
        table = [piece(shift) for piece in self.pieces]
        text = [b""] * (2 * len(self.kept))
        text[0::2] = map(table.__getitem__, self.changed)
        text[1::2] = self.kept
        return b"".join(text)


def strace_leader(pid: int, seconds: int) -> Piece:
    """Return the start of a line of strace: the pid, padded as strace does it, and seconds."""
    return lambda shift: b"%-5d %d" % (shift.pid(pid), seconds + shift.seconds)


def ftrace_leader(comm: bytes, pid: int, place: bytes, seconds: int, width: int) -> Piece:
    """Return the start of a line of tracefs text, its columns as wide as the kernel's."""
    return lambda shift: (
        b"%b-%-7d %b%*d"
        % (
            comm,
            shift.pid(pid),
            place,
            width,
            seconds + shift.seconds,
        )
    )


def pid_in_text(pid: int, form: bytes) -> Piece:
    """Return a task number inside a line's text, in decimal or hexadecimal."""
    return lambda shift: form % shift.pid(pid)


def strace_pids(text: bytes) -> Iterator[tuple[int, int, int, bytes]]:
    """Yield start, end, value and form of each number in a line of strace that may be a task."""
    if STRACE_WITH_PIDS.match(text):
        for number in NUMBER.finditer(text):
            yield number.start(), number.end(), int(number[0]), b"%d"


def ftrace_pids(text: bytes) -> Iterator[tuple[int, int, int, bytes]]:
    """Yield the same of a line of tracefs text: fields of events, arguments, results."""
    if FTRACE_WITH_PIDS.match(text):
        for number in PID_FIELD.finditer(text):
            if text[number.start() - 2 : number.start()] == b"0x":
                yield number.start(), number.end(), int(number[0], 16), b"%x"
            else:
                yield number.start(), number.end(), int(number[0]), b"%d"


def strace_template(lines: list[bytes]) -> Template:
    """Cut a log of ``strace -f -ttt -o`` into a template; every task in it is renumbered."""
    matches = [match for match in map(STRACE_LINE.fullmatch, lines) if match]
    if len(matches) < len(lines) or not matches:
        raise LogError("not a log of `strace -f -ttt -o`: some lines have no pid and time stamp")
    template = Template(tasks=frozenset(int(match[1]) for match in matches))
    template.span = int(matches[-1][2]) - int(matches[0][2]) + 1
    for match in matches:
        pid, seconds, text = int(match[1]), int(match[2]), match[3]
        leader = partial(strace_leader, pid, seconds)
        template.add_line((pid, seconds, b""), leader, text, strace_pids(text))
    return template


def ftrace_template(lines: list[bytes]) -> Template:
    """Cut tracefs text into a template.

    Only tasks whose birth or end the log shows are renumbered: the others, idle and kernel threads
    and the caller's shell, are the same ones in every copy, since nothing ever ends them.
    """
    head = sum(1 for line in lines if line.startswith(b"#"))
    matches = [match for match in map(FTRACE_LINE.fullmatch, lines[head:]) if match]
    if head + len(matches) < len(lines) or not matches:
        raise LogError("not tracefs text in the default layout, or with lines of other kinds")
    found = (BORN_OR_DEAD.search(line) for line in lines[head:])
    tasks = frozenset(int(match[1] or match[2]) for match in found if match)
    template = Template(head=b"".join(lines[:head]), tasks=tasks)
    template.span = int(matches[-1][4]) - int(matches[0][4]) + 1
    for match in matches:
        comm, pid, place, seconds, text = match.groups()
        leader = partial(ftrace_leader, comm, int(pid), place, int(seconds), len(seconds))
        template.add_line((comm, pid, place, seconds), leader, text, ftrace_pids(text))
    return template


def grow(base: bytes, kind: str, size: int, target: Path) -> int:
    """Write a log of a chosen length, grown from a shorter one or cut from a longer one.

    Parameters
    ----------
    base
        The log to grow, whole lines.
    kind
        ``"strace"`` or ``"ftrace"``.
    size
        Bytes to write. The last line is cut off where it would pass them, so the log can be
        shorter than this by less than a line.
    target
        File to write.

    Returns
    -------
    int
        How many copies were begun.

    Raises
    ------
    LogError
        If `base` is not a log of that kind in the layout that can be grown.
    """
    make = strace_template if kind == "strace" else ftrace_template
    template = make(base.splitlines(keepends=True))
    copies = 0
    with target.open("wb") as file:
        file.write(template.head)
        left = size - len(template.head)
        while left > 0:
            text = template.copy(copies)
            copies += 1
            if len(text) > left:
                text = text[: text.rfind(b"\n", 0, left) + 1]
                left = 0
            file.write(text)
            left -= len(text)
    return copies
