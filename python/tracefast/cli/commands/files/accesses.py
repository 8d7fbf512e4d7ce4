"""`tracefast files --explain PATH`: the accesses of one file."""

from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final

import polars as pl

from tracefast.analysis.files.accesses import SCHEMA, calls_of, of_files
from tracefast.analysis.files.inode_map import with_paths
from tracefast.cli.command_line.exit_codes import DONE, FAILED
from tracefast.cli.command_line.request import Request
from tracefast.cli.inputs.event_sources import run_analysis
from tracefast.cli.messages.errors import CommandError
from tracefast.cli.screen.file_accesses import print_accesses
from tracefast.cli.screen.result_table import check_columns

if TYPE_CHECKING:
    from tracefast.analysis.files.inode_map import InodeMap

_MAX_LISTED: Final = 10
# Resemblance is quadratic in the length of names, and there may be millions of paths.
_MAX_COMPARED: Final = 20_000


def report_accesses(request: Request, wanted: str, *, inode_map: "InodeMap | None" = None) -> int:
    """Print the accesses of one file, summarize them, and give the exit code.

    Parameters
    ----------
    request
        The options that all tables share.
    wanted
        The file: its path, the end of its path, or a pattern that matches one path.
    inode_map
        Paths of files that are known by device and inode only.

    Raises
    ------
    CommandError
        No path matches, or several do; or there is no such column to sort by.
    """
    check_columns(request, SCHEMA)
    found: dict[str, set[int]] = {}

    def analysis(events: pl.LazyFrame) -> pl.LazyFrame:
        named = events if inode_map is None else with_paths(events, inode_map)
        path, files = _find_path(_opened_paths(named), wanted)
        found.setdefault(path, set()).update(files)
        return calls_of(events, files)

    events, complete = run_analysis(request, analysis)
    if events is None:
        return FAILED
    rows = of_files(events, sorted(set().union(*found.values()))).collect()
    print_accesses(rows, events, ", ".join(found), request)
    return DONE if complete else FAILED


def _opened_paths(events: pl.LazyFrame) -> dict[str, list[int]]:
    """List the paths of opened files, with the identities of the files."""
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


def _find_path(paths: dict[str, list[int]], wanted: str) -> tuple[str, list[int]]:
    """Find the one path that is meant: by its whole text, a pattern, or its end."""
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
            more = f" and {len(hits) - _MAX_LISTED:,} more" if len(hits) > _MAX_LISTED else ""
            raise CommandError(
                f"--explain {wanted}: {len(hits):,} files match",
                f"give more of the path, to match one of: {', '.join(hits[:_MAX_LISTED])}{more}",
            )
    similar = _similar_paths(list(paths), wanted)
    hint = "tracefast files lists the paths"
    if similar:
        hint = f"similar paths: {', '.join(similar)}"
    raise CommandError(f"--explain {wanted}: no opened file has this path", hint)


def _similar_paths(paths: list[str], wanted: str) -> list[str]:
    """Find paths whose last component resembles the one that was given."""
    name = wanted.rstrip("/").rpartition("/")[2].lower()
    inside = [path for path in paths if name and name in path.lower()]
    by_name: dict[str, str] = {}
    for path in paths[:_MAX_COMPARED]:
        by_name.setdefault(path.rpartition("/")[2].lower(), path)
    close = [by_name[match] for match in get_close_matches(name, by_name, n=3)]
    return list(dict.fromkeys([*close, *inside]))[:3]
