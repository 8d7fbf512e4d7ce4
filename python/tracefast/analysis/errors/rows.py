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
_PROGRAM: Final = ("source", "image")
_CALLER: Final = ("source", "task")
_NO_TIME: Final = pl.lit(0).cast(pl.Datetime("ns"))
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


def error_rows(
    failed: pl.DataFrame, calls: pl.DataFrame, callers: pl.DataFrame, processes: pl.DataFrame
) -> pl.DataFrame:
    """Make the table of errors.

    Parameters
    ----------
    failed
        Failed calls by task, error, name and path.
    calls
        All calls by task and name.
    callers
        The process id of each task, and when its first event was.
    processes
        `tracefast.processes`.
    """
    images = _images(callers, processes)
    by_name = [*_PROGRAM, "name"]
    all_calls = (
        calls.join(images, on=_CALLER, how="left", nulls_equal=True)
        .group_by(by_name)
        .agg(pl.col("calls").sum())
        .with_columns(pl.col("source", "name").cast(pl.String))
    )
    groups = (
        failed.join(images, on=_CALLER, how="left", nulls_equal=True)
        .group_by(*by_name, "errno", "path")
        .agg(pl.col("count", "timed", "total_ns").sum(), pl.col("first_line").min())
        .with_columns(pl.col("source", "name", "errno").cast(pl.String))
        .sort("first_line", "path", nulls_last=True)
    )
    rows: list[dict[str, Any]] = []
    for program, of_program in groups.partition_by(_PROGRAM, as_dict=True).items():
        named = dict(zip(_PROGRAM, program, strict=True))
        rows += [named | row for row in _rows(named["image"], of_program)]
    return (
        pl.DataFrame(rows, schema=SCHEMA)
        .join(all_calls, on=by_name, how="left", nulls_equal=True)
        .with_columns((pl.col("count") / pl.col("calls")).alias("share"))
        .sort(
            *("count", "total_ns", "source", "first_line", "name", "errno", "pattern"),
            descending=[True, True, *[False] * 5],
            nulls_last=True,
        )
        .select(pl.col(name).cast(dtype) for name, dtype in SCHEMA.items())
    )


def _images(callers: pl.DataFrame, processes: pl.DataFrame) -> pl.DataFrame:
    """Give the program of each caller: of its process, whose first task it is or whose id it has.

    Of several processes that had the same id, it is the last one that began before the caller did.
    """
    known = processes.select(
        pl.col("source").cast(pl.Categorical),
        "task",
        "pid",
        pl.coalesce("image", pl.col("comm").cast(pl.String)).alias("image"),
        pl.col("ts_start").fill_null(_NO_TIME).alias("ts"),
    )
    first = known.select(*_CALLER, "image")
    others = callers.join(first, on=_CALLER, how="anti")
    others = others.with_columns(pl.col("ts").fill_null(_NO_TIME)).sort("ts")
    by_id = others.join_asof(
        known.drop("task").sort("ts"), on="ts", by=["source", "pid"], check_sortedness=False
    )
    return pl.concat([first, by_id.select(first.columns)])


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
