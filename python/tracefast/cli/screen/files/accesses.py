"""`tracefast files --explain PATH`: the accesses of one file, and what they amount to."""

import shutil
import textwrap
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from tracefast.cli.command_line.options import Format
from tracefast.cli.command_line.request import Request
from tracefast.cli.messages.errors import DONE, FAILED, CommandError
from tracefast.cli.text import units
from tracefast.cli.text.escaping import printable
from tracefast.inputs.sources import STDIN

if TYPE_CHECKING:
    import polars as pl

    from tracefast.analysis.files.access_patterns import Habit
    from tracefast.analysis.files.inode_map import InodeMap

# What a table in text shows.
_MAIN = (
    "n",
    "ts",
    "pid",
    "name",
    "access",
    "offset",
    "gap",
    "requested",
    "bytes",
    "dur_ns",
    "line",
)
# What narrow terminals do without, the first one first.
_SPARE = ("requested", "pid", "gap", "dur_ns")
_LISTED = 10
_COMPARED = 20_000
_WIDTH = 100
# Of what the bytes of these say something else than that they moved.
_BYTES = {"eof-probe": " asked for", "mmap": " mapped"}


def show(
    request: Request,
    path: str,
    *,
    inode_map: "InodeMap | None" = None,
) -> int:
    """Print the accesses of one file and, below a table, what they amount to.

    Parameters
    ----------
    request
        What all tables are asked for.
    path
        The file: its path, the end of its path, or a pattern, that one path matches.
    inode_map
        Paths of files that are known by device and inode only.

    Returns
    -------
    int
        The exit code.

    Raises
    ------
    CommandError
        No path matches, or several do; or there is no column to sort by.
    """
    from tracefast.analysis.files.accesses import SCHEMA, calls_of, of_files
    from tracefast.analysis.files.inode_map import with_paths
    from tracefast.cli.inputs.event_sources import answer
    from tracefast.cli.output.write import deliver
    from tracefast.cli.screen.result_table import check_columns, chosen, finish

    check_columns(request, SCHEMA)
    matched: dict[str, set[int]] = {}

    def question(events: "pl.LazyFrame") -> "pl.LazyFrame":
        named = events if inode_map is None else with_paths(events, inode_map)
        name, files = _matching(_paths(named), path)
        matched.setdefault(name, set()).update(files)
        return calls_of(events, files)

    events, complete = answer(request, question)
    if events is None:
        return FAILED
    files = sorted(set().union(*matched.values()))
    rows = of_files(events, files).collect()
    finish(chosen(rows, request), request, main=_MAIN, spare=_SPARE)
    if request.form is Format.TABLE:
        deliver(f"{_told(', '.join(matched), events, rows)}\n".encode(), STDIN)
    return DONE if complete else FAILED


def _paths(events: "pl.LazyFrame") -> dict[str, list[int]]:
    """List the paths that opened files have, with their identities."""
    import polars as pl

    table = (
        events.select(pl.col("path").cast(pl.String), "file")
        .drop_nulls()
        .unique()
        .group_by("path")
        .agg("file")
        .sort("path")
        .collect()
    )
    return dict(table.rows())


def _matching(paths: dict[str, list[int]], wanted: str) -> tuple[str, list[int]]:
    """Find the one path that is meant: the whole one, a pattern, or the end of it."""
    tests = (
        lambda path: path == wanted,
        lambda path: fnmatchcase(path, wanted) or fnmatchcase(path.rpartition("/")[2], wanted),
        lambda path: path.endswith(f"/{wanted.removeprefix('/')}"),
        lambda path: path.endswith(wanted),
    )
    for test in tests:
        hits = [path for path in paths if test(path)]
        if len(hits) == 1:
            return hits[0], paths[hits[0]]
        if hits:
            more = f" and {len(hits) - _LISTED:,} more" if len(hits) > _LISTED else ""
            raise CommandError(
                f"--explain {wanted}: {len(hits):,} files match",
                f"give more of the path of one of them: {', '.join(hits[:_LISTED])}{more}",
            )
    near = _near(list(paths), wanted)
    hint = f"near it: {', '.join(near)}" if near else "tracefast files lists the paths"
    raise CommandError(f"--explain {wanted}: no file that was opened has such a path", hint)


def _near(paths: list[str], wanted: str) -> list[str]:
    """Find paths whose last name resembles the one that was meant."""
    name = wanted.rstrip("/").rpartition("/")[2].lower()
    inside = [path for path in paths if name and name in path.lower()]
    by_name: dict[str, str] = {}
    for path in paths[:_COMPARED]:
        by_name.setdefault(path.rpartition("/")[2].lower(), path)
    close = [by_name[match] for match in get_close_matches(name, by_name, n=3)]
    return list(dict.fromkeys([*close, *inside]))[:3]


def _told(path: str, events: "pl.DataFrame", rows: "pl.DataFrame") -> str:
    """Write what the accesses amount to, for below the table."""
    from tracefast.analysis.files.access_patterns import habits

    found = habits(events, rows)
    lines = [f"\n{printable(path)}: {_number(rows.height, 'access', 'accesses')}"]
    if not found:
        lines[0] += ", in which nothing stands out"
    width = min(shutil.get_terminal_size((_WIDTH, 0)).columns, _WIDTH)
    for habit in found:
        text = f"{habit.code}: {_evidence(habit)}: {habit.text}."
        lines.append(textwrap.fill(text, width, initial_indent="  ", subsequent_indent="    "))
    return "\n".join(lines)


def _evidence(habit: "Habit") -> str:
    size = _number(habit.bytes, "byte", "bytes") + _BYTES.get(habit.code, "")
    parts = [_number(habit.count, "call", "calls"), size]
    if habit.ns is not None:
        parts.append(units.duration(habit.ns))
    return ", ".join(parts)


def _number(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"
