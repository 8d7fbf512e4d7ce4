"""The table of created tasks, made slowly and plainly: what the fold is held against.

All rows are kept, by task. What became of a child is found by looking at all of them again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

Row = dict[str, object]

CLONE3 = {"clone3", "syscall_435", "syscall_0x1b3"}
MAKERS = {"clone", "clone2", "fork", "vfork"} | CLONE3
EXECS = {"execve", "execveat"}
LINKER = """mmap mmap2 old_mmap munmap mprotect read close brk open openat pread64 stat stat64 lstat
lstat64 newlstat newstat fstat fstat64 newfstat newfstatat fstatat64 statx access faccessat
faccessat2 readlink readlinkat arch_prctl set_tid_address set_robust_list set_thread_area set_tls
rseq prlimit64 getrlimit ugetrlimit uname newuname getuid geteuid getgid getegid getuid32 geteuid32
getgid32 getegid32""".split()
VM, VFORK, THREAD = 0x100, 0x4000, 0x10000
BITS = {"CLONE_VM": VM, "CLONE_VFORK": VFORK, "CLONE_THREAD": THREAD}
NUMBER = "(0x[0-9a-f]+|[0-9]+)"
ENDED = re.compile(r"si_code=(?:CLD_EXITED|CLD_KILLED|CLD_DUMPED|0x[123]\b)")


@dataclass(eq=False)
class Life:
    """A task."""

    number: int | None = None
    rows: list[tuple[int, Row]] = field(default_factory=list)
    process: object = None
    birth: Birth | None = None
    known_at: float = 0
    collected: int | None = None
    signal: tuple[int | None, int | None] | None = None
    attempts: list[Birth] = field(default_factory=list)
    made: Birth | None = None
    announced: Birth | None = None

    @property
    def pid(self) -> int | None:
        return self.rows[0][1]["pid"] if self.rows else None

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
    def end_row(self) -> int | None:
        ends = (i for i, r in self.rows if r["kind"] == "exit" or is_event(r, "sched_process_exit"))
        return max(ends, default=None)

    @property
    def exec(self) -> tuple[int, Row] | None:
        return next(((i, r) for i, r in self.rows if starts(r)), None)


@dataclass(eq=False)
class Process:
    """A group of threads. Its program: (row, path or None), as they were started."""

    programs: list[tuple[int, str | None]] = field(default_factory=list)
    led: bool = False
    birth: Birth | None = None
    anon: int | None = None
    made: Birth | None = None


@dataclass(eq=False)
class Birth:
    """A call that makes a task, or events that tell of one."""

    at: int
    ts: int | None
    line: int | None
    caller: Life | None
    process: Process | None
    rows: list[Row] = field(default_factory=list)
    told: Row | None = None
    flags: int | None = None
    events: set[str] = field(default_factory=set)
    child: Life | None = None
    child_pid: int | None = None
    anon: int | None = None
    reads: list[Row] | None = None

    @property
    def last(self) -> Row:
        return self.rows[-1] if self.rows else self.told

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
    def final_kind(self) -> str | None:
        """Tell the kind by what became of the child, if by nothing else."""
        child = self.child
        if self.kind is not None or self.thread or child is None or self.name != "clone3":
            return self.kind or ("thread" if self.thread else None)
        if child.exec is not None:
            took = [row["dur_ns"] for row in self.rows if row["dur_ns"] is not None]
            started = child.exec[1]["ts"]
            known = took and None not in (self.ts, started)
            return "fork" if known and self.ts + sum(took) < started else "posix_spawn"
        tried = any(took_place(r) and r["name"] in EXECS and r["errno"] for _, r in child.rows)
        first = [row["name"] for _, row in child.calls][:2]
        return "thread" if "set_robust_list" in first and not tried else None

    @property
    def thread(self) -> bool:
        if self.kind is not None:
            return self.kind == "thread"
        child = self.child
        return child is not None and child.pid is not None and child.pid == self.last["pid"]


def returns(row: Row) -> bool:
    return row["name"] in MAKERS and row["ret"] == 0


def is_event(row: Row, name: str) -> bool:
    return row["kind"] == "event" and row["name"] == name


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


def slow_forks(rows: list[Row]) -> list[Row]:
    """Give the rows of the table, unsorted."""
    table: list[Row] = []
    for source in dict.fromkeys(row["source"] for row in rows):
        own = [(i, row) for i, row in enumerate(rows, 1) if row["source"] == source]
        table += Log(source, own).table()
    return table


class Log:
    """The events of one source."""

    def __init__(self, source: str | None, rows: list[tuple[int, Row]]) -> None:
        self.source = source
        self.rows = rows
        self.lives: list[Life] = []
        self.births: list[Birth] = []
        self.numbers: dict[int, Life] = {}
        self.tids: dict[int, Life] = {}
        self.pids: dict[int, Process] = {}
        self.pipes: list[dict[str, object]] = []
        for index, row in rows:
            self.row(index, row)

    # Who is who, row by row.

    def row(self, index: int, row: Row) -> None:
        life = self.life(index, row) if row["task"] is not None else None
        if life is not None:
            life.rows.append((index, row))
            if len(life.rows) == 1:
                self.place(life, row)
        if took_place(row) and row["name"] in MAKERS and row["ret"] != 0:
            self.makes(index, row, life)
        elif life is None:
            return
        elif starts(row):
            told = [r["ts"] for i, r in life.rows if is_event(r, "sched_process_exec")]
            told = [ts for ts in told if ts is not None]
            later = bool(told) and (row["ts"] is None or told[-1] >= row["ts"])
            if row["path"] is not None or not later:
                life.process.programs.append((index, row["path"]))
            self.settle(life)
        elif is_event(row, "sched_process_exec"):
            found = re.match(r"filename=(.*) pid=", row["args"] or "")
            life.process.programs.append((index, found and found[1]))
        elif row["kind"] == "event" and row["name"] in ("task_newtask", "sched_process_fork"):
            self.announces(index, row, life)
        elif is_event(row, "rss_stat"):
            args = row["args"] or ""
            own = "curr=1 " in args or "curr=0x1 " in args
            if own and ("MM_ANONPAGES" in args or "member=0x1 " in args):
                life.process.anon = int(re.search(f"size={NUMBER}", args)[1], 0)
        elif took_place(row):
            self.collects(row)
            self.on_pipes(index, row, life)
        elif row["kind"] == "signal" and row["name"] == "SIGCHLD":
            args = row["args"] or ""
            pid = re.search(r"si_pid=(\d+)", args)
            child = self.tids.get(int(pid[1])) if pid and ENDED.search(args) else None
            if child is not None and child.signal is None:
                child.signal = tuple(
                    int(found[1]) * 10_000_000 if found else None
                    for found in (re.search(rf"si_{t}=(\d+)", args) for t in ("utime", "stime"))
                )

    def new_life(self, index: float) -> Life:
        self.lives.append(Life(known_at=index))
        return self.lives[-1]

    def life(self, index: int, row: Row) -> Life:
        number, tid = row["task"], row["tid"]
        if number not in self.numbers:
            promised = self.tids.get(tid)
            if promised is None or promised.number is not None:
                promised = self.new_life(index)
            promised.number = number
            self.numbers[number] = promised
        return self.numbers[number]

    def place(self, life: Life, row: Row) -> None:
        tid, pid = row["tid"], row["pid"]
        if tid is not None:
            self.tids[tid] = life
        leads = tid is not None and tid == pid
        if life.process is None:
            same = self.pids.get(pid)
            life.process = same if same and not (leads and same.led) else Process()
        life.process.led |= leads
        if pid is not None:
            self.pids[pid] = life.process
        self.settle(life)

    def settle(self, life: Life) -> None:
        birth = life.birth
        if birth is None:
            return
        if life.process is None and birth.thread:
            life.process = birth.process
        elif life.process is None and birth.kind is not None:
            life.process = Process(led=True)
            if birth.child_pid is not None:
                self.pids[birth.child_pid] = life.process
        if life.process is not None and not birth.thread and life.process.birth is None:
            life.process.birth = birth

    def makes(self, index: int, row: Row, caller: Life | None) -> None:
        pid = row["ret"] if row["ret"] is not None and row["ret"] > 0 else None
        same = (
            [b for b in caller.attempts if same_call(b.rows[-1]["name"], row["name"])]
            if caller
            else []
        )
        told = self.announced(row, caller, pid)
        process = caller.process if caller else None
        if same:
            birth = same[0]
            if told is not None:
                self.births.remove(told)
                birth.child, birth.child_pid, birth.flags = told.child, told.child_pid, told.flags
                told.child.birth = birth
                if told.child.process is not None and told.child.process.birth is told:
                    told.child.process.birth = birth
        elif told is not None:
            birth = told
            birth.ts, birth.line = row["ts"], row["line"]
        else:
            birth = Birth(index, row["ts"], row["line"], caller, process)
            self.births.append(birth)
        birth.rows.append(row)
        birth.at, birth.caller, birth.process = index, caller, process
        birth.anon = next(
            (
                bytes_
                for bytes_ in (process.anon if process else None, row["anon_bytes"], birth.anon)
                if bytes_ is not None
            ),
            None,
        )
        birth.child_pid = pid if pid is not None else birth.child_pid
        if caller is not None:
            caller.made = birth
            caller.attempts = [b for b in caller.attempts if b is not birth]
            if (row["errno"] or "").startswith("ERESTART"):
                caller.attempts.append(birth)
        if process is not None:
            process.made = birth
        number = row["child"]
        if number is None and pid is None:
            return
        child = self.numbers.get(number) or birth.child
        if child is None and number is None and pid in self.tids:
            ran = self.tids[pid]
            if ran.birth is None and at_least(ran.first, birth.ts):
                child = ran
        child = child or self.new_life(index + 0.5)
        if number is not None:
            self.numbers[number] = child
            child.number = number if child.number is None else child.number
        if pid is not None:
            self.tids[pid] = child
        self.bind(birth, child)

    def bind(self, birth: Birth, child: Life) -> None:
        birth.child = child
        child.birth = child.birth or birth
        self.settle(child)

    def announced(self, row: Row, caller: Life | None, pid: int | None) -> Birth | None:
        if caller is None:
            return None
        birth = None
        if pid is not None:
            birth = self.tids[pid].birth if pid in self.tids else None
        elif row["ret"] is None:
            birth = caller.announced
            if birth is not None and not at_least(birth.ts, row["ts"]):
                birth = None
        if birth is None or birth.rows or birth.caller is not caller:
            return None
        return birth

    def announces(self, index: int, row: Row, caller: Life) -> None:
        if row["name"] == "task_newtask":
            found = re.match(
                rf"pid={NUMBER}(?: \(\d+\))? comm=.* clone_flags=(?:0x)?([0-9a-f]+)",
                row["args"] or "",
            )
        else:
            found = re.search(rf"child_comm=.* child_pid={NUMBER}", row["args"] or "")
        if not found:
            return
        pid = int(found[1], 0)
        birth = self.tids[pid].birth if pid in self.tids else None
        if birth and (birth.rows or birth.caller is not caller or row["name"] in birth.events):
            birth = None
        known = birth is not None
        if birth is None:
            birth = Birth(index, row["ts"], row["line"], caller, caller.process, told=row)
            birth.anon = caller.process.anon
            self.births.append(birth)
        birth.events.add(row["name"])
        birth.child_pid = pid
        if row["name"] == "task_newtask":
            birth.flags = int(found[2], 16)
        if not known:
            self.tids[pid] = self.new_life(index + 0.5)
            self.bind(birth, self.tids[pid])
        else:
            self.settle(birth.child)
        caller.announced = birth

    def collects(self, row: Row) -> None:
        args, pid = row["args"] or "", None
        if row["ts"] is None or row["dur_ns"] is None:
            return
        if re.search("WIFSTOPPED|WIFCONTINUED|WNOWAIT", args):
            return
        if row["name"] in ("wait4", "waitpid") and row["ret"] is not None and row["ret"] > 0:
            pid = row["ret"]
        elif row["name"] == "waitid" and row["ret"] == 0 and ENDED.search(args):
            pid = int(re.search(r"si_pid=(\d+)", args)[1])
        child = self.tids.get(pid)
        if child is not None and child.collected is None:
            child.collected = row["ts"] + row["dur_ns"]

    def on_pipes(self, index: int, row: Row, life: Life) -> None:
        args, ofd = row["args"] or "", row["ofd"]
        if row["name"] == "pipe2":
            if row["ret"] == 0 and None not in (ofd, row["ofd2"]) and args.endswith("CLOEXEC"):
                self.pipes = [p for p in self.pipes if p["r"] != ofd]
                pipe = {"r": ofd, "w": row["ofd2"], "life": life, "process": life.process}
                self.pipes.append(pipe | {"at": index, "closed": False, "birth": None})
            return
        by_write = next((p for p in reversed(self.pipes) if p["w"] == ofd), None)
        by_read = next((p for p in self.pipes if p["r"] == ofd), None)
        pipe = by_write or by_read
        if ofd is None or pipe is None:
            return
        own = pipe["process"] is life.process
        if row["name"] == "close" and by_write:
            pipe["closed"] |= own
        elif row["name"] == "close" and own:
            self.pipes.remove(pipe)
        elif row["name"] in ("dup", "dup2", "dup3", "fcntl") and by_write and not own:
            if "CLOEXEC" not in args:
                self.pipes.remove(pipe)
                if pipe["birth"] is not None:
                    pipe["birth"].reads = None
        elif row["name"] == "read" and by_read:
            if row["ret"] is not None and row["ret"] >= 0 and own and by_read["closed"]:
                self.reads(by_read, row, life)

    def reads(self, pipe: dict[str, object], row: Row, life: Life) -> None:
        first = pipe["birth"] is None
        if first:
            made = [pipe["life"].made, life.process.made]
            made = [b for b in made if b is not None and b.at > pipe["at"]]
            pipe["birth"] = made[0] if made else None
        birth = pipe["birth"]
        other = birth is None or (first and birth.reads is not None)
        if other or birth.child is None or birth.kind == "thread":
            self.pipes.remove(pipe)
            return
        if row["ret"] == 0:
            self.pipes.remove(pipe)
        birth.reads = [*(birth.reads or []), row]

    # What became of them, from all rows.

    def table(self) -> list[Row]:
        for birth in self.births:
            if birth.final_kind == "thread" and birth.kind is None and birth.name == "clone3":
                birth.child.process = birth.process
        prices = self.prices()
        return [self.made(birth, prices) for birth in self.births]

    def prices(self) -> tuple[int, int, int] | None:
        if any(row["cpu"] is not None for _, row in self.rows):
            return None
        every, fresh = [], []
        for life in self.lives:
            every += gaps(row for _, row in life.calls)
            if life.exec is None or life.birth is None or life.birth.thread:
                continue
            before = [row for i, row in life.calls if i <= life.exec[0]]
            if len(before) - 1 <= 256:
                fresh += [min(gap, 2**32 - 1) for gap in gaps(before)]
        if len(every) < 10:
            return None
        low = min(rank(every, 10), 100_000)
        usual = max(rank(fresh if len(fresh) >= 10 else every, 50), low)
        high = max(rank(fresh, 90), usual) if len(fresh) >= 10 else usual
        return low, usual, high

    def made(self, birth: Birth, prices: tuple[int, int, int] | None) -> Row:
        last, child, calls = birth.last, birth.child, birth.rows
        durations = [row["dur_ns"] for row in calls if row["dur_ns"] is not None]
        result: Row = {
            "source": self.source,
            "ts": birth.ts,
            "line": birth.line,
            "task": last["task"],
            "pid": last["pid"],
            "tid": last["tid"],
            "parent_image": self.program(birth) or last["comm"],
            "name": birth.name,
            "kind": birth.final_kind,
            "child_task": child.number if child else None,
            "child_pid": birth.child_pid,
            "errno": last["errno"] if calls else None,
            "call_ns": sum(durations) if durations else None,
            "restarts": max(len(calls) - 1, 0),
        }
        result |= dict.fromkeys(
            """exec_gap_ns exec_failed exec_failed_ns exec_ns image startup_ns startup_calls
            startup_libraries startup_misses error_pipe_ns lifetime_ns exit_status exit_signal
            reap_ns child_utime_ns child_stime_ns""".split()
        )
        if child is not None:
            result |= self.life_of(child)
            result["error_pipe_ns"] = error_pipe(birth, child)
        result["parent_tasks"] = self.threads(birth)
        result["parent_anon_bytes"] = birth.anon
        low, high = bounds(result, child, prices)
        return result | {"tracer_low_ns": low, "tracer_high_ns": high}

    def program(self, birth: Birth) -> str | None:
        seen = set()
        while birth not in seen:
            seen.add(birth)
            if birth.process is None:
                return None
            programs = [path for i, path in birth.process.programs if i < birth.at]
            if programs:
                return programs[-1]
            if birth.process.birth is None:
                return None
            birth = birth.process.birth
        return None

    def threads(self, birth: Birth) -> int | None:
        if birth.process is None:
            return None
        alive = 0
        for life in self.lives:
            if life.process is not birth.process:
                continue
            if birth.ts is None:
                born = life.known_at <= birth.at
                ended = life.end_row is not None and life.end_row <= birth.at
            else:
                start = life.first
                if start is None and life.birth is not None and life.birth.ts is not None:
                    took = [r["dur_ns"] for r in life.birth.rows if r["dur_ns"] is not None]
                    start = life.birth.ts + sum(took)
                born = start is None or start <= birth.ts
                ended = life.end is not None and life.end <= birth.ts
            alive += born - ended
        return max(alive, 1)

    def life_of(self, child: Life) -> Row:
        exec_at, exec_row = child.exec or (None, None)
        tried = [
            row
            for i, row in child.rows
            if took_place(row)
            and row["name"] in EXECS
            and row["errno"] is not None
            and (exec_at is None or i < exec_at)
        ]
        failed_ns = [row["dur_ns"] for row in tried if row["dur_ns"] is not None]
        events = (r["args"] or "" for _, r in child.rows if is_event(r, "sched_process_exec"))
        named = [found[1] for args in events if (found := re.match(r"filename=(.*) pid=", args))]
        path = exec_row["path"] if exec_row else None
        exits = [r for _, r in child.rows if r["kind"] == "exit"]
        status = [r["ret"] for r in exits if r["name"] == "exited" and r["ret"] is not None]
        signals = [r["name"] for r in exits if r["name"].startswith("SIG")]
        asked = [asked_status(r) for _, r in child.rows if took_place(r)]
        asked = [status for status in asked if status is not None]
        if not status and asked and not signals:
            status = [asked[-1]]
        reap = less(child.collected, child.end)
        result = {
            "exec_gap_ns": less(exec_row["ts"], child.start) if exec_row else None,
            "exec_failed": len(tried) if child.rows else None,
            "exec_failed_ns": sum(failed_ns) if failed_ns else None,
            "exec_ns": exec_row["dur_ns"] if exec_row else None,
            "image": path or (named[0] if named else None),
            "lifetime_ns": less(child.end, child.start),
            "exit_status": status[0] if status else None,
            "exit_signal": signals[0] if signals else None,
            "reap_ns": None if reap is None else max(reap, 0),
            "child_utime_ns": child.signal[0] if child.signal else None,
            "child_stime_ns": child.signal[1] if child.signal else None,
        }
        return result | startup(child)


def same_call(a: str, b: str) -> bool:
    return a == b or {a, b} <= CLONE3


def at_least(a: int | None, b: int | None) -> bool:
    return b is None or (a is not None and a >= b)


def less(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else a - b


def asked_status(row: Row) -> int | None:
    if row["name"] not in ("exit", "exit_group"):
        return None
    args = row["args"] or ""
    if found := re.match(r"error_code: (?:0x)?([0-9a-f]+)", args):
        return int(found[1], 16) & 0xFF
    return int(found[0]) & 0xFF if (found := re.match(r"-?\d+", args)) else None


def gaps(rows: object) -> list[int]:
    times = [row["ts"] for row in rows if row["ts"] is not None]
    return [b - a for a, b in zip(times, times[1:], strict=False) if b >= a]


def rank(values: list[int], percent: int) -> int:
    """Nearest rank, rounded down to five binary digits."""
    value = sorted(values)[max(-(-len(values) * percent // 100), 1) - 1]
    shift = max(value.bit_length() - 5, 0)
    return value >> shift << shift


def end_of(row: Row) -> int | None:
    return None if None in (row["ts"], row["dur_ns"]) else row["ts"] + row["dur_ns"]


def startup(child: Life) -> Row:
    if child.exec is None:
        return {}
    exec_at, exec_row = child.exec
    steps = []
    for i, row in child.rows:
        if i <= exec_at:
            continue
        if starts(row) or row["kind"] == "exit" or is_event(row, "sched_process_exit"):
            break
        if took_place(row) and not returns(row):
            steps.append(row)
    linker = list(steps)
    for at, row in enumerate(steps):
        if row["name"] not in LINKER:
            linker = steps[:at]
            break
    maps, cache, libraries, best = [], None, 0, None
    for at, row in enumerate(steps):
        name, args = row["name"], row["args"] or ""
        if name.startswith("mmap") and at < len(linker) and (row["fd"] or -1) >= 0:
            if row["ret"] in (None, -1):
                continue
            libraries += bool(re.match("[^,]*, [^,]*, (?:[^,]*PROT_EXEC|(?:prot: )?[57],)", args))
            if row["offset"] == 0 and row["requested"] is not None:
                if (row["path"] or "").endswith("/ld.so.cache"):
                    cache = (row["ret"], row["requested"])
                else:
                    maps.append((row["ret"], row["requested"]))
        elif name == "munmap" and row["ret"] == 0 and libraries:
            # Of ftrace both numbers are hexadecimal.
            found = re.match(r"(0x|addr: 0x|addr: |)([0-9a-f]+), (?:len: )?(?:0x)?(\w+)", args)
            if found:
                base = 10 if found[1] == "0x" else 16
                there = (int(found[2], 16), int(found[3], base))
                if there == cache if cache else there in maps:
                    best = (at, libraries)
                    break
        elif name == "mprotect" and at < len(linker) and libraries:
            best = (at, libraries)
    if best is None:
        return {}
    at, libraries = best
    return {
        "startup_ns": less(end_of(steps[at]), end_of(exec_row)),
        "startup_calls": at + 1,
        "startup_libraries": libraries,
        "startup_misses": sum(row["errno"] == "ENOENT" for row in steps[: at + 1]),
    }


def error_pipe(birth: Birth, child: Life) -> int | None:
    if not birth.reads:
        return None
    took = [row["dur_ns"] for row in birth.reads if row["dur_ns"] is not None]
    ends = [end for row in birth.reads if (end := end_of(row)) is not None]
    if child.exec is not None:
        asked = [r["ts"] for _, r in child.rows if took_place(r) and r["name"].startswith("exit")]
        asked = [ts for ts in asked if ts is not None]
        ended = asked[-1] if asked else child.end
        if any(row["ret"] for row in birth.reads) or not ends or child.exec[1]["ts"] is None:
            return None
        if ends[-1] < child.exec[1]["ts"] or (ended is not None and ends[-1] >= ended):
            return None
    elif not any(took_place(r) and r["name"] in EXECS and r["errno"] for _, r in child.rows):
        return None
    return sum(took) if took else None


def bounds(
    row: Row, child: Life | None, prices: tuple[int, int, int] | None
) -> tuple[int | None, int | None]:
    if prices is None or row["call_ns"] is None:
        return None, None
    low, usual, high = prices
    call, gap, exec_ns, lines = max(row["call_ns"], 0), 0, 0, 0
    ran = row["exec_gap_ns"] is not None and row["exec_ns"] is not None
    if ran:
        exec_at = child.exec[0]
        lines = sum(i < exec_at for i, _ in child.calls)
        gap, exec_ns = max(row["exec_gap_ns"], 0), max(row["exec_ns"], 0)
    least = min(lines * low, gap)
    if ran and row["kind"] in ("vfork", "posix_spawn"):
        most = 2 * (min(exec_ns, 10 * high) + gap) + max(call - gap - exec_ns, 0)
    else:
        most = (
            min(exec_ns, 10 * usual)
            + min((lines + 1) * high, gap)
            + (5 if child and child.rows else 1) * usual
        )
    return least, max(least, min(most, call + gap + exec_ns))
