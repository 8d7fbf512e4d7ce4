"""The table of files, made slowly and plainly, to compare the fold with.

Everything is kept in lists and sets of single bytes and nanoseconds; what becomes known later is
found by looking ahead.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field

READS = {"read", "pread64", "preadv2", "recvmsg", "pread"}
WRITES = {"write", "pwrite64", "sendto", "pwrite"}
TRANSFERS = {"sendfile", "splice"}
OPENS = {"openat", "creat"}
STATS = {"newfstatat", "statx", "access", "readlinkat", "statfs", "fgetxattr"}
WORST = ["exact", "relative", "ambiguous", "unknown"]
# Whose the bytes of a burst of several processes are is not known.
TOGETHER = "together"
NO_OFFSETS = {"pipe", "fifo", "socket", "char", "anon"}

Row = dict[str, object]


@dataclass
class Access:
    """One side of a data call."""

    row: Row
    index: int
    way: str
    ofd: int | None
    offset: int | None
    # The description that the offset is relative to, and the row that proves it, if any.
    relative_to: int | None = None
    proved_at: int | None = None
    base: int = 0
    known: str | None = None
    cls: str | None = None
    gap: int | None = None
    burst: Burst | None = None
    row_index: int = -1

    def __post_init__(self) -> None:
        self.row_index = self.index

    @property
    def judged_bytes(self) -> int:
        """What it moved, if it is known which call of a burst it is."""
        burst = self.burst
        known = burst is None or burst.equal or burst.calls[0].cls == "consecutive"
        return self.row["bytes"] if known else 0

    @property
    def moved(self) -> bool:
        return self.done and (self.row["bytes"] or 0) > 0

    @property
    def done(self) -> bool:
        return self.row["ret"] is not None and self.row["ret"] >= 0

    @property
    def place(self) -> tuple[str, int] | None:
        """Where it is, as is known in the end: in the file, or in the description's own count."""
        if self.offset is None or (self.known == "relative" and self.relative_to is None):
            return None
        if self.relative_to is None:
            return ("file", self.offset)
        if self.proved_at is not None:
            return ("file", self.offset + self.base)
        return (f"ofd {self.relative_to}", self.offset)

    def place_at(self, index: int, offset: int) -> tuple[str, int] | None:
        """Say where `offset` is as far as is known when row `index` is at hand."""
        if self.place is None:
            return None
        if self.relative_to is None:
            return ("file", offset)
        if self.proved_at is not None and self.proved_at < index:
            return ("file", offset + self.base)
        return (f"ofd {self.relative_to}", offset)


@dataclass
class Burst:
    """Calls that overlapped, and a notice says where they began.

    Each follows another one. Which one is not known, and the table does not depend on it: here each
    follows the one in the row before.
    """

    calls: list[Access]
    notice: Row
    index: int

    @property
    def equal(self) -> bool:
        return len({access.row["bytes"] for access in self.calls}) == 1

    @property
    def several(self) -> bool:
        return len({access.row["pid"] for access in self.calls}) > 1


@dataclass
class Group:
    """What belongs to one row of the table."""

    key: tuple
    uses: list[tuple[Row, int]] = field(default_factory=list)
    accesses: list[Access] = field(default_factory=list)
    file: int | None = None
    name_only: bool = False

    @property
    def path(self) -> str | None:
        side = {1: "path", 2: "path2"}
        opens = [r["path"] for r, s in self.uses if s == 1 and r["name"] in OPENS and r["path"]]
        paths = [r[side[s]] for r, s in self.uses if r[side[s]] is not None]
        return (opens or paths or [None])[0]


