"""The table of memory, made slowly and plainly, to compare the fold with.

An address space is a dictionary of pages; what a child did before the log has the call that made
it is replayed after that call.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from support.reference.calls import EXECS, FORKS, Row
from support.reference.processes import slow_kind

PAGE = 4096
KINDS = ("anon", "file", "shm")
MEMBERS = {"0": "file", "1": "anon", "3": "shm"}
MEMBERS |= {"MM_FILEPAGES": "file", "MM_ANONPAGES": "anon", "MM_SHMEMPAGES": "shm"}
Numbers = tuple[int, int, int]


@dataclass
class Space:
    """What is mapped: by page, its kind, and whether it may be written to."""

    pages: dict[int, tuple[str, bool]] = field(default_factory=dict)
    heap: tuple[int, int] | None = None

    def copy(self) -> Space:
        return Space(dict(self.pages), self.heap)

    def numbers(self) -> Numbers:
        sums = dict.fromkeys((*KINDS, "device"), 0)
        for kind, writable in self.pages.values():
            if kind != "anon" or writable:
                sums[kind] += PAGE
        if self.heap:
            sums["anon"] += self.heap[1] - self.heap[0]
        return sums["anon"], sums["file"], sums["shm"]

    def change(self, row: Row) -> None:
        args = [part.strip() for part in row["args"].split(",")]
        value = [int(arg, 0) if re.fullmatch(r"0x[0-9a-f]+|\d+", arg) else 0 for arg in args]
        if row["name"] == "brk":
            start = min(self.heap[0] if self.heap else row["ret"], row["ret"])
            self.heap = (start, row["ret"])
        elif row["name"] == "mmap":
            pages = dict.fromkeys(span(row["ret"], value[1]), kind_of(row, args[3]))
            self.pages |= {page: (kind, "WRITE" in args[2]) for page, kind in pages.items()}
        else:
            self._unmap(row, args, value)

    def _unmap(self, row: Row, args: list[str], value: list[int]) -> None:
        """Take pages away, and put them where the call puts them."""
        old = [(page, self.pages.pop(page, None)) for page in span(value[0], value[1])]
        was = [(page, one) for page, one in old if one]
        if row["name"] == "mprotect":
            self.pages |= {page: (kind, "WRITE" in args[2]) for page, (kind, _) in was}
        elif row["name"] == "mremap" and was:
            self.pages |= dict.fromkeys(span(row["ret"], value[2]), was[0][1])


def span(start: int, length: int) -> range:
    """Give the pages of a range."""
    return range(start // PAGE, start // PAGE + -(-length // PAGE))


def kind_of(row: Row, flags: str) -> str:
    """Say what a call of mmap maps."""
    if "MAP_ANONYMOUS" in flags or row["fd"] == -1:
        return "anon" if "MAP_PRIVATE" in flags else "shm"
    path = row["path"] or ""
    if path.startswith(("/dev/shm/", "/memfd:", "/dev/zero", "/SYSV")):
        return "shm"
    return "device" if path.startswith("/dev/") else "file"


@dataclass
class Process:
    """A process that lives."""

    task: int
    pid: int | None = None
    image: str | None = None
    # Its own, the task of the one that has it, or neither.
    space: Space | None = None
    shared_with: int | None = None
    # Not yet known where it comes from; what it did meanwhile.
    unborn: bool = True
    waiting: list[Row] = field(default_factory=list)
    seen: bool = False
    ended: bool = False
    mm: str | None = None
    shown: Numbers = (0, 0, 0)


class Log:
    """The processes of one log."""

    def __init__(self, out: list[dict]) -> None:
        self.out = out
        self.processes: dict[int, Process] = {}
        self.leaders: dict[int, int] = {}
        self.mms: dict[str, dict[str, int]] = {}
        self.owners: dict[str, Process] = {}

    def show(self, row: Row, process: Process, numbers: Numbers | None, source: str) -> None:
        if numbers is None or numbers == process.shown:
            return
        process.shown = numbers
        values = dict(zip((f"{kind}_bytes" for kind in KINDS), numbers, strict=True))
        self.out.append(
            {
                "source": row["source"],
                "ts": row["ts"],
                "task": process.task,
                "pid": process.pid,
                "image": process.image,
                **values,
                "from": source,
            }
        )

    def mapped(self, row: Row, process: Process) -> None:
        self.show(row, process, process.space and process.space.numbers(), "mappings")

    def of(self, row: Row) -> Process:
        # Threads have the number of their process; its task is that number, too.
        leader = self.leaders.get(row["pid"], row["task"])
        process = self.processes.setdefault(row["pid"], Process(leader))
        process.pid, process.seen = row["pid"], True
        return process

    def take(self, row: Row) -> None:
        if row["task"] is None or row["kind"] is None:
            return
        if row["tid"] == row["pid"]:
            self.leaders[row["pid"]] = row["task"]
        known = self.processes.get(row["task"])
        if known is not None and not known.seen and row["kind"] != "notice":
            known.seen, known.pid = True, row["pid"]
            self.mapped(row, known)
        if row["kind"] == "syscall" and row["status"] != "injected" and row["ret"] is not None:
            self.call(row)
        elif row["kind"] == "exit" and row["tid"] == row["pid"] and row["name"] != "superseded":
            self.end(row, self.of(row))
        elif row["kind"] == "event" and row["name"] == "rss_stat":
            self.rss(row)

    def call(self, row: Row) -> None:
        maps = row["name"] in ("brk", "mmap", "munmap", "mprotect", "mremap")
        if maps and row["cpu"] is None and row["ret"] != -1:
            self.change(row, self.of(row))
        elif row["name"] in FORKS and row["ret"] > 0:
            if row["child"] not in (None, row["task"]):
                self.fork(row, self.of(row))
        elif row["name"] in EXECS and row["ret"] == 0:
            process = self.of(row)
            if row["cpu"] is None:
                process.space, process.shared_with, process.unborn = Space(), None, False
                self.show(row, process, (0, 0, 0), "mappings")
            process.image = row["path"]

    def change(self, row: Row, process: Process) -> None:
        if process.unborn:
            process.waiting.append(row)
            return
        if process.shared_with is not None:
            process = self.processes.get(process.shared_with)
        if process is not None and process.space is not None:
            process.space.change(row)
            self.mapped(row, process)

    def fork(self, row: Row, parent: Process) -> None:
        kind = slow_kind(row["name"], row["args"] or "")
        if kind == "thread":
            return
        child = self.processes.setdefault(row["child"], Process(row["child"]))
        child.image = child.image or parent.image
        if not child.unborn:
            return
        child.unborn = False
        if kind == "fork":
            child.space = parent.space and parent.space.copy()
        elif kind is not None:
            sharing = parent.shared_with
            child.shared_with = parent.task if sharing is None else sharing
        if child.seen:
            self.mapped(row, child)
        for waiting in child.waiting:
            self.change(waiting, child)
        if child.ended:
            self.end(child.waiting[-1] if child.waiting else row, child)

    def end(self, row: Row, process: Process) -> None:
        if process.unborn:
            process.ended = True
            return
        self.show(row, process, (0, 0, 0), "mappings")
        del self.processes[process.task]

    def rss(self, row: Row) -> None:
        found = re.search(r"mm_id=(\d+) curr=(\d) (?:type|member)=(\w+) size=(\d+)B", row["args"])
        mm, own, kind, size = found.groups()
        current = self.of(row) if own == "1" else None
        numbers = self.mms.setdefault(mm, dict.fromkeys(KINDS, 0))
        if kind in MEMBERS:
            numbers[MEMBERS[kind]] = int(size)
        owner = self.owners.get(mm)
        # It has started another program, or has ended.
        if owner is not None and (owner.mm != mm or self.processes.get(owner.task) is not owner):
            owner = self.owners.pop(mm) and None
        if current is not None and (owner is None or owner.ended):
            owner = self.owners[mm] = current
            current.mm = mm
        if owner is not None:
            self.show(row, owner, tuple(numbers.values()), "rss_stat")
        if own == "0" and not any(numbers.values()):
            del self.mms[mm]
            self.owners.pop(mm, None)


def slow_memory(rows: list[Row]) -> list[dict]:
    """Make the table."""
    out: list[dict] = []
    logs: dict[str | None, Log] = {}
    for row in rows:
        logs.setdefault(row["source"], Log(out)).take(row)
    return out
