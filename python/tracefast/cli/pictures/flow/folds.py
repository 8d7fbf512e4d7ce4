"""Which ends are one node: what they have in common is their key."""

from collections.abc import Callable, Hashable
from typing import Final

import polars as pl

from tracefast.analysis.path_patterns import folder, shape, suffix
from tracefast.cli.pictures.flow.ends import PROCESSES, End, Flows

# By end, the number of its key, which ends that are one node share.
Keys = pl.Series
Fold = Callable[[Flows], Keys]


def program(name: str | None) -> str:
    """Give the program in the name of a process, `gzip 11807`; leave out the number of others."""
    words = (name or "?").split(" ")
    while len(words) > 1 and (words[-1].isdigit() or words[-1].startswith("#")):
        words.pop()
    return " ".join(words).rpartition("/")[2]


def _pattern(end: End) -> Hashable:
    """Give what is the same of an end and others like it, whatever they are called."""
    name = end.name or ""
    if end.kind in PROCESSES:
        return end.log, end.kind, program(end.name)
    if end.is_file:
        return end.log, end.kind, end.role, shape(folder(name)), suffix(name)
    if end.kind == "shm":
        return end.log, end.kind, program(name)
    if end.kind == "socket" and ":" in name:
        # Each run gets other ports from the system.
        return end.log, end.kind, name.rpartition(":")[0]
    return end.log, end.kind, None if end.kind == "pipe" else end.name


def _numbers(keys: list[Hashable]) -> Keys:
    """Give numbers to keys, which are quicker to compare."""
    known: dict[Hashable, int] = {}
    return pl.Series([known.setdefault(key, len(known)) for key in keys], dtype=pl.UInt32)


def alike(flows: Flows) -> Keys:
    """Fold processes of a program that used like files in the same way; then files by these."""
    patterns = _numbers([_pattern(end) for end in flows.ends])
    processes = pl.Series([end.kind in PROCESSES for end in flows.ends], dtype=pl.Boolean)
    around = _around(flows.edges, patterns, processes)
    keys: list[Hashable] = list(patterns)
    for end, seen in around:
        keys[end] = patterns[end], seen
    kinds = _numbers(keys)
    keys = list(kinds)
    for end, seen in _around(flows.edges, kinds, ~processes):
        keys[end] = patterns[end], seen
    return _numbers(keys)


def _around(edges: pl.DataFrame, keys: Keys, which: pl.Series) -> list[tuple[int, Hashable]]:
    """Give for some ends the keys of what they give to, and of what they take from."""
    ways = [("source", "target"), ("target", "source")]
    seen = [
        edges.select(
            end=pl.col(end), seen=pl.lit(keys).gather(pl.col(other)).cast(pl.UInt64) * 2 + way
        ).unique()
        for way, (end, other) in enumerate(ways)
    ]
    found = pl.concat(seen).filter(pl.lit(which).gather(pl.col("end")))
    found = found.group_by("end").agg(pl.col("seen").sort())
    return [(end, tuple(seen)) for end, seen in found.iter_rows()]


def same_folder(flows: Flows) -> Keys:
    """Fold processes by their program, files by role and folder."""
    return _numbers(
        [
            (end.log, end.kind, end.role, folder(end.name or "")) if end.is_file else _pattern(end)
            for end in flows.ends
        ]
    )


def same_role(flows: Flows) -> Keys:
    """Fold files by role and the first folders."""
    return _numbers([_part(end) for end in flows.ends])


def same_in_all_logs(flows: Flows) -> Keys:
    """Fold what is in several logs, too."""
    return _numbers([_part(end._replace(log=None)) for end in flows.ends])


def _part(end: End) -> Hashable:
    if end.is_file:
        return end.log, end.kind, end.role, "/".join((end.name or "").split("/")[:3])
    return (end.log, end.kind) if end.kind in {"host", "socket"} else _pattern(end)


# From what shows most to what needs the least room.
FOLDS: Final[tuple[Fold, ...]] = (alike, same_folder, same_role, same_in_all_logs)