def slow_files(  # noqa: C901 - plain
    rows: list[Row], scope: str, by: str | None, near: int
) -> list[Row]:
    """Give the rows of the table, unsorted."""
    groups: dict[tuple, Group] = {}
    waiting: set[tuple] = set()
    proofs: dict[tuple, tuple[int, int]] = {}
    for index, row in enumerate(rows):
        if row["name"] == "offset-base" and None not in (row["ofd"], row["offset"]):
            proofs.setdefault((row["source"], row["ofd"]), (index, row["offset"]))
    everything: list[tuple[Group, Access]] = []
    overlapping: dict[tuple, list[tuple[Group, Access]]] = {}
    for index, row in enumerate(rows):
        key = (row["source"], row["ofd"])
        if row["name"] == "offset-base" and None not in (row["ofd"], row["offset"]):
            waiting.discard(key)
        if row["name"] == "offset-burst" and row["ofd"] is not None:
            _burst(overlapping.pop(key, []), row, index, proofs, waiting)
        if row["kind"] not in ("syscall", "aio") or row["status"] == "injected":
            continue
        if row["name"] == "lseek" and row["ret"] is not None and row["ret"] >= 0:
            overlapping.pop(key, None)
        for side in (1, 2) if row["name"] in TRANSFERS else (1,):
            group = _group(groups, row, side, by)
            if group is None:
                continue
            group.uses.append((row, side))
            way = _way(row["name"], side)
            if way is None:
                continue
            end = "" if side == 1 else "2"
            access = Access(row, index, way, row["ofd" + end], row["offset" + end])
            _locate(access, proofs, waiting)
            access.cls = row["access" + end]
            group.accesses.append(access)
            everything.append((group, access))
            _overlaps(overlapping, group, access)
    _classify(everything, scope)
    homes = _homes(rows)
    kept = _adopted(list(groups.values()), homes)
    if by is not None:
        _share_types(rows, list(groups.values()), kept, homes)
    return [_table_row(group, by, near) for group in kept]


def _way(name: str, side: int) -> str | None:
    if name in TRANSFERS:
        return "read" if side == 1 else "write"
    return "read" if name in READS else "write" if name in WRITES else None


def _group(groups: dict[tuple, Group], row: Row, side: int, by: str | None) -> Group | None:
    end = "" if side == 1 else "2"
    file, path, ofd = row["file" + end], row["path" + end], row["ofd" + end]
    if file is None and path is None and ofd is None:
        return None
    name_only = file is None
    what: tuple = ("file", file)
    if file is None:
        what = ("name", path) if path is not None else ("ofd", ofd)
    part = None
    if by == "process":
        part = row["pid"]
    elif by == "phase":
        part = row["phase"]
    elif by == "open":
        part = ofd
        if part is not None:
            what, name_only = ("open",), False
        elif _way(row["name"], side) is None:
            return None
    key = (row["source"], part, what)
    if key not in groups:
        groups[key] = Group(key, name_only=name_only)
    group = groups[key]
    group.file = file if group.file is None else group.file
    return group


def _homes(rows: list[Row]) -> dict[tuple, int]:
    """Find the first file that a description is known to be of after it was known by nothing."""
    homes: dict[tuple, int | None] = {}
    for row in rows:
        if row["kind"] not in ("syscall", "aio") or row["status"] == "injected":
            continue
        for end in ("", "2") if row["name"] in TRANSFERS else ("",):
            file, path, key = (
                row["file" + end],
                row["path" + end],
                (row["source"], row["ofd" + end]),
            )
            if key[1] is None:
                continue
            if file is None and path is None:
                homes.setdefault(key, None)
            elif file is not None and key in homes and homes[key] is None:
                homes[key] = file
    return {key: file for key, file in homes.items() if file is not None}


def _overlaps(overlapping: dict[tuple, list], group: Group, access: Access) -> None:
    """Collect calls of one direction that overlap, with nothing between them."""
    key = (access.row["source"], access.ofd)
    two_sided = access.row["name"] in TRANSFERS
    if not access.done or access.ofd is None:
        return
    before = overlapping.get(key, [])
    moved = [one.way for _, one in before if one.moved]
    ways = (moved or [one.way for _, one in before])[:1]
    if access.known == "ambiguous" and access.offset is None and not two_sided:
        if access.moved and moved and ways != [access.way]:
            before = []
        overlapping[key] = [*before, (group, access)]
    elif access.moved and ways == [access.way]:
        del overlapping[key]


