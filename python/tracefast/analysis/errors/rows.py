"""The rows of the table of errors, from counts of failed calls."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from itertools import chain
from typing import Any, Final

from tracefast.analysis.errors.searches import Failed, Try, find_searches
from tracefast.analysis.path_patterns import patterns, suffix

# Of lists, so that a search in a folder of a million names has a row of a bounded size.
_LONGEST: Final = 1_000
# What is one row: the call, its error, and either the pattern or the search.
_Key = tuple[str, str, str | None, str | None]


@dataclass(frozen=True, slots=True)
class FailedCalls:
    """A row of `tracefast._core.FailedCalls`: calls that failed in one way, of one path."""

    source: str | None
    image: str | None
    name: str
    errno: str
    path: str | None
    calls: int
    count: int
    timed: int
    total_ns: int
    first_line: int | None


FAILED_CALLS: Final = tuple(field.name for field in fields(FailedCalls))


class _Calls:
    """The failed calls of one row."""

    def __init__(self) -> None:
        self.count = self.timed = self.total_ns = 0
        self.first_line: int | None = None
        # Of what is wanted in a folder, the first path: it may be tried with several suffixes.
        self.tries: dict[Try, list[str]] = {}

    def add(self, failed: FailedCalls) -> None:
        self.count += failed.count
        self.timed += failed.timed
        self.total_ns += failed.total_ns
        line = failed.first_line
        if line is not None and (self.first_line is None or line < self.first_line):
            self.first_line = line


def error_rows(failed: Iterable[FailedCalls]) -> list[dict[str, Any]]:
    """Make the rows of the table of errors, in their order.

    Parameters
    ----------
    failed
        The calls that failed.
    """
    programs: dict[tuple[str | None, str | None], list[FailedCalls]] = defaultdict(list)
    for one in failed:
        programs[one.source, one.image].append(one)
    rows: list[dict[str, Any]] = []
    for (source, image), of_program in programs.items():
        calls = {one.name: one.calls for one in of_program}
        for row in _rows(image, of_program):
            share = row["count"] / calls[row["name"]]
            rows.append({"source": source, "image": image, **row, "share": share})
    return sorted(rows, key=_most_frequent_first)


def _most_frequent_first(row: dict[str, Any]) -> list[Any]:
    """Sort by count and time, largest first, then by the rest; nulls come last."""
    largest = [None if row[name] is None else -row[name] for name in ("count", "total_ns")]
    rest = [row[name] for name in ("source", "first_line", "name", "errno", "pattern")]
    return [(value is None, value) for value in (*largest, *rest)]


def _rows(image: str | None, groups: Sequence[FailedCalls]) -> list[dict[str, Any]]:
    """Give the rows of one program."""
    searches = find_searches(
        image, [Failed(one.errno, one.name, one.path) for one in groups if one.path is not None]
    )
    alone: dict[tuple[str, str], list[str]] = defaultdict(list)
    for one in groups:
        if one.path is not None and Failed(one.errno, one.name, one.path) not in searches:
            alone[one.errno, one.name].append(one.path)
    of_call = {call: patterns(paths) for call, paths in alone.items()}
    rows: dict[_Key, _Calls] = defaultdict(_Calls)
    for one in groups:
        errno, name, path = one.errno, one.name, one.path
        search = None if path is None else searches.get(Failed(errno, name, path))
        pattern = None if path is None or search is not None else of_call[errno, name][path]
        calls = rows[errno, name, pattern, None if search is None else search.search]
        calls.add(one)
        if path is not None and search is not None:
            paths = calls.tries.setdefault(search, [])
            if not paths or search.wanted is None:
                paths.append(path)
    return [_row(key, calls) for key, calls in rows.items()]


def _row(key: _Key, calls: _Calls) -> dict[str, Any]:
    errno, name, pattern, search = key
    tries = calls.tries
    return {
        "errno": errno,
        "name": name,
        "pattern": pattern if search is None else _in_common(chain(*tries.values())),
        "count": calls.count,
        "total_ns": calls.total_ns if calls.timed else None,
        "first_line": calls.first_line,
        "search": search,
        "wanted": None if search is None else _distinct(one.wanted for one in tries),
        "folders": None if search is None else _distinct(one.folder for one in tries),
    }


def _distinct(texts: Iterable[str | None]) -> list[str]:
    return [text for text in dict.fromkeys(texts) if text is not None][:_LONGEST]


def _in_common(paths: Iterable[str]) -> str:
    """Write what the names that a search tried have in common."""
    names = {path.rpartition("/")[2] for path in paths}
    if len(names) == 1:
        return f"*/{names.pop()}"
    suffixes = {suffix(name) for name in names}
    return f"*{suffixes.pop() if len(suffixes) == 1 else ''}"
