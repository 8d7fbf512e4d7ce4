"""What changed from one run to another, in a few sentences."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, Final

import polars as pl

from tracefast.analysis.compare.tables import COUNT, NO_NAME, RUN, TOTALS, WALL
from tracefast.analysis.path_patterns import folder, suffix
from tracefast.cli.text import units
from tracefast.cli.text.escaping import printable
from tracefast.quantities import duration, plural

Row = dict[str, Any]

# How much of the change of a wider group a narrower one must have to be named instead.
_MOST: Final = 0.8
# A folder with less above it is that of a system, and says nothing.
_LEAST_DEPTH: Final = 2
_CALLS: Final = 2
_OPENS: Final = {"opens": ("open", "opens"), "opens_failed": ("failed open", "failed opens")}
# Totals that are worth a word, and how many of them, and from what change on.
_TOTALS: Final = 4
_NOTICED: Final = 0.01
# Fewer bytes are less than a page.
_FEW_BYTES: Final = 4096
# Less than a microsecond in all calls is nothing.
_SHORT: Final = 1000


def in_words(changes: pl.DataFrame, parts: pl.DataFrame | None = None) -> list[str]:
    """Say what changed in total, what changed most, what is new, and what is gone.

    Parameters
    ----------
    changes
        What :func:`tracefast.diff` gives: those rows that are worth a word.
    parts
        All of its rows, where the others show what a total of opens consists of.

    Examples
    --------
    >>> import tracefast as tf
    >>> events = tf.scan("demo.strace")
    >>> less = events.filter(~pl.col("name").cast(pl.String).str.contains("open"))
    >>> in_words(tf.diff(events, less).collect())
    ['in total: 100 µs less run time, 1 fewer open, 1 fewer call',
     'after: 50.0 µs less in openat, 1 fewer open of /srv/demo/data.bin']
    """
    sentences = []
    if whole := list(islice(_totals(changes, parts), _TOTALS)):
        sentences.append(f"in total: {', '.join(whole)}")
    if said := [*_times(changes), *_slept(changes), *_opened(changes), *_bytes(changes)]:
        sentences.append(f"after: {', '.join(said)}")
    for word, side in (("new", "after"), ("gone", "before")):
        if things := [*_used(changes, side), *_processes(changes, side)]:
            sentences.append(f"{word}: {', '.join(things)}")
    return sentences


def _totals(changes: pl.DataFrame, parts: pl.DataFrame | None) -> Iterator[str]:
    """Say how the whole runs differ, the most important first, but for changes below 1 %."""
    totals = changes.filter(pl.col("table") == TOTALS).rows_by_key(["key", "measure"], named=True)
    for (key, measure), write in _IN_TOTAL.items():
        for row in totals.get((key, measure), []):
            least = _FEW_BYTES if row["unit"] == "bytes" else 0
            where = None
            if abs(row["change"]) >= max(_NOTICED * max(row["before"], row["after"]), least):
                # Where files themselves are worth a word, `_opened` names them.
                if parts is not None and changes.filter(table=key, measure=measure).is_empty():
                    where = _part(parts, key, measure, row["change"])
                yield write(row["change"]) + (f" ({where})" if where else "")


def _part(parts: pl.DataFrame, table: str, measure: str, change: float) -> str | None:
    """Say where most of a change of opens is."""
    if measure not in _OPENS:
        return None
    found = _largest(parts.filter(table=table, measure=measure))
    if found is None or not _MOST <= found[0] / change <= 1:
        return None
    number = "all" if found[0] == change else f"{round(abs(found[0])):,}"
    return f"{number} {found[1]}"


def _more_or_less(change: float, write: Callable[[int], str]) -> str:
    return f"{write(round(abs(change)))} {'more' if change > 0 else 'less'}"


def _of_time(what: str) -> Callable[[float], str]:
    return lambda change: f"{_more_or_less(change, duration)} {what}"


def _of_bytes(what: str) -> Callable[[float], str]:
    return lambda change: f"{_more_or_less(change, units.size)} {what}"


def _of_number(one: str, several: str) -> Callable[[float], str]:
    return lambda change: _more_or_fewer(change, one, several)


def _more_or_fewer(change: float, one: str, several: str) -> str:
    number = round(abs(change))
    return f"{number:,} {'more' if change > 0 else 'fewer'} {one if number == 1 else several}"


_IN_TOTAL: Final[dict[tuple[str, str], Callable[[float], str]]] = {
    (RUN, WALL): _of_time("run time"),
    ("files", "opens_failed"): _of_number("failed open", "failed opens"),
    ("processes", COUNT): _of_number("process", "processes"),
    ("files", "read_bytes"): _of_bytes("read"),
    ("files", "write_bytes"): _of_bytes("written"),
    ("files", "opens"): _of_number("open", "opens"),
    ("syscalls", "calls"): _of_number("call", "calls"),
    ("syscalls", "errors"): _of_number("failed call", "failed calls"),
}


def _times(changes: pl.DataFrame) -> Iterator[str]:
    """Name the calls that took more or less time, apart from what they waited for others."""
    calls: defaultdict[str, float] = defaultdict(float)
    times = changes.filter(table="syscalls", unit="ns").select("key", "measure", "change")
    for key, measure, change in times.iter_rows():
        calls[key] += -change if measure == "wait_ns" else change
    for key in sorted(calls, key=lambda key: (-abs(calls[key]), key))[:_CALLS]:
        if abs(calls[key]) >= _SHORT:
            yield f"{_more_or_less(calls[key], duration)} in {printable(key)}"


def _slept(changes: pl.DataFrame) -> Iterator[str]:
    """Name the program whose sleep changed most. `_times` leaves out all waits."""
    sleeps = changes.filter(pl.col("key").str.ends_with(" timer"), table="waits", unit="ns")
    slept: defaultdict[str, float] = defaultdict(float)
    for key, change in sleeps.select("key", "change").iter_rows():
        slept[key.rsplit(" ", 2)[0]] += change
    image = max(slept, key=lambda image: (abs(slept[image]), image), default=None)
    if image is not None and abs(slept[image]) >= _SHORT:
        yield f"{_more_or_less(slept[image], duration)} sleep of {printable(image)}"


def _opened(changes: pl.DataFrame) -> Iterator[str]:
    """Say how many more or fewer opens there are, and of which files."""
    for measure, (one, several) in _OPENS.items():
        if (found := _largest(changes.filter(table="files", measure=measure))) is not None:
            change, where = found
            yield f"{_more_or_fewer(change, one, several)} {where}"


def _bytes(changes: pl.DataFrame) -> Iterator[str]:
    for measure, verb, of in (("read_bytes", "read", "from"), ("write_bytes", "written", "to")):
        of_both = changes.filter(
            pl.col("only_in").is_null(),
            pl.col("key") != NO_NAME,
            pl.col("change").abs() >= _FEW_BYTES,
            table="files",
            measure=measure,
        )
        if (found := _largest(of_both, of)) is not None:
            change, where = found
            yield f"{_more_or_less(change, units.size)} {verb} {where}"


def _largest(rows: pl.DataFrame, of: str = "of") -> tuple[float, str] | None:
    """Give the largest change of a file, of a folder, or of files that end alike, and its name."""
    # Of a file, in its folder, below a folder that one side alone has, of files that end alike.
    groups: list[defaultdict[str, float]] = [defaultdict(float) for _ in range(4)]
    for path, change, only_in in rows.select("key", "change", "only_in").iter_rows():
        # A group of files has a pattern as its key.
        groups[0][f"{of} {path}"] += change
        if place := folder(path):
            groups[1][f"in {place}"] += change
        while only_in and place.count("/") >= _LEAST_DEPTH:
            groups[2][f"below {place}"] += change
            place = folder(place)
        if ending := suffix(path):
            groups[3][f"of *{ending}"] += change
    most = max((abs(change) for group in groups for change in group.values()), default=0)
    for group in groups:
        large = [(change, name) for name, change in group.items() if abs(change) >= _MOST * most]
        if most and large:
            # Of folders in each other, the innermost that has nearly all.
            best = max(
                large, key=lambda one: (group is groups[2] and len(one[1]), abs(one[0]), one)
            )
            return best[0], printable(best[1])
    return None


def _used(changes: pl.DataFrame, side: str) -> Iterator[str]:
    """Name the file that only one side reads or writes most often."""
    for measure, noun in (("reads", "read"), ("writes", "write")):
        rows = changes.filter(only_in=side, table="files", measure=measure)
        if not rows.is_empty():
            row = rows.row(0, named=True)
            yield f"{plural(round(row[side]), noun)} of {printable(row['key'])}"


def _processes(changes: pl.DataFrame, side: str) -> Iterator[str]:
    rows = changes.filter(only_in=side, table="processes", measure="count")
    if not rows.is_empty():
        row = rows.row(0, named=True)
        yield f"{plural(round(row[side]), 'process', 'processes')} of {printable(row['key'])}"
