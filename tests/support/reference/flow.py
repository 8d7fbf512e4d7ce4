"""The tables of flow and roles, slowly and plainly, for logs whose files have names; and phases."""

import re
from collections import defaultdict

from support.reference.calls import Row

READS = {"read", "pread64"}
WRITES = {"write", "pwrite64"}
CODE = re.compile(r"\.(py|pyc|pl|js)$")


class File:
    """What is known about a name."""

    def __init__(self):
        self.edges = defaultdict(lambda: [None, 0, None, None])
        self.forget()

    def forget(self):
        """Nothing was done to the file of this name."""
        self.read = self.executed = self.code = self.written = False
        self.ts_written = self.wrote = self.ts_read_after = self.from_path = self.link = None
        self.read_after = self.appends = self.overwrites = self.removed = False

    def reads(self, ofd, ts):
        """It was read."""
        self.read = True
        if self.written and not self.read_after and (ofd is None or ofd != self.wrote):
            self.read_after, self.ts_read_after = True, ts

    def writes(self, ofd, end):
        """It was written."""
        self.written, self.ts_written, self.wrote = True, end, ofd
        self.read_after, self.ts_read_after, self.removed = False, None, False


STATE = (
    *("executed", "code", "written", "ts_written", "wrote", "ts_read_after", "read_after"),
    *("appends", "overwrites"),
)


class Run:
    """All names, and what went from one to another."""

    def __init__(self):
        self.files = defaultdict(File)
        self.names = []

    def file(self, name):
        """Give the file of a name."""
        return self.files[name]

    def edge(self, file, key, ts, end, moved):
        """Add to the edge of a file."""
        add(file.edges[key], ts, end, moved)

    def move(self, old, new):
        """What was done under the old name is of the new one."""
        one, other = self.file(old), self.file(new)
        if one is other:
            return
        for key, (moved, calls, first, last) in one.edges.items():
            into = other.edges[key]
            if moved is not None:
                into[0] = (into[0] or 0) + moved
            into[1] += calls
            into[2] = first if into[2] is None else min(into[2], first)
            into[3] = last if into[3] is None else max(into[3], last)
        one.edges.clear()
        for name in STATE:
            setattr(other, name, getattr(one, name))
        other.read |= one.read
        other.link, other.removed, other.from_path = one.link and other.link, False, old
        one.forget()
        one.removed = True


def add(edge, ts, end, moved):
    """Add a call."""
    if moved is not None:
        edge[0] = (edge[0] or 0) + moved
    edge[1] += 1
    edge[2] = ts if edge[2] is None else min(edge[2], ts)
    edge[3] = end if edge[3] is None else max(edge[3], end)


def run_of(rows):  # noqa: C901, PLR0912, PLR0915 - one branch per call
    """Play the calls of a log."""
    run, between = Run(), defaultdict(lambda: [None, 0, None, None])
    for row in rows:
        name, path, ret, ts = row["name"], row["path"], row["ret"], row["ts"]
        if ret is None or ret == -1:
            continue
        end = ts + (row["dur_ns"] or 0)
        task, ofd, moved, args = row["task"], row["ofd"], row["bytes"] or 0, row["args"]
        if name in READS or name in WRITES:
            file = run.file(path)
            if name in READS:
                file.reads(ofd, ts)
                run.edge(file, ("in", task, "read"), ts, end, moved)
            else:
                if moved > 0:
                    file.writes(ofd, end)
                run.edge(file, ("out", task, "write"), ts, end, moved)
        elif name == "sendfile":
            source, target = run.file(path), run.file(row["path2"])
            source.reads(ofd, ts)
            run.edge(source, ("in", task, "copy"), ts, end, moved)
            if moved > 0:
                target.writes(row["ofd2"], end)
            run.edge(target, ("out", task, "copy"), ts, end, moved)
            if moved > 0 and source is not target and target.from_path is None:
                target.from_path = path
        elif name == "execve":
            file = run.file(path)
            file.executed = True
            file.reads(None, ts)
            run.edge(file, ("in", task, "exec"), ts, end, None)
        elif name == "mmap":
            file = run.file(path)
            file.code |= "PROT_EXEC" in args
            file.reads(ofd, ts)
            run.edge(file, ("in", task, "map"), ts, end, row["requested"])
            if "PROT_WRITE" in args and "MAP_SHARED" in args:
                file.overwrites = True
                file.writes(ofd, end)
                run.edge(file, ("out", task, "map"), ts, end, row["requested"])
        elif name == "openat" and ("O_WRONLY" in args or "O_RDWR" in args):
            file = run.file(path)
            file.appends |= "O_APPEND" in args
            file.overwrites |= "O_APPEND" not in args
            if "O_CREAT" in args and ("O_TRUNC" in args or "O_EXCL" in args):
                file.writes(ofd, end)
                run.edge(file, ("out", task, "create"), ts, end, None)
        elif name == "unlink":
            if path in run.files:
                file = run.file(path)
                if file.link is not None and not run.file(file.link).removed:
                    run.move(path, file.link)
                else:
                    file.removed = True
        elif name == "rename" and path != row["path2"]:
            run.move(path, row["path2"])
            add(between[path, row["path2"], "rename"], ts, end, None)
        elif name == "link" and path != row["path2"]:
            one, other = run.file(path), run.file(row["path2"])
            for state in (*STATE, "read"):
                setattr(other, state, getattr(one, state))
            other.removed, other.from_path, one.link = False, path, row["path2"]
            add(between[path, row["path2"], "link"], ts, end, None)
    return run, between


