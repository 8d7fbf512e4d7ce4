"""A log that is parsed before its batches are asked for, while what asks for them is imported."""

from collections.abc import Iterable
from typing import Final

from tracefast import _core
from tracefast.reading import FormatIn, Machine

# Batches that may wait then. While polars is imported, some 75 are made; long texts end it earlier.
_BATCHES: Final = 128


class Ahead:
    """A reader of a log, which has started.

    Parameters
    ----------
    log
        A file.
    columns
        Names of the columns that will be asked for.
    format_in, machine, assume_complete
        As for :func:`tracefast.scan`.

    Raises
    ------
    Error, OSError
        The log cannot be read.

    Examples
    --------
    >>> log = Ahead("demo.strace", ["ts", "name"])
    >>> log.take(["ts"]) is None
    True
    >>> sum(len(batch) for batch in log.take(["name", "ts"]))
    8
    """

    def __init__(
        self,
        log: str,
        columns: Iterable[str],
        *,
        format_in: FormatIn | None = None,
        machine: Machine | None = None,
        assume_complete: bool = False,
    ) -> None:
        self.log = log
        self.progress = _core.Progress()
        """Counters of what was read."""
        self._columns = set(columns)
        self._reader: _core.Reader | None = _core.Reader(
            [log],
            format_in=format_in,
            machine=machine,
            assume_complete=assume_complete,
            columns=list(columns),
            progress=self.progress,
            ahead=_BATCHES,
        )

    def take(self, columns: Iterable[str]) -> _core.Reader | None:
        """Give the reader, once, if it has these columns in any order."""
        if set(columns) != self._columns:
            return None
        reader, self._reader = self._reader, None
        return reader

    def close(self) -> None:
        """Stop reading, if nobody has taken the reader."""
        if self._reader is not None:
            self._reader.close()
            self._reader = None
