"""The table of processes, made slowly and plainly, to compare the fold with.

All rows are in a list; every question is answered by looking through all of it again.
"""

from __future__ import annotations

import codecs
import math
import re
from dataclasses import dataclass, field

from support.reference.calls import (
    EXECS,
    EXITS,
    FORKS,
    NUMBERED_CLONE3,
    WAITS,
    WAITS_FOR_CHILD,
    Row,
    is_call,
)
from support.reference.syscalls import somebody_writes, waited_long

READS = {"read", "readv", "pread64", "pread", "preadv", "preadv2"}
READS |= {"recv", "recvfrom", "recvmsg", "recvmmsg", "recvmmsg_time64"}
READS |= {"mq_timedreceive", "mq_timedreceive_time64"}
WRITES = {"write", "writev", "pwrite64", "pwrite", "pwritev", "pwritev2"}
WRITES |= {"send", "sendto", "sendmsg", "sendmmsg", "vmsplice"}
WRITES |= {"mq_timedsend", "mq_timedsend_time64"}
TRANSFERS = {"sendfile", "sendfile64", "splice", "copy_file_range", "tee"}
SYNCS = {
    *("fsync", "fdatasync", "sync", "syncfs", "msync", "sync_file_range", "sync_file_range2"),
    *("arm_sync_file_range", "io_submit", "io_getevents", "io_pgetevents"),
    "io_pgetevents_time64",
}


def slow_kind(name: str, args: str) -> str | None:
    """Classify a creation by its name and the flags in its arguments."""
    if name in ("fork", "vfork"):
        return name
    # Where a comment names the flags after a number, the number is enough.
    plain = re.sub(r" /\*.*?\*/", "", args)
    flags = 0
    if found := re.search(r"clone_flags[:=] ?(?:0x)?([0-9a-f]+)\b", plain):
        flags = int(found[1], 16)
    elif found := re.search(r"flags=([A-Za-z0-9_|]+)", plain):
        bits = {"CLONE_VM": 0x100, "CLONE_VFORK": 0x4000, "CLONE_THREAD": 0x10000}
        for word in found[1].split("|"):
            flags |= int(word, 0) if word[0].isdigit() else bits.get(word, 0)
    elif name != "clone3" and (found := re.match(r"(?:0x)?([0-9a-f]+)\b", plain)):
        flags = int(found[1], 16)
    else:
        return None
    stack = re.search(r"(?:stack=|newsp: |^(?:0x)?[0-9a-f]+, )(NULL|(?:0x)?[0-9a-f]+)", plain)
    own = name == "clone3" if stack is None else stack[1] not in ("NULL", "0", "0x0")
    if flags & 0x10000:
        return "thread"
    if not flags & 0x100:
        return "fork"
    if not flags & 0x4000:
        return "shared"
    return "posix_spawn" if own else "vfork"


def spent(row: Row) -> str | None:
    """Say what the time in a call was: io, wait, or other work."""
    name = row["name"]
    if name in WAITS or waited_long(row):
        return "wait"
    if name in READS | TRANSFERS:
        return "wait" if somebody_writes(row["file_type"], row["path"]) else "io"
    return "io" if name in WRITES | SYNCS else None


_STRING = r'"((?:[^"\\]|\\.)*)"(\.\.\.)?'


def slow_argv(args: str | None) -> list[str] | None:
    """Read the list of arguments after the path of execve or execveat."""
    found = re.match(rf"(?:[^\"]*, )?{_STRING}, (\[.*|NULL.*)", args or "")
    if found is None:
        return None
    rest, argv = found[3].removeprefix("["), []
    while text := re.match(_STRING, rest):
        # The escapes of strace are those of C, of which Python has all.
        argv.append(codecs.escape_decode(text[1])[0].decode() + (text[2] or ""))
        rest = rest[text.end() :]
        if not rest.startswith(", "):
            break
        rest = rest[2:]
    whole = rest.startswith(("]", "NULL"))
    return argv if whole else [*argv, "..."]


@dataclass
class Task:
    """A task, and the numbers of its rows."""

    source: str | None
    task: int
    first: int
    rows: list[int] = field(default_factory=list)
    tid: int | None = None
    pid: int | None = None
    # The row that reports its creation, the key of its maker, and the kind.
    birth: tuple[int, tuple, str | None] | None = None
    guardian: tuple | None = None
    reported: tuple[str, object] | None = None
    process: Process | None = None


@dataclass
class Process:
    """A process in the making."""

    root: Task
    led: bool
    # The last one: another thread may take the place of the first by execve.
    leader: Task
    members: list[Task] = field(default_factory=list)
    parent: Process | None = None


