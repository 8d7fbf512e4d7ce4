"""Find the one file that a path, its end, or a pattern means."""

from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Final

import polars as pl

from tracefast._polars.given_events import Events, rows_of

_MAX_LISTED: Final = 10
# Resemblance is quadratic in the length of names, and there may be millions of paths.
_MAX_COMPARED: Final = 20_000


class PathNotFoundError(ValueError):
    """No path matches, or several do.

    Attributes
    ----------
    hint
        What to try instead.
    """

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message, hint)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}: {self.hint}"


def used_paths(events: Events) -> dict[str, list[int]]:
    """List the paths of opened files, with the identities of the files."""
    table = (
        rows_of(events, ("path", "file"), "tracefast.plot.offsets")
        .select(pl.col("path").cast(pl.String), "file")
        .drop_nulls()
        .unique()
        .group_by("path")
        .agg("file")
        .sort("path")
        .collect()
    )
    return dict(table.rows())


def find_path(paths: dict[str, list[int]], wanted: str) -> tuple[str, list[int]]:
    """Find the one path that is meant: by its whole text, a pattern, or its end.

    Parameters
    ----------
    paths
        What `used_paths` gave.
    wanted
        The path, the end of it, or a pattern.

    Raises
    ------
    PathNotFoundError
        No path matches, or several do.

    Examples
    --------
    >>> find_path({"/srv/a.bin": [1], "/srv/b.txt": [2]}, "*.bin")
    ('/srv/a.bin', [1])
    """
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
            raise PathNotFoundError(
                f"{wanted}: {len(hits):,} files match",
                f"give more of the path, to match one of: {', '.join(hits[:_MAX_LISTED])}{more}",
            )
    similar = _similar_paths(list(paths), wanted)
    hint = "tracefast files lists the paths"
    if similar:
        hint = f"similar paths: {', '.join(similar)}"
    raise PathNotFoundError(f"{wanted}: no opened file has this path", hint)


def _similar_paths(paths: list[str], wanted: str) -> list[str]:
    """Find paths whose last component resembles the one that was given."""
    name = wanted.rstrip("/").rpartition("/")[2].lower()
    inside = [path for path in paths if name and name in path.lower()]
    by_name: dict[str, str] = {}
    for path in paths[:_MAX_COMPARED]:
        by_name.setdefault(path.rpartition("/")[2].lower(), path)
    close = [by_name[match] for match in get_close_matches(name, by_name, n=3)]
    return list(dict.fromkeys([*close, *inside]))[:3]
