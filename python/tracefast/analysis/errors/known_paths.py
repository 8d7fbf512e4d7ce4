"""The paths of failed calls by number: so many as they are, the others by what is alike in them."""

from typing import Final

import polars as pl

from tracefast.analysis.path_patterns import folder, in_folder, shape, suffix

# Of each kind: paths, patterns of paths, patterns of folders.
_MOST: Final = 65_536
_ELSEWHERE: Final = "*"


class KnownPaths:
    """The paths that were seen, each with a number.

    A log may have a million paths that do not exist. The first 65,536 are kept as they are, so
    that only what differs between them is replaced later. Those that follow are known by their
    patterns, and when there are as many of these, by their folders and suffixes.
    """

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._numbers: dict[str, int] = {}

    def numbered(self, paths: pl.Series) -> pl.DataFrame:
        """Give the number of each path, in columns `path` and `number`."""
        numbers = [self._number(path) for path in paths]
        return pl.DataFrame(
            {"path": paths, "number": numbers}, schema={"path": pl.String, "number": pl.UInt32}
        )

    def texts(self) -> pl.DataFrame:
        """Give the path, or the pattern, of each number."""
        return pl.DataFrame(
            {"number": self._numbers.values(), "path": self._numbers.keys()},
            schema={"number": pl.UInt32, "path": pl.String},
        )

    def _number(self, path: str) -> int:
        known = self._numbers
        if (number := known.get(path)) is not None:
            return number
        if len(known) >= self._most:
            path = shape(path)
            if len(known) >= 2 * self._most and path not in known:
                path = in_folder(folder(path), suffix(path)) if "/" in path else _ELSEWHERE
                if len(known) >= 3 * self._most and path not in known:
                    path = _ELSEWHERE
        return known.setdefault(path, len(known))
