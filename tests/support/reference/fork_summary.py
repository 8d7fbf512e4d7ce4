"""The summary of forks, the slow and obvious way: row by row, moment by moment."""

import math

import polars as pl

from tracefast.analysis.forks.summary import KEYS, PHASES

VFORK_NS = 100_000


def percentile(values: list[int], percent: int) -> int | None:
    values = sorted(values)
    return values[math.ceil(len(values) * percent / 100) - 1] if values else None


def median(values: list[int]) -> int | None:
    return percentile(values, 50)


def union(spans: list[tuple[int, int | None]]) -> int:
    moments: set[int] = set()
    for start, end in spans:
        if end is not None:
            moments.update(range(start, end))
    return len(moments)


def at_once(spans: list[tuple[int, int | None]]) -> int | None:
    """Count at each start, for that is when there are most."""
    lasting = [(s, None if e is None else max(e, s + 1)) for s, e in spans]
    counts = [sum(s <= t and (e is None or e > t) for s, e in lasting) for t, _ in lasting]
    return max(counts, default=None)


def plus(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else a + b


class Row:
    """One row, with its moments."""

    def __init__(self, row: dict) -> None:
        self.row = row
        self.begin = row["ts"]
        self.call_end = plus(self.begin, row["call_ns"])
        suspends = row["kind"] in {"vfork", "posix_spawn"}
        start = self.begin if suspends or self.call_end is None else self.call_end
        self.start = row["child_start"] if row["child_start"] is not None else start
        self.exec_begin = plus(self.start, row["exec_gap_ns"])
        self.exec_end = plus(self.exec_begin, row["exec_ns"])
        self.end = plus(self.start, row["lifetime_ns"])


def exec_base(rows: list[dict], source: str, image: str | None) -> int | None:
    log = [r for r in rows if r["source"] == source]
    same = [r for r in log if r["image"] == image and r["exec_ns"] is not None]
    cheap = [r["exec_ns"] for r in same if r["kind"] in {"vfork", "posix_spawn"}]
    if cheap:
        return median(cheap)
    anon = [r["parent_anon_bytes"] for r in same if r["parent_anon_bytes"] is not None]
    if anon and max(anon) >= 2 * min(anon):
        small = [
            r["exec_ns"]
            for r in same
            if r["parent_anon_bytes"] is not None and r["parent_anon_bytes"] <= 1.1 * min(anon)
        ]
        return median(small)
    known = [r["exec_ns"] for r in log] + [r["log_exec_ns"] for r in log]
    return min((ns for ns in known if ns is not None), default=None)


def summary(frame: pl.DataFrame) -> dict[tuple, dict]:
    """Give the columns that are no slopes and no advice, by group."""
    rows = frame.cast({"ts": pl.Int64, "child_start": pl.Int64}).to_dicts()
    groups: dict[tuple, list[dict]] = {}
    for row in rows:
        groups.setdefault(tuple(row[key] for key in KEYS), []).append(row)
    return {key: group(rows, key, part) for key, part in groups.items()}


def group(rows: list[dict], key: tuple, part: list[dict]) -> dict:
    source, _, kind, image = key
    timed = [Row(row) for row in part]
    log = [Row(row) for row in rows if row["source"] == source]
    known = [r.row["log_ns"] for r in log if r.row["log_ns"] is not None]
    ends = [t for r in log for t in (r.begin, r.call_end, r.exec_end, r.end) if t is not None]
    wall = max(known) if known else max(ends) - min(r.begin for r in log)
    found: dict[str, object] = {
        "count": sum(r["errno"] is None for r in part),
        "failed": sum(r["errno"] is not None for r in part),
        "in_flight_max": at_once([(r.begin, r.end) for r in timed if r.row["errno"] is None]),
    }
    for phase in PHASES:
        values = [r[f"{phase}_ns"] for r in part if r[f"{phase}_ns"] is not None]
        found[f"{phase}_sum_ns"] = sum(values) if values else None
        found[f"{phase}_p50_ns"] = percentile(values, 50)
        found[f"{phase}_p95_ns"] = percentile(values, 95)
    calls = found["call_sum_ns"]
    execs = [r["exec_ns"] for r in part if r["exec_ns"] is not None]
    beyond = 0
    if kind == "fork" and execs:
        beyond = max(sum(execs) - len(execs) * exec_base(rows, source, image), 0)
    found["tax_ns"] = None if calls is None else calls + beyond
    spans = [(r.begin, r.call_end) for r in timed]
    if kind == "fork":
        spans += [(r.exec_begin, r.exec_end) for r in timed]
    spans = [(start, end) for start, end in spans if start is not None and end is not None]
    found["wall_share"] = min(union(spans) / wall, 1.0) if wall > 0 and spans else None
    anon = [r["parent_anon_bytes"] for r in part if r["parent_anon_bytes"] is not None]
    found["parent_anon_min_bytes"] = min(anon, default=None)
    found["parent_anon_max_bytes"] = max(anon, default=None)
    saving = None
    if kind in {"vfork", "posix_spawn"}:
        saving = 0
    elif kind == "fork" and image is not None and found["tax_ns"] is not None:
        saving = max(found["tax_ns"] - found["count"] * VFORK_NS, 0)
    found["saving_ns"] = saving
    begins = [r.begin for r in timed]
    seconds = (max(begins) - min(begins)) / 1e9
    found["rate_per_s"] = (len(part) - 1) / seconds if len(part) > 1 and seconds > 0 else None
    return found
