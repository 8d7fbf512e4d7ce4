"""The table of created tasks, made slowly and plainly, to compare the fold with.

All rows are kept, by task. What became of a child is found by looking at all of them again.
"""

from __future__ import annotations

import re

from support.reference import processes
from support.reference.calls import EXECS, EXITS, WAITS_FOR_CHILD, Row
from support.reference.startup import startup
from support.reference.tasks import (
    MAKERS,
    Birth,
    Life,
    Pid,
    asked_status,
    at_least,
    end_of,
    gaps,
    is_end,
    is_event,
    less,
    rank,
    same_call,
    took_place,
)

NUMBER = "(0x[0-9a-f]+|[0-9]+)"
ENDED = re.compile(r"si_code=(?:CLD_EXITED|CLD_KILLED|CLD_DUMPED|0x[123]\b)")
OF_CHILD = (
    "exec_gap_ns",
    "exec_failed",
    "exec_failed_ns",
    "exec_ns",
    "image",
    "argv",
    "startup_ns",
    "startup_calls",
    "startup_libraries",
    "startup_misses",
    "error_pipe_ns",
    "lifetime_ns",
    "exit_status",
    "exit_signal",
    "reap_ns",
    "child_utime_ns",
    "child_stime_ns",
)


def slow_forks(rows: list[Row]) -> list[Row]:
    """Give the rows of the table, unsorted."""
    table: list[Row] = []
    tracked = Tracked(rows)
    for source in dict.fromkeys(row["source"] for row in rows):
        own = [(i, row) for i, row in enumerate(rows, 1) if row["source"] == source]
        table += Log(source, own, tracked).table()
    return table


class Tracked:
    """The processes of the slow table of processes, which say who ran what, and with whom."""

    def __init__(self, rows: list[Row]) -> None:
        self.log = processes.Log(rows)
        places = (i for i, row in enumerate(rows, 1) if None not in (row["task"], row["kind"]))
        self.places = list(places)

    def task(self, source: str | None, life: Life | None) -> processes.Task | None:
        """Give the task of a life."""
        return self.log.tasks.get((source, life.number)) if life else None

    def process(self, source: str | None, life: Life | None) -> processes.Process | None:
        """Give the process of a life with rows of its own, else of its maker if it is a thread."""
        if life is None:
            return None
        if life.rows:
            return self.task(source, life).process
        thread = life.birth is not None and life.birth.kind == "thread"
        return self.process(source, life.birth.caller) if thread else None

    def kind(self, source: str | None, birth: Birth) -> str | None:
        """Give the kind of a birth by its flags, or by what its child did."""
        task = self.task(source, birth.child)
        return birth.kind or (self.log.shown_kind(task) if task else None)

    def program(self, source: str | None, birth: Birth) -> str | None:
        """Give the program that the maker's process ran before it made a task."""
        process = self.process(source, birth.caller)
        at = sum(place < birth.at for place in self.places)
        return process and self.log.image(process, at)


