"""The table of workers, made slowly and plainly, to compare the fold with.

All rows are in a list, and every question is answered by looking through all of it again. A process
is a process id, so logs in which an id is used twice are not for it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from support.reference.calls import EXECS, FORKS, Row

if TYPE_CHECKING:
    from collections.abc import Iterable

READS = {"read", "readv", "pread64", "preadv", "recvfrom", "recvmsg", "sendfile", "copy_file_range"}
WRITES = {"write", "writev", "pwrite64", "sendto", "sendmsg"}
ACCEPTS = {"accept", "accept4"}
WATCHES = {"poll", "ppoll", "select", "pselect6", "epoll_wait", "epoll_pwait"}
CODES = {
    "from multiprocessing.spawn": "spawn",
    "from multiprocessing.forkserver": "server",
    "from multiprocessing.resource_tr": "helper",
    "joblib.externals.loky.backend.po": "spawn",
    "from joblib.externals.loky.backe": "helper",
}
SHELLS = {"sh", "bash", "dash"}
MODULE = re.compile(r"\.(py|pyc|so)$|\.so\.[^/]*\d$")


@dataclass
class Process:
    """A process that the log saw made."""

    pid: int
    maker: int
    made: int
    forked: bool
    rows: list[Row] = field(default_factory=list)
    ended: int | None = None
    program: Row | None = None
    inherited: str | None = None
    # When a server was asked for it.
    asked: int | None = None

    @property
    def began(self) -> int:
        """When its maker wanted it."""
        return self.made if self.asked is None else self.asked

    @property
    def code(self) -> str | None:
        """What its program is, if the arguments show it."""
        args = self.program["args"] if self.program else ""
        return next((kind for code, kind in CODES.items() if f'"{code}' in args), None)

    @property
    def own(self) -> list[Row]:
        """Its calls since it started its program."""
        if self.program is None:
            return self.rows
        return self.rows[self.rows.index(self.program) + 1 :]

    def before(self, row: Row | None) -> list[Row]:
        """Give its calls before one, or all."""
        return self.own if row is None else self.own[: self.own.index(row)]


def slow_workers(rows: list[Row]) -> list[dict[str, object]]:
    """Make the table of the events of one log, with some of its columns."""
    calls = [row for row in rows if row["kind"] == "syscall" and row["status"] != "headless"]
    found = processes(rows, calls)
    kins: dict[tuple, list[Process]] = defaultdict(list)
    for one in found.values():
        server = found.get(one.maker)
        served = server is not None and server.code == "server" and one.program is None
        if one.code == "spawn":
            kins[one.maker, "spawn", None].append(one)
        elif served:
            one.asked = asked(one, server, calls)
            kins[server.maker, "forkserver", None].append(one)
        elif one.program is None and one.forked and not is_shell(one.inherited):
            kins[one.maker, "fork", None].append(one)
        elif one.code is None and one.program is not None:
            options = tuple(re.findall(r'"(-[a-z]+)', one.program["args"]))
            kins[one.maker, "exec", (one.program["path"], options)].append(one)
    pools = []
    for (maker, method, _), kin in kins.items():
        got = {one.pid: jobs_of(one, calls, maker, method) for one in kin}
        workers = [one for one in kin if is_worker(one, got[one.pid], method, got)]
        told = method in ("spawn", "forkserver") or (
            method == "fork" and any(map(any, got.values()))
        )
        if workers and (told or (parallel(workers) and not piped(workers, calls))):
            pools.append((maker, method, workers, got))
    pools.sort(key=lambda pool: min(one.began for one in pool[2]))
    return [row for at, pool in enumerate(pools) for row in rows_of(at, *pool)]


def processes(rows: list[Row], calls: list[Row]) -> dict[int, Process]:  # noqa: C901
    """Find the processes that the log saw made, with their calls."""
    found: dict[int, Process] = {}
    for row in calls:
        made = row["name"] in FORKS | {"clone3"} and (row["ret"] or 0) > 0
        if made and "CLONE_THREAD" not in (row["args"] or ""):
            forked = "CLONE_VM" not in row["args"] and row["name"] != "vfork"
            found[row["ret"]] = Process(row["ret"], row["pid"], row["ts"], forked)
    programs: dict[int, str] = {}
    for row in calls:
        starts = row["name"] in EXECS and row["ret"] == 0
        if row["pid"] in found:
            found[row["pid"]].rows.append(row)
            if starts:
                found[row["pid"]].program = row
        elif starts:
            programs[row["pid"]] = row["path"]
    for row in rows:
        if row["kind"] == "exit" and row["tid"] in found and row["tid"] == row["pid"]:
            found[row["pid"]].ended = row["ts"]
    for one in found.values():
        at = one
        while at.maker in found and at.program is None:
            at = found[at.maker]
        one.inherited = at.program["path"] if at.program else programs.get(at.maker)
    last = max(row["ts"] for row in rows)
    for one in found.values():
        one.ended = one.ended or last
    return {pid: one for pid, one in found.items() if one.rows}


def asked(one: Process, server: Process, calls: list[Row]) -> int | None:
    """Give the time of the connection that a server accepted last before it made a process."""
    path = next((row["path"] for row in calls if row["name"] == "bind"), None)
    made = next(
        row for row in calls if row["pid"] == server.pid and row["child"] == one.rows[0]["task"]
    )
    before = calls[: calls.index(made)]
    accepted = sum(row["name"] in ACCEPTS and row["pid"] == server.pid for row in before)
    connects = [row["ts"] for row in calls if row["name"] == "connect" and row["path"] == path]
    return connects[accepted - 1] if accepted else None


def is_shell(path: str | None) -> bool:
    return (path or "").rpartition("/")[2] in SHELLS


def jobs_of(one: Process, calls: list[Row], maker: int, method: str) -> dict[int, list[Row]]:
    """Find the pipes from which a process takes what its maker writes, and its reads of each."""
    peers = {}
    for row in calls:
        if row["name"] in ("pipe", "pipe2", "socketpair") and row["ret"] == 0:
            peers[row["ofd"]] = (row["ofd2"], row["pid"])
            peers[row["ofd2"]] = (row["ofd"], row["pid"])
    listening = {row["ofd"]: row["pid"] for row in calls if row["name"] == "listen"}
    taken: dict[int, list[Row]] = {}
    for row in one.own:
        if row["name"] in ACCEPTS and listening.get(row["ofd2"]) == maker:
            taken.setdefault(row["ofd2"], []).append(row)
        if row["name"] not in READS or row["ofd"] not in peers:
            continue
        peer, made_by = peers[row["ofd"]]
        writes = [w for w in calls if w["name"] in WRITES and w["ofd"] == peer and w["ret"] > 0]
        writers = {write["pid"] for write in writes}
        if made_by != one.pid and (maker in writers or (not writers and made_by == maker)):
            taken.setdefault(row["ofd"], []).append(row)
    if method in ("spawn", "forkserver") and taken:
        del taken[next(iter(taken))]
    return taken


def is_worker(one: Process, jobs: dict, method: str, all_jobs: dict) -> bool:
    listens = any(row["name"] == "listen" and row["tid"] == row["pid"] for row in one.own)
    if method == "fork" and any(all_jobs.values()):
        return bool(jobs)
    return bool(jobs) or not listens


def piped(workers: list[Process], calls: list[Row]) -> bool:
    """Say whether one reads what another one writes."""
    pids = {one.pid for one in workers}
    for made in calls:
        if made["name"] in ("pipe", "pipe2") and made["ret"] == 0:
            readers = {r["pid"] for r in calls if r["ofd"] == made["ofd"] and r["name"] in READS}
            writers = {w["pid"] for w in calls if w["ofd"] == made["ofd2"] and w["name"] in WRITES}
            both = [(r, w) for r in readers & pids for w in writers & pids if r != w]
            if both:
                return True
    return False


def parallel(workers: list[Process]) -> bool:
    """Say whether several live at once, also without the one that lives longest."""
    longest = max(workers, key=length)
    if len(workers) > 2:
        workers = [one for one in workers if one is not longest]
    return sum(map(length, workers)) >= 1.25 * union(workers)


def length(one: Process) -> int:
    return one.ended - one.made


def union(workers: list[Process]) -> int:
    """Give the time in which any of them lived."""
    total, last = 0, 0
    for one in sorted(workers, key=lambda one: one.made):
        total += max(0, one.ended - max(one.made, last))
        last = max(last, one.ended)
    return total


def first_wait(one: Process, jobs: dict[int, list[Row]]) -> Row | None:
    """Find the first call in which a process waits for a job."""
    waits = [reads[0] for reads in jobs.values()]
    for row in one.own:
        shared = row["name"] == "futex" and re.search(r"FUTEX_WAIT(_BITSET)?[|,]", row["args"])
        if shared and row["args"].split(", ")[2] == "0":
            waits.append(row)
            break
    if not waits:
        return None
    first = min(waits, key=one.own.index)
    thread = [row for row in one.own if row["tid"] == one.pid]
    at = thread.index(first)
    while first["name"] in READS | ACCEPTS and at and thread[at - 1]["name"] in WATCHES:
        at -= 1
    return thread[at]


def messages(reads: list[Row]) -> int:
    """Count the messages of multiprocessing, but for None, which takes four bytes."""
    count, left = 0, 0
    for row in reads:
        if row["name"] in ACCEPTS:
            count += row["ret"] >= 0
            continue
        size = row["bytes"] or 0
        if size <= 0:
            continue
        if left:
            left -= size
            continue
        # What strace prints of four bytes.
        text = re.search(r'"((?:\\.|[^"\\])*)"', row["args"])[1]
        raw = re.sub(r"\\([0-7]{1,3})", lambda found: chr(int(found[1], 8)), text)
        raw = raw.replace("\\n", "\n").replace("\\t", "\t").replace("\\r", "\r")
        raw = raw.replace("\\v", "\v").replace("\\f", "\f").replace('\\"', '"')
        left = int.from_bytes(raw.encode("latin-1"), "big")
        count += left != 4
    return count


def rows_of(pool: int, maker: int, method: str, workers: list[Process], jobs: dict) -> list[dict]:
    """Make the rows of a pool."""
    workers = sorted(workers, key=lambda one: one.began)
    # To the workers of a server other messages are orders.
    serves = any(
        row["name"] in ACCEPTS for of in jobs.values() for reads in of.values() for row in reads
    )
    rounds = [0]
    for before, one in pairwise(workers):
        over = max(other.ended for other in workers[: workers.index(one)]) < one.began
        rounds.append(rounds[-1] + (over and before is not one))
    read = {one.pid: bytes_read(one) for one in workers}
    again = sum(map(size, read.values())) - size(union_of(read.values()))
    rows = []
    for one, number in zip(workers, rounds, strict=True):
        first = first_wait(one, jobs[one.pid])
        until = one.rows[: one.rows.index(first)] if first else []
        used = [row for row in one.before(first) if first and opens(row)]
        others = union_of(read[other.pid] for other in workers if other is not one)
        data = [row for row in one.own if is_read(row)]
        rows.append(
            {
                "pool": pool,
                "round": number,
                "method": method,
                "parent_pid": maker,
                "pid": one.pid,
                "start_ns": first["ts"] - one.began if first else None,
                # The call itself is one of those, but for a watch that goes before.
                "start_calls": len(until) + 1 if first else None,
                "modules": len({row["file"] for row in used}) if first else None,
                "module_bytes": sizes(until, used) if first else None,
                "jobs": count(jobs[one.pid].values(), serves=serves) if first else None,
                "files": len({row["file"] for row in data}),
                "read_bytes": sum(row["bytes"] for row in data),
                "read_shared_bytes": sum(
                    (bits & others[file]).bit_count() for file, bits in read[one.pid].items()
                ),
                "read_again_bytes": again,
                "shm_bytes": sum(map(through_memory, one.own)),
            }
        )
    return rows


def count(channels: Iterable[list[Row]], *, serves: bool) -> int:
    """Count jobs: connections, or messages."""
    of_jobs = [reads for reads in channels if not serves or reads[0]["name"] in ACCEPTS]
    return sum(map(messages, of_jobs))


def sizes(rows: list[Row], used: list[Row]) -> int:
    """Add up the sizes of modules, as far as calls on them show these after the first use."""
    known: dict[int, int] = {}
    first = {row["file"]: row["line"] for row in reversed(used)}
    for row in rows:
        named = row["path"] is not None and MODULE.search(row["path"])
        if named and row["size"] is not None and row["line"] >= first.get(row["file"], 1 << 62):
            known.setdefault(row["file"], row["size"])
    return sum(known.values())


def through_memory(row: Row) -> int:
    """Give the bytes of shared memory that a call maps or moves."""
    path = row["path"] or ""
    if not re.match(r"/dev/shm/(?!sem\.)|/memfd:", path):
        return 0
    if row["name"] == "mmap":
        return row["requested"] if row["ret"] != -1 else 0
    return max(row["bytes"] or 0, 0) if row["name"] in READS | WRITES else 0


def opens(row: Row) -> bool:
    done = row["name"] in ("openat", "open", "mmap") and row["ret"] != -1
    return done and row["path"] is not None and MODULE.search(row["path"]) is not None


def is_read(row: Row) -> bool:
    # The type of a file may not be in the log, but then its name is.
    named = row["file_type"] is None and (row["path"] or "").startswith("/")
    stored = row["file_type"] == "regular" or named
    return row["name"] in READS and stored and (row["bytes"] or 0) > 0


def bytes_read(one: Process) -> dict[int, int]:
    """Give, by file, a number that has a bit for each byte of it that a process read."""
    read: dict[int, int] = defaultdict(int)
    for row in one.own:
        if is_read(row) and row["offset"] is not None:
            read[row["file"]] |= ((1 << row["bytes"]) - 1) << row["offset"]
    return read


def union_of(reads: Iterable[dict[int, int]]) -> dict[int, int]:
    """Give the bytes that any of several processes read."""
    union: dict[int, int] = defaultdict(int)
    for read in reads:
        for file, bits in read.items():
            union[file] |= bits
    return union


def size(read: dict[int, int]) -> int:
    return sum(bits.bit_count() for bits in read.values())