def _burst(
    found: list[tuple[Group, Access]], notice: Row, index: int, proofs: dict, waiting: set
) -> None:
    """Place calls that overlapped, if the notice is about all of them."""
    calls = [access for _, access in found if access.moved]
    start, end = notice["offset"], notice["offset2"]
    if (
        not calls
        or None in (start, end)
        or len({id(group) for group, _ in found}) > 1
        or len(calls) != notice["ret"]
        or sum(access.row["bytes"] for access in calls) != end - start
        or notice["offset_known"] not in ("exact", "relative")
    ):
        return
    burst = Burst(calls, notice, index)
    for access in calls:
        access.burst, access.offset, access.index = burst, start, index
        _locate(access, proofs, waiting)
        start += access.row["bytes"]
    for _, access in found:
        if not access.moved:
            access.known = None


def _locate(access: Access, proofs: dict, waiting: set) -> None:
    row = access.row
    key = (row["source"], access.ofd)
    known = row["offset_known"] if access.burst is None else access.burst.notice["offset_known"]
    proof = proofs.get(key)
    if proof is not None and proof[0] < access.index and known == "relative":
        known = "exact"
    if access.offset is not None and known in ("ambiguous", "unknown"):
        known = "relative" if access.ofd is not None and key in waiting else "exact"
    if access.offset is None and known in ("exact", "relative"):
        known = None
    if access.offset is not None and known == "relative" and access.ofd is not None:
        access.relative_to = access.ofd
        if proof is not None:
            access.proved_at, access.base = proof
        if access.done:
            waiting.add(key)
    access.known = known


def _classify(everything: list[tuple[Group, Access]], scope: str) -> None:  # noqa: C901, PLR0912 - plain
    """Find classes and gaps, and mark the ends of file."""
    last: dict[tuple, Access | str] = {}
    for group, access in everything:
        row = access.row
        ended = access.done and row["bytes"] == 0 and row["requested"] != 0
        if not access.moved:
            met = access.done and (access.cls == "eof" or (access.cls is None and ended))
            access.cls = "eof" if met and access.way == "read" else None
            continue
        if scope == "stream" and access.ofd is not None:
            stream: tuple = (row["source"], access.ofd, access.way)
        else:
            stream = (group.key, access.way)
        before = last.get(stream)
        here = there = None
        burst = access.burst
        if burst is not None and scope == "file" and not _whole(everything, group, burst):
            access.cls = None
            last[stream] = Access(row, access.index, access.way, access.ofd, None)
            continue
        if access.place is not None:
            here = access.place_at(access.index, access.offset)
        if before is not None and before.place is not None:
            at = access.row_index if before.burst is not burst else access.index
            there = before.place_at(at, before.offset + before.row["bytes"])
        if here is not None and there is not None and here[0] == there[0]:
            access.gap = here[1] - there[1]
        if scope == "file":
            access.cls = None
            if before is None:
                access.cls = None if here is None else "first"
            elif access.gap is not None:
                gap = access.gap
                access.cls = "consecutive" if gap == 0 else "forward" if gap > 0 else "backward"
        elif burst is not None:
            access.cls = burst.notice["access"] if access is burst.calls[0] else "consecutive"
        if access.cls not in ("first", "consecutive", "forward", "backward"):
            access.cls = None
        if burst is not None and burst.calls[0].cls is None and not burst.equal:
            access.cls = None
        last[stream] = access
    _chain(everything, scope)


def _whole(everything: list[tuple[Group, Access]], group: Group, burst: Burst) -> bool:
    """Whether no other access to the file came between."""
    first, way = burst.calls[0].row_index, burst.calls[0].way
    among = [
        access
        for owner, access in everything
        if owner is group and access.moved and access.way == way
        if first <= access.row_index < burst.index
    ]
    return len(among) == len(burst.calls)


