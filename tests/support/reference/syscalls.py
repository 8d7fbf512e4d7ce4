"""The table of system calls, made slowly and plainly, to compare the fold with.

Calls are kept in lists. The time in which any is under way is a set of single nanoseconds.
"""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from math import ceil, floor

from support.reference.calls import EXITS, WAITS, Row, is_call

NO_END = {"unfinished", "killed", "detached", "superseded", "truncated"}
TAKES = {"read", "readv", "pread64", "preadv", "preadv2", "sendfile", "splice", "tee"}
TAKES.add("copy_file_range")
SOMEBODY = {"pipe", "fifo", "socket", "anon"}
DATA = {"regular", "directory", "block", "memfd"}
DATA_DEVICES = {
    *("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/mem"),
    *("/dev/kmem", "/dev/port"),
}


GIVES = {"write", "writev", "pwrite64", "pwritev", "pwritev2", "vmsplice"}
GIVES |= {"send", "sendto", "sendmsg", "sendmmsg", "mq_timedsend", "mq_timedsend_time64"}
OPENS = {"open", "openat", "openat2", "creat", "open_by_handle_at", "memfd_create"}
OPENS |= {"mq_open"}
# Calls that seldom wait have waited if they took a millisecond.
LONG_NS = 1_000_000


def waited_long(row: Row) -> bool:
    """Say whether a call that seldom waits took so long that it waited for somebody."""
    if (row["dur_ns"] or 0) < LONG_NS:
        return False
    if row["name"] in ("fcntl", "fcntl64"):
        return True
    seldom = row["name"] in GIVES | OPENS
    return seldom and bool(somebody_writes(row["file_type"], row["path"]))


def waits(row: Row) -> bool | None:
    """Say whether the time of a call was spent waiting; None if that is not known."""
    if row["name"] in WAITS:
        return True
    if row["name"] in TAKES:
        return somebody_writes(row["file_type"], row["path"])
    return waited_long(row)


def somebody_writes(type_: str | None, path: str | None) -> bool | None:
    """Say whether somebody else has to write before a descriptor gives data."""
    if type_ == "char":
        return path not in DATA_DEVICES
    if type_ in SOMEBODY | DATA:
        return type_ in SOMEBODY
    if not (path or "").startswith("/"):
        return None
    # All that is known is a name in the tree of files.
    return path.startswith(("/dev/tty", "/dev/pts/")) or path == "/dev/console"


def nearest(values: list[int], percent: int) -> int | None:
    values = sorted(values)
    return values[max(ceil(Fraction(percent, 100) * len(values)), 1) - 1] if values else None


def slow_syscalls(rows: list[Row], by: str | None = None) -> list[Row]:
    """Make the table of rows that have the columns of the events; times are whole numbers."""
    calls = [row for row in rows if is_call(row)]
    processes = Processes(rows) if by == "process" else None
    groups: dict[tuple, list[Row]] = defaultdict(list)
    for row in calls:
        process = processes.of(row) if processes else row["phase"] if by == "phase" else None
        groups[row["source"], process, row["name"]].append(row)
    table, last = [], last_times(rows)
    for (source, process, name), group in groups.items():
        out: Row = {"source": source}
        if processes:
            out |= {"pid": processes.pid(process), "image": processes.image(process)}
        elif by == "phase":
            out["phase"] = process
        table.append(out | {"name": name} | summed_up(group, last))
    for source in {row["source"] for row in table}:
        own = [row for row in table if row["source"] == source]
        total = sum(row["total_ns"] or 0 for row in own)
        for row in own:
            known = row["total_ns"] is not None and total > 0
            row["total_share"] = row["total_ns"] / total if known else None
    return table


def last_times(rows: list[Row]) -> dict[str | None, int]:
    """Give the time of the last event of each log, or of the last end of a call."""
    last: dict[str | None, int] = {}
    for row in rows:
        if row["ts"] is not None:
            end = row["ts"] + (row["dur_ns"] or 0)
            last[row["source"]] = max(last.get(row["source"], end), end)
    return last


def summed_up(group: list[Row], last: dict[str | None, int]) -> Row:
    timed = [row for row in group if row["dur_ns"] is not None]
    durations = [row["dur_ns"] for row in timed]
    judged = [row for row in timed if waits(row) is not None]
    moved = [row["bytes"] for row in group if row["bytes"] is not None]
    under_way = {
        ns
        for row in timed
        if row["ts"] is not None
        for ns in range(row["ts"], row["ts"] + row["dur_ns"])
    }
    open_ = [
        row
        for row in group
        if row["status"] in NO_END
        and row["name"] not in EXITS
        and row["dur_ns"] is None
        and row["ts"] is not None
    ]
    placed = bool(timed) and all(row["ts"] is not None for row in timed)
    return {
        "calls": len(group),
        "errors": sum(
            row["errno"] is not None
            and not row["errno"].startswith("ERESTART")
            and row["name"] != "rt_sigreturn"
            for row in group
        ),
        "unfinished": sum(row["status"] in NO_END and row["name"] not in EXITS for row in group),
        "open_ns": sum(last[row["source"]] - row["ts"] for row in open_) if open_ else None,
        "timed": len(timed),
        "total_ns": sum(durations) if timed else None,
        "wall_ns": len(under_way) if placed else None,
        "min_ns": min(durations, default=None),
        "mean_ns": floor(Fraction(sum(durations), len(timed)) + Fraction(1, 2)) if timed else None,
        "p50_ns": nearest(durations, 50),
        "p90_ns": nearest(durations, 90),
        "p99_ns": nearest(durations, 99),
        "max_ns": max(durations, default=None),
        "total_share": None,
        "wait_ns": sum(row["dur_ns"] for row in judged if waits(row)) if judged else None,
        "bytes": sum(moved) if moved else None,
    }


class Processes:
    """Which process each row is of, and what ran in it: as the slow table of processes has it."""

    def __init__(self, rows: list[Row]) -> None:
        # Here, as that module asks this one what waits.
        from support.reference.processes import Log

        self.log = Log(rows)
        self.found = {}

    def of(self, row: Row) -> tuple:
        """Name the process of a row."""
        if row["task"] is None:
            return (row["source"], "of no task", row["pid"])
        task = self.log.tasks[row["source"], row["task"]]
        owner = task.process or task
        self.found[id(owner)] = owner
        return (row["source"], "process" if task.process else "task", id(owner))

    def pid(self, process: tuple) -> int | None:
        if process[1] == "of no task":
            return process[2]
        owner = self.found[process[2]]
        return owner.root.pid if process[1] == "process" else owner.pid

    def image(self, process: tuple) -> str | None:
        if process[1] == "of no task":
            return None
        owner = self.found[process[2]]
        if process[1] == "task":
            return self.log.last_name([owner])
        found = self.log.image(owner)
        return self.log.name(owner) if found is None else found
