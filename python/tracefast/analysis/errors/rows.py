"""The rows of the table of errors, from counts of failed calls."""

from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import Any, Final

import polars as pl

from tracefast._polars.declared_schema import declared_schema
from tracefast.analysis.errors.searches import Failed, Try, find_searches
from tracefast.analysis.path_patterns import patterns, suffix

SCHEMA: Final = declared_schema("errors")
# Of lists, so that a search in a folder of a million names has a row of a bounded size.
_LONGEST: Final = 1_000
# What is one row: the call, its error, and either the pattern or the search.
_Key = tuple[str, str, str | None, str | None]


class _Calls:
    """The failed calls of one row."""

    def __init__(self) -> None:
        self.count = self.timed = self.total_ns = 0
        self.first_line: int | None = None
        self.tries: dict[Try, str] = {}

    def add(self, count: int, timed: int, total_ns: int, line: int | None) -> None:
        self.count += count
        self.timed += timed
        self.total_ns += total_ns
        if line is not None and (self.first_line is None or line < self.first_line):
            self.first_line = line


def error_rows(failed: pl.DataFrame) -> pl.DataFrame:
    """Make the table of errors.

    Parameters
    ----------
    failed
        The table of `tracefast._core.FailedCalls`.
    """
    rows: list[dict[str, Any]] = []
    for of_program in failed.partition_by("source", "image", maintain_order=True):
        calls = dict(of_program.select("name", "calls").iter_rows())
        program = of_program.row(0, named=True)
        for row in _rows(program["image"], of_program):
            share = row["count"] / calls[row["name"]]
            rows.append(
                row | {"source": program["source"], "image": program["image"], "share": share}
            )
    return pl.DataFrame(rows, schema=SCHEMA).sort(
        *("count", "total_ns", "source", "first_line", "name", "errno", "pattern"),
        descending=[True, True, *[False] * 5],
        nulls_last=True,
    )


def _rows(image: str | None, groups: pl.DataFrame) -> list[dict[str, Any]]:
    """Give the rows of one program."""
    columns = ("errno", "name", "path", "count", "timed", "total_ns", "first_line")
    found = groups.select(columns).rows()
    searches = find_searches(
        image, [Failed(errno, name, path) for errno, name, path, *_ in found if path is not None]
    )
    alone: dict[tuple[str, str], list[str]] = defaultdict(list)
    for errno, name, path, *_ in found:
        if path is not None and Failed(errno, name, path) not in searches:
            alone[errno, name].append(path)
    of_call = {call: patterns(paths) for call, paths in alone.items()}
    rows: dict[_Key, _Calls] = defaultdict(_Calls)
    for errno, name, path, *numbers in found:
        one = None if path is None else searches.get(Failed(errno, name, path))
        pattern = None if path is None or one is not None else of_call[errno, name][path]
        calls = rows[errno, name, pattern, None if one is None else one.search]
        calls.add(*numbers)
        if one is not None:
            calls.tries.setdefault(one, path)
    return [_row(key, calls) for key, calls in rows.items()]


def _row(key: _Key, calls: _Calls) -> dict[str, Any]:
    errno, name, pattern, search = key
    tries = calls.tries
    return {
        "errno": errno,
        "name": name,
        "pattern": pattern if search is None else _in_common(tries.values()),
        "count": calls.count,
        "total_ns": calls.total_ns if calls.timed else None,
        "first_line": calls.first_line,
        "search": search,
        "wanted": None if search is None else _distinct(one.wanted for one in tries),
        "folders": None if search is None else _distinct(one.folder for one in tries),
    }


def _distinct(texts: Iterable[str | None]) -> list[str]:
    return [text for text in dict.fromkeys(texts) if text is not None][:_LONGEST]


def _in_common(paths: Collection[str]) -> str:
    """Write what the names that a search tried have in common."""
    names = {path.rpartition("/")[2] for path in paths}
    if len(names) == 1:
        return f"*/{names.pop()}"
    suffixes = {suffix(name) for name in names}
    return f"*{suffixes.pop() if len(suffixes) == 1 else ''}"