def _chain(everything: list[tuple[Group, Access]], scope: str) -> None:
    """Put consecutive accesses of a stream and a row of the table into runs."""
    current: dict[tuple, tuple[Group, list[int]]] = {}
    for group, access in everything:
        if not access.moved or access.cls in (None, "eof"):
            continue
        if scope == "stream" and access.ofd is not None:
            stream: tuple = (access.row["source"], access.ofd, access.way)
        else:
            stream = (group.key, access.way)
        owner, run = current.get(stream, (None, []))
        if access.cls == "consecutive" and owner is group:
            run.append(access.row["bytes"])
            continue
        run = [access.row["bytes"]]
        current[stream] = (group, run)
        group.__dict__.setdefault("runs", defaultdict(list))[access.way].append(run)


def _adopted(groups: list[Group], homes: dict[tuple, int]) -> list[Group]:
    owners: dict[tuple, Group] = {}
    by_key = {group.key: group for group in groups}

    def first(group: Group) -> tuple:
        times = [r["ts"] for r, _ in group.uses if r["ts"] is not None]
        return (not times, min(times, default=0), group.file)

    for group in groups:
        if group.file is not None and group.path is not None:
            key = (*group.key[:2], group.path)
            if key not in owners or first(group) < first(owners[key]):
                owners[key] = group
    kept = []
    for group in groups:
        tried = _tried(group)
        owner = owners.get((*group.key[:2], group.path))
        if group.key[2][0] == "ofd":
            file = homes.get((group.key[0], group.key[2][1]))
            owner = by_key.get((*group.key[:2], ("file", file)))
        if group.name_only and not tried and owner is not None:
            owner.__dict__.setdefault("children", []).append(group)
        else:
            kept.append(group)
    return kept


def _tried(group: Group) -> bool:
    return any(a.row["ret"] is not None for a in group.accesses)


def _own_types(group: Group) -> list[str]:
    """List the types that a row and what was joined to it learned, the first one first."""
    parts = [group, *group.__dict__.get("children", [])]
    types = [row["file_type"] for part in parts for row, side in part.uses if side == 1]
    return [name for name in types if name is not None]


def _kind(types: list[str]) -> str | None:
    known = [name for name in types if name != "unknown"]
    return known[0] if known else "unknown" if types else None


def _share_types(
    rows: list[Row], groups: list[Group], kept: list[Group], homes: dict[tuple, int]
) -> None:
    """Give the rows of a file the type that any of them learned."""
    order = {id(row): index for index, row in enumerate(rows)}
    learned: list[tuple] = []
    for group in groups:
        file = None
        for row, side in group.uses:
            file = row["file" if side == 1 else "file2"] if file is None else file
            if side == 1 and row["file_type"] not in (None, "unknown"):
                # Of a row that learned its type before its file, it is known later.
                if file is not None:
                    learned.append((order[id(row)], (group.key[0], "file", file), row["file_type"]))
                break
    types: dict[tuple, list[str]] = defaultdict(list)
    for _, same, name in sorted(learned):
        types[same].append(name)
    sames = [_same(group, kept, homes) for group in kept]
    for group, same in zip(kept, sames, strict=True):
        types[same] += _own_types(group)
    for group, same in zip(kept, sames, strict=True):
        group.__dict__["kind"] = _kind(types[same] if same is not None else _own_types(group))


def _same(group: Group, kept: list[Group], homes: dict[tuple, int]) -> tuple | None:
    """Give what rows of one file have in common; None if that is not known."""
    source, _, what = group.key
    if group.file is not None:
        return (source, "file", group.file)
    if _tried(group) or what[0] not in ("ofd", "name"):
        return None
    if what[0] == "ofd":
        file = homes.get((source, what[1]))
        return None if file is None else (source, "file", file)
    named = [g for g in kept if g.file is not None and (g.key[0], g.path) == (source, what[1])]

    def first(other: Group) -> tuple:
        parts = [other, *other.__dict__.get("children", [])]
        times = [r["ts"] for part in parts for r, _ in part.uses if r["ts"] is not None]
        return (not times, min(times, default=0), other.file)

    return (source, "file", min(named, key=first).file) if named else (source, "name", what[1])