class Log:
    """All rows, and who is in them."""

    def __init__(self, rows: list[Row]) -> None:
        self.rows = [row for row in rows if row["task"] is not None and row["kind"] is not None]
        self.tasks: dict[tuple, Task] = {}
        self.processes: list[Process] = []
        self._read()
        self._group()

    def _read(self) -> None:
        by_tid: dict[tuple, tuple] = {}
        expected: dict[tuple, tuple[int, tuple, str | None]] = {}
        for at, row in enumerate(self.rows):
            if row["kind"] == "notice":
                continue
            source, key = row["source"], (row["source"], row["task"])
            task = self.tasks.setdefault(key, Task(*key, at))
            if not task.rows:
                task.pid = None
                task.tid = task.tid if row["tid"] is None else row["tid"]
                if task.tid is not None:
                    by_tid[source, task.tid] = key
                    reported = expected.pop((source, task.tid), None)
                    task.birth = task.birth or reported
            # Null while the log does not say whose child it is.
            task.pid = row["pid"] if task.pid is None else task.pid
            task.rows.append(at)
            self._event(at, row, key, expected)
            if is_call(row) and row["name"] in FORKS and row["status"] != "injected":
                self._fork(at, row, key, by_tid, expected)
            if is_call(row) and row["name"] in NUMBERED_CLONE3 and row["status"] != "injected":
                self._fork_by_id(at, row, key, by_tid, expected)
            pid, reported = ended_child(row)
            child = by_tid.get((source, pid))
            if pid is not None and child is not None and child != key:
                self.tasks[child].guardian = self.tasks[child].guardian or key
                self.tasks[child].reported = self.tasks[child].reported or reported

    def _event(self, at: int, row: Row, key: tuple, expected: dict) -> None:
        args = row["args"] or ""
        if row["kind"] != "event":
            return
        if row["name"] == "task_newtask" and (found := re.match(r"pid=(\d+)\b", args)):
            kind = slow_kind("task_newtask", args) if "clone_flags=" in args else None
            expected[row["source"], int(found[1])] = (at, key, kind)
        if row["name"] == "sched_process_fork" and (found := re.search(r" child_pid=(\d+)$", args)):
            who = (row["source"], int(found[1]))
            if who not in expected or expected[who][1] != key:
                expected[who] = (at, key, None)

    def _fork(self, at: int, row: Row, key: tuple, by_tid: dict, expected: dict) -> None:
        source = row["source"]
        if row["child"] is None:
            kind = slow_kind(row["name"], row["args"] or "")
            self._fork_by_id(at, row, key, by_tid, expected, kind)
            return
        if row["child"] == row["task"]:
            return
        child = (source, row["child"])
        task = self.tasks.setdefault(child, Task(*child, at))
        if not task.rows:
            task.tid = task.pid = row["ret"]
            if row["ret"] is not None:
                by_tid[source, row["ret"]] = child
                reported = expected.pop((source, row["ret"]), None)
                task.birth = task.birth or reported
        if task.birth is not None and self.rows[task.birth[0]]["kind"] == "syscall":
            return
        kind = slow_kind(row["name"], row["args"] or "")
        if kind is None and task.birth is not None:
            kind = task.birth[2]
            if kind == "vfork" and row["name"] == "clone3":
                kind = "posix_spawn"
        task.birth = (at, key, kind)

    def _fork_by_id(
        self, at: int, row: Row, key: tuple, by_tid: dict, expected: dict, kind: str | None = None
    ) -> None:
        if row["ret"] is None or row["ret"] <= 0:
            return
        birth = (at, key, kind)
        child = self.tasks.get(by_tid.get((row["source"], row["ret"])))
        fits = child is not None and (child.source, child.task) != key and child.birth is None
        # Who began before the call is one of the same number that is gone.
        starts = [r["ts"] for r in self._of(child) if r["ts"] is not None] if fits else []
        if fits and (row["ts"] is None or min(starts, default=row["ts"]) >= row["ts"]):
            child.birth = birth
        else:
            expected[row["source"], row["ret"]] = birth

    def _group(self) -> None:
        current: dict[tuple, Process] = {}
        ordered = sorted(self.tasks.values(), key=lambda task: task.first)
        for task in ordered:
            if self._root(task) is not task:
                continue
            known = self.shown_kind(task) is not None
            if task.tid == 0 or not (task.rows or known or task.guardian):
                continue
            task.process = self._process(task, current)
        for task in ordered:
            task.process = self._root(task).process
            if task.process is not None:
                task.process.members.append(task)
        for process in self.processes:
            root = process.root
            maker = root.birth[1] if root.birth else root.guardian
            parent = self.tasks[maker].process if maker else None
            process.parent = None if parent is process else parent
        for process in self.processes:
            # The first one of a circle was created by none of the others.
            if id(process) in ancestors(process):
                process.parent = None

    def _process(self, task: Task, current: dict[tuple, Process]) -> Process:
        """Give the process of a task that is no thread of a known one; perhaps a new process."""
        leads = None in (task.pid, task.tid) or task.tid == task.pid
        key = (task.source, task.pid)
        process = current.get(key) if task.pid is not None and not task.birth else None
        if process is not None and leads and not process.led:
            process.root, process.leader, process.led = task, task, True
            return process
        if process is not None and leads and self._vacant(process, task):
            process.leader = task
            return process
        if process is not None and not leads and not self._over(process, task.first):
            return process
        process = Process(task, leads, task)
        self.processes.append(process)
        if task.pid is not None:
            current[key] = process
        return process

    def _root(self, task: Task) -> Task:
        if task.birth is None:
            return task
        maker = self.tasks[task.birth[1]]
        thread = task.birth[2] == "thread"
        if task.birth[2] is None and task.rows:
            thread = task.pid is not None and task.tid != task.pid and task.pid == maker.pid
        if self._by_clone3(task) and not thread:
            thread = task.guardian is None and not self._started_alone(task)
        return self._root(maker) if thread else task

    def _started_alone(self, task: Task) -> list[int]:
        """Give the rows in which a task started a program, not as a thread of a process."""
        return [at for at, _ in self.started(task) if self.rows[at]["tid"] == task.tid]

    def _by_clone3(self, task: Task) -> bool:
        """Say whether clone3 made a task, and its flags are not known."""
        if task.birth is None or task.birth[2] is not None:
            return False
        row = self.rows[task.birth[0]]
        return row["kind"] == "syscall" and row["name"] in NUMBERED_CLONE3 | {"clone3"}

    def _over(self, process: Process, at: int) -> bool:
        ends = [row for row in self._of(process.leader) if row["kind"] == "exit"]
        if not process.led or not ends or ends[-1]["name"] == "superseded":
            return False
        return max(i for i in process.leader.rows if self.rows[i]["kind"] == "exit") < at

    def _vacant(self, process: Process, task: Task) -> bool:
        """Say whether a thread took the leader's place before a task, but is not known yet."""
        end = self._ends(process.leader)
        if end is None or end[1]["name"] != "superseded" or end[0] > task.first:
            return False
        threads = [t for t in self.tasks.values() if (t.source, t.pid) == (task.source, task.pid)]
        taken = [at for t in threads for at, _ in self.started(t) if self.rows[at]["tid"] != t.tid]
        return not any(end[0] < at < task.first for at in taken)

    def _of(self, task: Task) -> list[Row]:
        return [self.rows[at] for at in task.rows]

    def execs(self, process: Process) -> list[tuple[int, Task, str | None]]:
        """Give the programs that a process started: row, task, path."""
        found = [(at, t, path) for t in process.members for at, path in self.started(t)]
        return sorted(found, key=lambda one: one[0])

    def started(self, task: Task) -> list[tuple[int, str | None]]:
        """Give the programs that a task started: row, path."""
        found = []
        reported = False
        for at in task.rows:
            row = self.rows[at]
            if row["kind"] == "event" and row["name"] == "sched_process_exec":
                path = re.match(r"filename=(.*) pid=", row["args"] or "")
                found.append((at, path and path[1]))
                reported = True
            if is_call(row) and row["name"] in EXECS and row["status"] != "injected":
                if row["ret"] == 0 and not reported:
                    found.append((at, row["path"]))
                reported = False
        return found

    def argv(self, process: Process) -> list[str] | None:
        """Give the arguments of the program that a process ran last."""
        seen: list[Process] = []
        before = math.inf
        while not any(process is one for one in seen):
            execs = [one for one in self.execs(process) if one[0] < before]
            if execs:
                at, task, _ = execs[-1]
                call = self.call_of(task, at)
                return None if call is None else slow_argv(call["args"])
            if process.root.birth is None or process.parent is None:
                return None
            seen.append(process)
            before, process = process.root.birth[0], process.parent
        return None

    def call_of(self, task: Task, at: int) -> Row | None:
        """Give the call of a program's start, which an event may have reported before."""
        if is_call(self.rows[at]):
            return self.rows[at]
        for later in task.rows[task.rows.index(at) + 1 :]:
            row = self.rows[later]
            if row["kind"] == "event" and row["name"] == "sched_process_exec":
                return None
            if is_call(row) and row["name"] in EXECS and row["status"] != "injected":
                return row if row["ret"] == 0 else None
        return None

    def image(self, process: Process, before: float = math.inf) -> str | None:
        """Give the program that a process ran last, or before a row."""
        if execs := [one for one in self.execs(process) if one[0] < before]:
            return execs[-1][2]
        seen = [process]
        while process.root.birth is not None and process.parent is not None:
            before = [e for e in self.execs(process.parent) if e[0] < process.root.birth[0]]
            if before:
                return before[-1][2]
            process = process.parent
            if any(process is one for one in seen):
                return None
            seen.append(process)
        return None

    def row(self, process: Process) -> Row:
        """Give the row of the table."""
        rows = [self.rows[at] for task in process.members for at in task.rows]
        execs = self.execs(process)
        leader = self._leader(process)
        calls = [row for row in rows if is_call(row)]
        moved = [row for row in rows if is_call(row) or row["kind"] == "aio"]
        starts = [row["ts"] for row in rows if row["ts"] is not None]
        start = min(starts, default=None)
        if start is None and process.root.birth:
            start = self.rows[process.root.birth[0]]["ts"]
        end = self._end(process, leader)
        how, outcome = self.outcome(process) or (None, None)
        parent = process.parent
        return {
            "source": process.root.source,
            "task": process.root.task,
            "pid": process.root.pid,
            "parent_task": parent and parent.root.task,
            "ppid": parent and parent.root.pid,
            "image": self.image(process),
            "images": [path for _, _, path in execs],
            "argv": self.argv(process),
            "comm": self.name(process),
            "kind": self.shown_kind(process.root),
            "ts_start": start,
            "ts_end": end,
            "lifetime_ns": None if None in (start, end) else end - start,
            "threads": len(process.members),
            "children": sum(other.parent is process for other in self.processes),
            "calls": len(calls),
            "io_ns": total(calls, "io"),
            "wait_ns": total(calls, "wait"),
            "read_bytes": sum(r["bytes"] or 0 for r in moved if r["name"] in READS | TRANSFERS),
            "write_bytes": sum(r["bytes"] or 0 for r in moved if r["name"] in WRITES | TRANSFERS),
            "exit_status": outcome if how == "status" else None,
            "exit_signal": outcome if how == "signal" else None,
        }

    def shown_kind(self, task: Task) -> str | None:
        """Give the kind by the flags, or else by what the task did."""
        if task.birth is None or task.birth[2] is not None:
            return task.birth and task.birth[2]
        maker = self.tasks[task.birth[1]]
        if task.rows and task.pid is not None and task.tid != task.pid == maker.pid:
            return "thread"
        alone = self._started_alone(task)
        if not self._by_clone3(task) or not (alone or task.guardian):
            return None
        # Its creator waits until a child of posix_spawn has started its program.
        row = self.rows[task.birth[0]]
        entered = self._entered(task, alone[0]) if alone else None
        if None in (row["ts"], row["dur_ns"], entered) or entered <= row["ts"] + row["dur_ns"]:
            return "posix_spawn"
        return "fork"

    def _entered(self, task: Task, at: int) -> int | None:
        """Give the time at which the call was entered that started a program."""
        if is_call(self.rows[at]):
            return self.rows[at]["ts"]
        # An event reported it; the next call of execve is its own.
        for later in task.rows[task.rows.index(at) + 1 :]:
            row = self.rows[later]
            if row["kind"] == "event" and row["name"] == "sched_process_exec":
                return None
            if is_call(row) and row["name"] in EXECS and row["status"] != "injected":
                return row["ts"] if row["ret"] == 0 else None
        return None

    def name(self, process: Process) -> str | None:
        """Give the last name of a process's leader, else of its first thread that has one."""
        leader = self._leader(process)
        return self.last_name(([leader] if leader else []) + process.members)

    def last_name(self, tasks: list[Task]) -> str | None:
        """Give the last name of the first of some tasks that has one."""
        for task in tasks:
            names = [row["comm"] for row in self._of(task) if row["comm"] is not None]
            if names:
                return names[-1]
        return None

    def _leader(self, process: Process) -> Task | None:
        execs = self.execs(process)
        return execs[-1][1] if execs else process.root if process.led else None

    def _ends(self, task: Task) -> tuple[int, Row] | None:
        """Give the end of a task: the last one that the tracer reports, else the first event."""
        reported = [at for at in task.rows if self.rows[at]["kind"] == "exit"]
        events = [at for at in task.rows if is_exit_event(self.rows[at])]
        at = reported[-1] if reported else events[0] if events else None
        return None if at is None else (at, self.rows[at])

    def _end(self, process: Process, leader: Task | None) -> int | None:
        if leader is None:
            return None
        ends = [self._ends(task) for task in process.members]
        last = self._ends(leader)
        reported = (
            last is not None and last[1]["kind"] == "exit" and last[1]["name"] != "superseded"
        )
        if not reported and None in ends:
            return None
        times = [end[1]["ts"] for end in ends if end and end[1]["name"] != "superseded"]
        return max((ts for ts in times if ts is not None), default=None)

    def outcome(self, process: Process) -> tuple[str, object] | None:
        """Say how a process ended."""
        leader = self._leader(process)

        def of(end: tuple[int, Row] | None) -> tuple[str, object] | None:
            if end is None or end[1]["kind"] != "exit":
                return None
            if end[1]["name"] == "exited":
                return None if end[1]["ret"] is None else ("status", end[1]["ret"])
            return ("signal", end[1]["name"]) if end[1]["name"].startswith("SIG") else None

        ends = [end for task in process.members if (end := self._ends(task)) and of(end)]
        left = leader and self._asked(leader)
        if left and left[2] == "exit":
            # Threads that outlast the leader; the last one gives the status, since Linux 5.17.
            others = [self._ends(task) for task in process.members if task is not leader]
            later = [end for end in others if of(end) and end[0] > left[0]]
            if later:
                return process.root.reported or of(max(later, key=lambda end: end[0]))
        if leader and (outcome := of(self._ends(leader))):
            return outcome
        if ends:
            return of(max(ends, key=lambda end: end[0]))
        if process.root.reported:
            return process.root.reported
        asked = [(task, *one) for task in process.members if (one := self._asked(task))]
        whole = sorted((at, status) for _, at, status, name in asked if name == "exit_group")
        alone = [(at, status) for task, at, status, _ in asked if task is leader]
        return next((("status", status) for _, status in whole + alone), None)

    def _asked(self, task: Task) -> tuple[int, int, str] | None:
        found = None
        for at in task.rows:
            row = self.rows[at]
            ends = is_call(row) and row["name"] in EXITS
            if (
                ends
                and row["status"] != "injected"
                and (status := exit_code(row["args"] or "")) is not None
            ):
                found = (at, status, row["name"])
        return found


