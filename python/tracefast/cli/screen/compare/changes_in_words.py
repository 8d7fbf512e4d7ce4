"""What changed from one run to another, in a few sentences."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any, Final

import polars as pl

from tracefast.analysis.path_patterns import folder, suffix
from tracefast.cli.text import units
from tracefast.cli.text.escaping import printable
from tracefast.quantities import duration, plural

Row = dict[str, Any]

# How much of the change of a wider group a narrower one must have to be named instead.
_MOST: Final = 0.8
_CALLS: Final = 2
_OPENS: Final = {"opens": ("open", "opens"), "opens_failed": ("failed open", "failed opens")}


def in_words(changes: pl.DataFrame) -> list[str]:
    """Say in at most three sentences what changed most, what is new, and what is gone.

    Parameters
    ----------
    changes
        What :func:`tracefast.diff` gives: those rows that are worth a word.

    Examples
    --------
    >>> import tracefast as tf
    >>> events = tf.scan("demo.strace")
    >>> less = events.filter(~pl.col("name").cast(pl.String).str.contains("open"))
    >>> in_words(tf.diff(events, less).collect())
    ['after: 50.0 µs less in openat, 1 fewer open of /srv/demo/data.bin']
    """
    said = [*_times(changes), *_opened(changes), *_bytes(changes)]
    sentences = [f"after: {', '.join(said)}"] if said else []
    for word, side in (("new", "after"), ("gone", "before")):
        if things := [*_used(changes, side), *_processes(changes, side)]:
            sentences.append(f"{word}: {', '.join(things)}")
    return sentences


def _more_or_less(change: float, write: Callable[[int], str]) -> str:
    return f"{write(round(abs(change)))} {'more' if change > 0 else 'less'}"


def _times(changes: pl.DataFrame) -> Iterator[str]:
    """Name the calls that took more or less time, apart from what they waited for others."""
    calls: defaultdict[str, float] = defaultdict(float)
    times = changes.filter(table="syscalls", unit="ns").select("key", "measure", "change")
    for key, measure, change in times.iter_rows():
        calls[key] += -change if measure == "wait_ns" else change
    for key in sorted(calls, key=lambda key: (-abs(calls[key]), key))[:_CALLS]:
        # Less than a microsecond in all calls is nothing.
        if abs(calls[key]) >= 1000:  # noqa: PLR2004
            yield f"{_more_or_less(calls[key], duration)} in {printable(key)}"


def _opened(changes: pl.DataFrame) -> Iterator[str]:
    """Say how many more or fewer opens there are, and of which files."""
    for measure, (one, several) in _OPENS.items():
        if (found := _largest(changes.filter(table="files", measure=measure))) is not None:
            change, where = found
            number = round(abs(change))
            word = "more" if change > 0 else "fewer"
            yield f"{number:,} {word} {one if number == 1 else several} {where}"


def _bytes(changes: pl.DataFrame) -> Iterator[str]:
    for measure, verb, of in (("read_bytes", "read", "from"), ("write_bytes", "written", "to")):
        of_both = changes.filter(pl.col("only_in").is_null(), table="files", measure=measure)
        if (found := _largest(of_both, of)) is not None:
            change, where = found
            yield f"{_more_or_less(change, units.size)} {verb} {where}"


def _largest(rows: pl.DataFrame, of: str = "of") -> tuple[float, str] | None:
    """Give the largest change of a file, of a folder, or of files that end alike, and its name."""
    groups: list[defaultdict[str, float]] = [defaultdict(float) for _ in range(3)]
    for path, change in rows.select("key", "change").iter_rows():
        # A group of files has a pattern as its key.
        groups[0][f"{of} {path}"] += change
        if place := folder(path):
            groups[1][f"in {place}"] += change
        if ending := suffix(path):
            groups[2][f"{of} *{ending}"] += change
    best = [
        max(((change, name) for name, change in group.items()), key=lambda one: (abs(one[0]), one))
        for group in groups
        if group
    ]
    most = max((abs(change) for change, _ in best), default=0)
    found = next((one for one in best if abs(one[0]) >= _MOST * most), None)
    return None if found is None or not most else (found[0], printable(found[1]))


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