class Log:
    """The events of one source."""

    def __init__(self, source: str | None, rows: list[tuple[int, Row]], tracked: Tracked) -> None:
        self.source = source
        self.tracked = tracked
        self.rows = rows
        self.lives: list[Life] = []
        self.births: list[Birth] = []
        self.numbers: dict[int, Life] = {}
        self.tids: dict[int, Life] = {}
        self.pids: dict[int, Pid] = {}
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
        elif life is not None:
            self.takes_event(index, row, life)

    def takes_event(self, index: int, row: Row, life: Life) -> None:
        if is_end(row):
            self.ends(row, life)
        elif row["kind"] == "event" and row["name"] in ("task_newtask", "sched_process_fork"):
            self.announces(index, row, life)
        elif is_event(row, "rss_stat"):
            self.counts_memory(row, life)
        elif took_place(row):
            self.collects(row)
            self.on_pipes(index, row, life)
        elif row["kind"] == "signal" and row["name"] == "SIGCHLD":
            self.tells_of_end(row)

    def counts_memory(self, row: Row, life: Life) -> None:
        args = row["args"] or ""
        own = "curr=1 " in args or "curr=0x1 " in args
        if own and ("MM_ANONPAGES" in args or "member=0x1 " in args):
            life.pid_use.anon = int(re.search(f"size={NUMBER}", args)[1], 0)

    def tells_of_end(self, row: Row) -> None:
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
        life.pid_use = Pid() if pid is None else self.pids.setdefault(pid, Pid())

    def ends(self, row: Row, life: Life) -> None:
        task = self.tracked.task(self.source, life)
        if task.tid == task.pid and row["name"] != "superseded":
            # The next process with this id is another one.
            self.pids.pop(task.pid, None)

    def makes(self, index: int, row: Row, caller: Life | None) -> None:
        pid = row["ret"] if row["ret"] is not None and row["ret"] > 0 else None
        birth = self.birth_of(index, row, caller, pid)
        pid_use = caller.pid_use if caller else None
        birth.rows.append(row)
        birth.at, birth.caller = index, caller
        sizes = (pid_use.anon if pid_use else None, row["anon_bytes"], birth.anon)
        birth.anon = next((size for size in sizes if size is not None), None)
        birth.child_pid = pid if pid is not None else birth.child_pid
        if caller is not None:
            caller.made = birth
            caller.attempts = [b for b in caller.attempts if b is not birth]
            if (row["errno"] or "").startswith("ERESTART"):
                caller.attempts.append(birth)
        if pid_use is not None:
            pid_use.made = birth
        if row["child"] is not None or pid is not None:
            self.bind(birth, self.child_of(index, row["child"], pid, birth))

    def birth_of(self, index: int, row: Row, caller: Life | None, pid: int | None) -> Birth:
        """Find the birth that a call repeats, or that events reported; or make a new one."""
        attempts = caller.attempts if caller else []
        same = [b for b in attempts if same_call(b.rows[-1]["name"], row["name"])]
        reported = self.announced(row, caller, pid)
        if same and reported is not None:
            self.births.remove(reported)
            birth = same[0]
            birth.child, birth.child_pid, birth.flags = (
                reported.child,
                reported.child_pid,
                reported.flags,
            )
            reported.child.birth = birth
        if same:
            return same[0]
        if reported is not None:
            reported.ts, reported.line = row["ts"], row["line"]
            return reported
        self.births.append(Birth(index, row["ts"], row["line"], caller))
        return self.births[-1]

    def child_of(self, index: int, number: int | None, pid: int | None, birth: Birth) -> Life:
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
            if not child.rows:
                # The id is used again.
                self.pids.pop(pid, None)
        return child

    def bind(self, birth: Birth, child: Life) -> None:
        birth.child = child
        child.birth = child.birth or birth

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
            birth = Birth(index, row["ts"], row["line"], caller, reported=row)
            birth.anon = caller.pid_use.anon
            self.births.append(birth)
        birth.events.add(row["name"])
        birth.child_pid = pid
        if row["name"] == "task_newtask":
            birth.flags = int(found[2], 16)
        if not known:
            self.tids[pid] = self.new_life(index + 0.5)
            self.pids.pop(pid, None)
            self.bind(birth, self.tids[pid])
        caller.announced = birth

    def collects(self, row: Row) -> None:
        args, pid = row["args"] or "", None
        if row["ts"] is None or row["dur_ns"] is None:
            return
        if re.search("WIFSTOPPED|WIFCONTINUED|WNOWAIT", args):
            return
        if row["name"] in WAITS_FOR_CHILD and row["ret"] is not None and row["ret"] > 0:
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
                pipe = {"r": ofd, "w": row["ofd2"], "life": life, "pid": life.pid_use}
                self.pipes.append(pipe | {"at": index, "closed": False, "birth": None})
        elif ofd is not None:
            by_write = next((p for p in reversed(self.pipes) if p["w"] == ofd), None)
            by_read = next((p for p in self.pipes if p["r"] == ofd), None)
            if by_write:
                self.on_write_end(by_write, row, life)
            if by_read:
                self.on_read_end(by_read, row, life, closed=by_write is not None)

    def on_write_end(self, pipe: dict[str, object], row: Row, life: Life) -> None:
        own = pipe["pid"] is life.pid_use
        if row["name"] == "close":
            pipe["closed"] |= own
        elif row["name"] in ("dup", "dup2", "dup3", "fcntl") and not own:
            command = (row["args"] or "").split(", ")[1:2]
            asks = command and command[0].startswith("F_") and "DUPFD" not in command[0]
            if "CLOEXEC" in (row["args"] or "") or asks:
                return
            self.pipes.remove(pipe)
            if pipe["birth"] is not None:
                pipe["birth"].reads = None

    def on_read_end(self, pipe: dict[str, object], row: Row, life: Life, *, closed: bool) -> None:
        own = pipe["pid"] is life.pid_use
        if row["name"] == "close" and own and not closed:
            self.pipes.remove(pipe)
        done = row["ret"] is not None and row["ret"] >= 0
        if row["name"] == "read" and done and own and pipe["closed"]:
            self.reads(pipe, row, life)

    def reads(self, pipe: dict[str, object], row: Row, life: Life) -> None:
        first = pipe["birth"] is None
        if first:
            made = [pipe["life"].made, life.pid_use.made]
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
        prices = self.prices()
        return [self.made(birth, prices) for birth in self.births]

    def prices(self) -> tuple[int, int, int] | None:
        if any(row["cpu"] is not None for _, row in self.rows):
            return None
        every, fresh = [], []
        for life in self.lives:
            every += gaps(row for _, row in life.calls)
            if life.exec is None or life.birth is None:
                continue
            if self.tracked.kind(self.source, life.birth) == "thread":
                continue
            if life.ends and life.ends[0] < life.exec[0]:
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
            "parent_image": self.tracked.program(self.source, birth) or last["comm"],
            "name": birth.name,
            "kind": self.tracked.kind(self.source, birth) or birth.guessed_kind,
            "child_task": child.number if child else None,
            "child_pid": birth.child_pid,
            "errno": last["errno"] if calls else None,
            "call_ns": sum(durations) if durations else None,
            "restarts": max(len(calls) - 1, 0),
        }
        result |= dict.fromkeys(OF_CHILD)
        if child is not None:
            result |= self.life_of(child)
            result["image"], result["argv"] = self.program(child)
            result["error_pipe_ns"] = error_pipe(birth, child)
        result["parent_tasks"] = self.threads(birth)
        result["parent_anon_bytes"] = birth.anon
        low, high = bounds(result, child, prices)
        return result | {"tracer_low_ns": low, "tracer_high_ns": high}

    def program(self, child: Life) -> tuple[str | None, list[str] | None]:
        task = self.tracked.task(self.source, child)
        execs = self.tracked.log.started(task) if task else []
        if task is None or not execs:
            return None, None
        at, path = execs[0]
        call = self.tracked.log.call_of(task, at)
        return path, None if call is None else processes.slow_argv(call["args"])

    def threads(self, birth: Birth) -> int | None:
        if birth.caller is None:
            return None
        process = self.tracked.process(self.source, birth.caller)
        alive = 0
        for life in self.lives if process else []:
            if life is birth.child or self.tracked.process(self.source, life) is not process:
                continue
            if birth.ts is None:
                born = life.known_at <= birth.at
                ended = bool(life.ends) and life.ends[-1] <= birth.at
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
        exits = [r for _, r in child.rows if r["kind"] == "exit"]
        status = [r["ret"] for r in exits if r["name"] == "exited" and r["ret"] is not None]
        signals = [r["name"] for r in exits if r["name"].startswith("SIG")]
        asked = [asked_status(r) for _, r in child.rows if took_place(r)]
        asked = [status for status in asked if status is not None]
        if not status and asked and not signals:
            status = [asked[-1]]
        task = self.tracked.task(self.source, child)
        if task and task.process and task.process.root is task:
            how, outcome = self.tracked.log.outcome(task.process) or (None, None)
            status = [outcome] if how == "status" else [] if how else status
            signals = [outcome] if how == "signal" else [] if how else signals
        reap = less(child.collected, child.end)
        if reap is not None and -1_000_000 <= reap < 0:
            reap = 0
        most = None
        own = task is not None and task.process is not None and task.process.root is task
        if own and child.rows and child.birth and None not in (child.birth.ts, child.end):
            most = forward(less(child.end, child.birth.ts))
            most = most if most is None else (most + 1_000_000_000) * len(task.process.members)
        utime, stime = child.signal or (None, None)
        result = {
            "exec_gap_ns": forward(less(exec_row["ts"], child.start)) if exec_row else None,
            "exec_failed": len(tried) if child.rows else None,
            "exec_failed_ns": sum(failed_ns) if failed_ns else None,
            "exec_ns": exec_row["dur_ns"] if exec_row else None,
            "lifetime_ns": forward(less(child.end, child.start)),
            "exit_status": status[0] if status else None,
            "exit_signal": signals[0] if signals else None,
            "reap_ns": forward(reap),
            "child_utime_ns": utime if most is None or (utime or 0) <= most else None,
            "child_stime_ns": stime if most is None or (stime or 0) <= most else None,
        }
        return result | startup(child)


def forward(ns: int | None) -> int | None:
    """Give a time, unless the clock was set back in it."""
    return None if ns is None or ns < 0 else ns


def error_pipe(birth: Birth, child: Life) -> int | None:
    if not birth.reads:
        return None
    took = [row["dur_ns"] for row in birth.reads if row["dur_ns"] is not None]
    ends = [end for row in birth.reads if (end := end_of(row)) is not None]
    if child.exec is not None:
        asked = [r["ts"] for _, r in child.rows if took_place(r) and r["name"] in EXITS]
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