def ancestors(process: Process) -> set[int]:
    """Give the identities of the process that created a process, of the one that created it …."""
    found: set[int] = set()
    parent = process.parent
    while parent is not None and id(parent) not in found:
        found.add(id(parent))
        parent = parent.parent
    return found


def is_exit_event(row: Row) -> bool:
    return row["kind"] == "event" and row["name"] == "sched_process_exit"


def total(calls: list[Row], what: str) -> int | None:
    known = [row["dur_ns"] for row in calls if spent(row) == what]
    reported = [ns for ns in known if ns is not None]
    return None if known and not reported else sum(reported)


def exit_code(args: str) -> int | None:
    if found := re.match(r"(?:error_code: )(?:0x)?([0-9a-f]+)|(?:0x)?([0-9a-f]+),", args):
        return int(found[1] or found[2], 16) & 0xFF
    found = re.match(r"(?:status=)?(-?(?:0x[0-9a-f]+|\d+))\b", args)
    return int(found[1], 0) & 0xFF if found else None


def ended_child(row: Row) -> tuple[int | None, tuple[str, object] | None]:
    """Give the process whose end a SIGCHLD or a wait reports, and how it ended."""
    args = row["args"] or ""
    signal = row["kind"] == "signal" and row["name"] == "SIGCHLD"
    waited = is_call(row) and row["name"] in WAITS_FOR_CHILD and row["status"] != "injected"
    if waited and (row["ret"] or 0) > 0:
        if found := re.search(r"WEXITSTATUS\(s\) == (\d+)", args):
            return row["ret"], ("status", int(found[1]) & 0xFF)
        if found := re.search(r"WTERMSIG\(s\) == (SIG\w+)", args):
            return row["ret"], ("signal", found[1])
    if signal or (waited and row["ret"] == 0):
        found = re.search(r"si_code=CLD_(\w+), si_pid=(\d+).*si_status=(\w+)", args)
        if found and found[1] == "EXITED":
            return int(found[2]), ("status", int(found[3]) & 0xFF)
        if found and found[1] in ("KILLED", "DUMPED"):
            return int(found[2]), ("signal", found[3])
    return None, None


def slow_processes(rows: list[Row]) -> list[Row]:
    """Give the rows of the table, unsorted."""
    log = Log(rows)
    return [log.row(process) for process in log.processes]