def rank(values: list[int], percent: int) -> int | None:
    """Give the value at the nearest rank."""
    return sorted(values)[max(-(-len(values) * percent // 100), 1) - 1] if values else None


def total(values: list[int | None]) -> int | None:
    """Sum up; null where there are values and all are."""
    known = [value for value in values if value is not None]
    return None if values and not known else sum(known)


def _table_row(group: Group, by: str | None, near: int) -> Row:
    own = [row for row, _ in group.uses]
    first_sides = [row for row, side in group.uses if side == 1]
    children = group.__dict__.get("children", [])
    uses = own + [row for child in children for row, _ in child.uses]
    sides = first_sides + [row for child in children for row, side in child.uses if side == 1]
    kind = group.__dict__.get("kind", _kind(_own_types(group)))
    touched = [
        a.place[1] + a.row["bytes"]
        for a in group.accesses
        if a.way == "read" and a.moved and a.place is not None and a.place[0] == "file"
    ]
    sizes = [row["size"] for row in sides if row["size"] is not None] + touched
    opened = [row for row in sides if row["name"] in OPENS and row["ret"] is not None]
    maps = [r for r in sides if r["name"] == "mmap" and r["ret"] is not None and r["ret"] >= 0]
    times = [row["ts"] for row in uses if row["ts"] is not None]
    ends = [row["ts"] + (row["dur_ns"] or 0) for row in uses if row["ts"] is not None]
    known = [_final_known(a) for a in group.accesses if a.done]
    known = [] if kind in NO_OFFSETS else [k for k in known if k is not None]
    row: Row = {"source": group.key[0]}
    if by == "process":
        row["pid"] = group.key[1]
    if by == "phase":
        row["phase"] = group.key[1]
    if by == "open":
        made = [r for r in opened if r["ret"] >= 0]
        row |= {
            "ofd": group.key[1],
            "task": made[0]["task"] if made else None,
            "ts_open": made[0]["ts"] if made else None,
            "ts_close": _closed(group),
        }
    size = max(sizes, default=None)
    row |= {
        "file": group.file,
        "path": group.path,
        "type": kind,
        "size": size,
        "processes": len({r["pid"] for r in uses if r["pid"] is not None}) or None,
        "tasks": len({r["task"] for r in uses if r["task"] is not None}) or None,
        "opens": sum(r["ret"] >= 0 for r in opened),
        "opens_failed": sum(r["ret"] < 0 for r in opened),
        "stats": sum(r["name"] in STATS for r in sides),
        "stats_failed": sum(r["name"] in STATS and (r["ret"] or 0) < 0 for r in sides),
        "mmaps": len(maps),
        "mmaps_failed": sum(r["name"] == "mmap" and (r["ret"] or 0) < 0 for r in sides),
        "mmap_bytes": total([r["requested"] for r in maps]),
        "ts_first": min(times, default=None),
        "ts_last": max(ends, default=None),
        "offset_known": max(known, key=WORST.index, default=None),
    }
    runs = group.__dict__.get("runs", defaultdict(list))
    for way in ("read", "write"):
        accesses = [a for a in group.accesses if a.way == way]
        row |= _data(way, accesses, [sum(run) for run in runs[way]], size, near)
    return row


def _final_known(access: Access) -> str | None:
    if access.known == "relative":
        return "exact" if access.proved_at is not None else "relative"
    return access.known


def _closed(group: Group) -> int | None:
    closed = None
    for row, _ in group.uses:
        if row["name"] == "close":
            closed = closed if row["ts"] is None else row["ts"]
        elif closed is not None and row["ts"] is not None and closed < row["ts"]:
            closed = None
    return closed


def _data(way: str, calls: list[Access], runs: list[int], size: int | None, near: int) -> Row:
    done = [a for a in calls if a.done]
    by_class = Counter(a.cls for a in done)
    moved = [a for a in done if a.moved]
    judged = [a for a in moved if a.cls in ("consecutive", "forward", "backward")]
    steps = [a for a in judged if a.cls == "forward" and a.gap is not None and a.gap > 0]
    backs = [a for a in judged if a.cls == "backward" and a.gap is not None and a.gap < 0]
    close = [a for a in steps if a.gap <= near]
    straight = [a for a in judged if a.cls == "consecutive"] + close
    placed = [a for a in moved if a.place is not None]
    spaces = defaultdict(lambda: defaultdict(set))
    for access in placed:
        space, start = access.place
        span = range(start, start + access.row["bytes"])
        together = access.burst is not None and access.burst.several
        spaces[space][TOGETHER if together else access.row["pid"]].update(span)
    unique = sum(len(set().union(*pids.values())) for pids in spaces.values())
    owned = [[own for pid, own in of.items() if pid != TOGETHER] for of in spaces.values()]
    shared = sum(sum(map(len, sets)) - len(set().union(*sets)) for sets in owned)
    places_known = bool(placed) or (not moved and total([a.row["bytes"] for a in done]) is not None)
    placed_bytes = sum(a.row["bytes"] for a in placed)
    sizes = [a.row["bytes"] for a in done if a.row["bytes"] is not None]
    asked = [a.row["requested"] for a in done if a.row["requested"] is not None]
    times = [a.row["dur_ns"] for a in calls if a.row["dur_ns"] is not None]
    timeless = any(a.row["dur_ns"] is not None and a.row["ts"] is None for a in calls)
    busy = set()
    for access in calls:
        ts, dur = access.row["ts"], access.row["dur_ns"]
        if ts is not None and dur is not None:
            busy.update(range(ts, ts + dur))
    ns = total([a.row["dur_ns"] for a in calls])
    classes = ["first", "consecutive", "forward", "backward"] + ["eof"] * (way == "read")
    jumps = [abs(a.gap) for a in steps + backs]
    starts = [a for a in moved if a.cls == "backward" and a.place == ("file", 0)]

    def share(part: int, whole: int) -> float | None:
        return 1 - part / whole if whole else None

    values: Row = {
        "s": len(done),
        "_errors": sum(a.row["ret"] is not None and a.row["ret"] < 0 for a in calls),
        "_bytes": total([a.row["bytes"] for a in done]),
        "_requested": total([a.row["requested"] for a in done]),
        **{f"_{name}": by_class[name] for name in classes},
        "_unknown": len(done) - sum(by_class[name] for name in classes),
        "_near": len(close),
        "_rewinds": len(starts),
        "_short": sum(
            a.row["requested"] is not None and a.row["bytes"] < a.row["requested"] for a in moved
        ),
        "_random_share": share(len(straight), len(judged)),
        "_random_bytes_share": share(
            sum(a.judged_bytes for a in straight), sum(a.judged_bytes for a in judged)
        ),
        "_runs": len(runs),
        "_run_bytes_median": rank(runs, 50),
        "_jump_median": rank(jumps, 50),
        "_jump_p90": rank(jumps, 90),
        "_unique_bytes": unique if places_known else None,
        "_reread_bytes": placed_bytes - unique if places_known else None,
        "_reread_factor": placed_bytes / unique if places_known and unique else None,
        "_coverage_share": min(unique / size, 1.0) if places_known and size and size > 0 else None,
        "_shared_bytes": shared if places_known else None,
        "_size_median": rank(sizes, 50),
        "_size_max": max(sizes, default=None),
        "_asked_common": max(Counter(asked).items(), key=lambda i: i[::-1], default=(None,))[0],
        "_ns": ns,
        "_wall_ns": None if ns is None or timeless else len(busy),
        "_p50_ns": rank(times, 50),
        "_p99_ns": rank(times, 99),
        "_max_ns": max(times, default=None),
    }
    return {way + name: value for name, value in values.items()}
