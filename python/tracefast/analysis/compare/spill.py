"""Frames of numbers in a temporary file, to be read again part by part."""

import io
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from typing import Final, Self

import polars as pl

# Less than this stays in memory: most comparisons need no file.
_IN_MEMORY: Final = 8 << 20


class Spill:
    """Frames in parts: what was added is given again, in order, one frame at a time.

    The file has no name, so that nothing is left of it, however the process ends.

    Examples
    --------
    >>> with Spill() as spill:
    ...     spill.add(pl.DataFrame({"n": [1, 2]}), part=7)
    ...     [frame["n"].to_list() for frame in spill.read(part=7)]
    [[1, 2]]
    """

    def __init__(self) -> None:
        # It stays open as long as this object.
        self._file = tempfile.SpooledTemporaryFile(_IN_MEMORY, prefix=".tracefast-")  # noqa: SIM115
        self._places: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def add(self, frame: pl.DataFrame, part: int = 0) -> None:
        """Write a frame.

        Raises
        ------
        OSError
            The folder for temporary files, which it names, is full.
        """
        stream = io.BytesIO()
        frame.write_ipc_stream(stream, compression="lz4")
        try:
            at = self._file.seek(0, io.SEEK_END)
            length = self._file.write(stream.getbuffer())
            self._file.flush()
        except OSError as error:
            raise OSError(error.errno, error.strerror, tempfile.gettempdir()) from error
        self._places[part].append((at, length))

    def read(self, part: int = 0) -> Iterator[pl.DataFrame]:
        """Give the frames of a part."""
        for at, length in self._places[part]:
            self._file.seek(at)
            yield pl.read_ipc_stream(io.BytesIO(self._file.read(length)))

    def close(self) -> None:
        """Remove the file."""
        self._file.close()