def slow_flow(rows, process):
    """Give the edges: source, target, way, bytes, calls, first, last."""
    run, between = run_of(rows)
    found = []
    for path, file in run.files.items():
        for (way, task, how), sums in file.edges.items():
            ends = (path, process[task]) if way == "in" else (process[task], path)
            found.append((*ends, how, *sums))
    found += [(*ends, *sums) for ends, sums in between.items()]
    return sorted(found, key=repr)


def slow_roles(rows, process):
    """Give the files: path, role, writers, readers, when written and read after, from, removed."""
    run, _ = run_of(rows)
    found = []
    for path, file in run.files.items():
        role = role_of(path, file)
        if role is None:
            continue
        writers = {process[task] for way, task, _ in file.edges if way == "out"}
        readers = {process[task] for way, task, _ in file.edges if way == "in"}
        times = (file.ts_written, file.ts_read_after)
        lists = (sorted(writers), sorted(readers))
        found.append((path, role, *lists, *times, file.from_path, file.removed))
    return sorted(found, key=repr)


def role_of(path, file):  # noqa: PLR0911 - one line per role
    """Say what a file was for."""
    if file.written:
        if file.read_after:
            return "intermediate"
        if file.removed:
            return "scratch"
        return "log" if file.appends and not file.overwrites else "result"
    if file.executed:
        return "program"
    if file.code:
        return "library"
    if not file.read:
        return None
    if path.endswith(".so"):
        return "library"
    if CODE.search(path):
        return "module"
    return "configuration" if path.startswith("/etc/") else "input"


class Phases:
    """The phases of the rows of logs, which come in the order in which they became complete."""

    def __init__(self, rows: list[Row]) -> None:
        self.leaders = {}
        for row in rows:
            if row["task"] is not None and row["tid"] == row["pid"]:
                self.leaders.setdefault((row["source"], row["pid"]), row["task"])
        self.marks = defaultdict(list)
        self.births = {}
        for index, row in enumerate(rows):
            process = self.process(row)
            text = row["path"] if is_mark(row) else row["args"] if row["kind"] == "marker" else None
            if (text or "").startswith("/tracefast/"):
                self.marks[process].append((row["ts"], *text.strip().split("/", 3)[2:]))
            if row["kind"] == "exit" and row["task"] == process[1] and row["name"] != "superseded":
                self.marks[process].append((row["ts"], "exit", None))
            if row["child"] is not None:
                child = (row["source"], row["child"])
                self.births.setdefault(child, (process, row["ts"], index))

    def process(self, row: Row) -> tuple:
        """Name the process of a row by its first task."""
        return (row["source"], self.leaders.get((row["source"], row["pid"]), row["task"]))

    def of_row(self, index: int, row: Row) -> str | None:
        """Give the phase in which a row began; marks themselves are in none."""
        return None if is_mark(row) else self.at(self.process(row), row["ts"], index)

    def at(self, process: tuple, ts: int, index: int) -> str | None:
        """Give the phase of a process at a time."""
        open_ = []
        for when, verb, name in sorted(self.marks[process], key=lambda mark: mark[0]):
            if when > ts:
                break
            if verb == "phase" and open_ and open_[-1][0] == "phase":
                open_.pop()
            if verb in ("phase", "begin"):
                open_.append((verb, name))
            elif verb == "exit":
                open_ = []
            else:
                found = [at for at, (_, other) in enumerate(open_) if other == name]
                open_ = open_[: found[-1]] if found else open_
        if open_:
            return open_[-1][1]
        if process not in self.births:
            return None
        maker, when, row = self.births[process]
        # Until the call that made it returns, a process is where this call began.
        return self.at(maker, when, row) if row > index else self.at(maker, ts, index)


def is_mark(row: Row) -> bool:
    """Say whether a row is a call that marks a phase."""
    words = (row["path"] or "").split("/", 3)
    return (
        row["kind"] == "syscall"
        and row["name"] in ("access", "faccessat", "faccessat2")
        and words[:2] == ["", "tracefast"]
        and words[2] in ("phase", "begin", "end")
    )


def with_phases(rows: list[Row]) -> list[Row]:
    """Give each row its phase."""
    phases = Phases(rows)
    return [row | {"phase": phases.of_row(index, row)} for index, row in enumerate(rows)]
