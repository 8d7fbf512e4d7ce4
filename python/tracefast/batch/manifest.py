"""The records of a batch: a folder of small files, one per log.

One file per log needs no lock, which network file systems do not support reliably: each job
replaces the file of its own log by a rename. The folder is beside that of the outputs, because
polars reads every file in a folder, hidden or not, and refuses one that holds more than Parquet.
"""

import errno
import json
import os
import stat
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal, Self
from uuid import uuid4

from tracefast.outputs import write_whole

Status = Literal["done", "skipped", "failed"]

_HEAD = 4 << 10
_TAIL = 64 << 10
# Temporary files that were not written to for so long are those of processes that were killed.
_ABANDONED_S = 3600


@dataclass(frozen=True, slots=True)
class Stamp:
    """What a log looked like before it was read.

    Attributes
    ----------
    files
        Number of its files: more than one where it is cut by task.
    size
        Their size on disk, in bytes.
    mtime_ns
        When the last of them was changed, in ns since 1970.
    check
        Hash of their names, sizes, times, and of the bytes at their beginnings and ends.
    """

    files: int
    size: int
    mtime_ns: int
    check: str

    @classmethod
    def from_files(cls, files: Iterable[str]) -> Self:
        """Look at files.

        Raises
        ------
        OSError
            One of them is missing, cannot be read, or could be read only once, as a pipe.

        Examples
        --------
        >>> stamp = Stamp.from_files(["demo.strace"])
        >>> stamp.files, stamp.size == Path("demo.strace").stat().st_size
        (1, True)
        >>> stamp == Stamp.from_files(["demo.strace"])
        True
        """
        number = size = newest = 0
        digest = blake2b(digest_size=16)
        for file in files:
            facts = Path(file).stat()
            _check_regular(file, facts.st_mode)
            number += 1
            size += facts.st_size
            newest = max(newest, facts.st_mtime_ns)
            line = f"{facts.st_size} {facts.st_mtime_ns} {check_of(file)} "
            digest.update(line.encode() + os.fsencode(file) + b"\0")
        return cls(number, size, newest, digest.hexdigest())


@dataclass(frozen=True, slots=True)
class Record:
    """The result for one log, which the manifest holds as one line of JSON.

    Attributes
    ----------
    source
        Absolute path of the log; the column `source` of its rows.
    status
        ``"done"`` or ``"failed"``; ``"skipped"`` in results only: done by an earlier run.
    output
        Path of the output, from the folder of outputs.
    stamp
        The log before it was read; None if it could not be looked at.
    options
        Those options that the rows, or the bytes of the output, depend on.
    version, schema
        Of tracefast, and of its event schema.
    output_bytes, output_check
        Size of the output, and a hash of its end, which a half-copied one does not have.
    rows, lines, unparsed, bytes
        Rows of the output; lines and bytes of the log's text; lines that were not understood.
    losses
        Those lines, values that are lost, and a log that ends within a call.
    seconds
        How long the work took.
    warnings
        What else there is to say of the log.
    error, hint
        Why it failed, and what to do.
    """

    source: str
    status: Status
    output: str
    stamp: Stamp | None
    options: Mapping[str, object]
    version: str
    schema: str
    output_bytes: int | None = None
    output_check: str | None = None
    rows: int | None = None
    lines: int | None = None
    unparsed: int | None = None
    losses: int | None = None
    bytes: int | None = None
    seconds: float | None = None
    warnings: list[str] = field(default_factory=list)
    error: str | None = None
    hint: str | None = None

    def to_json(self) -> str:
        """Write the record as one line; names that are not UTF-8 become escapes."""
        plain = asdict(self)
        stamp = plain.pop("stamp") or dict.fromkeys(field.name for field in fields(Stamp))
        return json.dumps({"source": plain.pop("source"), **stamp, **plain})

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read a record.

        Raises
        ------
        ValueError
            The text is not whole, or is of another version.
        """
        plain: dict[str, Any] = json.loads(text)
        try:
            seen = {field.name: plain.pop(field.name) for field in fields(Stamp)}
            stamp = None if seen["files"] is None else Stamp(**seen)
            return cls(stamp=stamp, **plain)
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError("no record of this version") from error


@dataclass(frozen=True, slots=True)
class Manifest:
    """The folder of the records, and of what is being written."""

    folder: str

    @classmethod
    def beside(cls, out_dir: str) -> Self:
        """Name the manifest of a folder of outputs.

        Examples
        --------
        >>> Manifest.beside("/srv/events").folder
        '/srv/events.manifest'
        """
        return cls(out_dir + ".manifest")

    def prepare(self) -> None:
        """Create the folder, and remove temporary files of processes that were killed.

        Raises
        ------
        OSError
            The folder cannot be created.
        """
        self._partials.mkdir(parents=True, exist_ok=True)
        limit = time.time() - _ABANDONED_S
        for path in self._partials.iterdir():
            # Another run may do the same.
            with suppress(FileNotFoundError):
                if path.stat().st_mtime < limit:
                    path.unlink()

    def partial(self, suffix: str) -> Path:
        """Give a unique path for a temporary file on the file system of the outputs."""
        return self._partials / (uuid4().hex + suffix)

    def read(self, name: str) -> Record | None:
        """Give the record of a log; None if it is missing or cannot be read."""
        try:
            return Record.from_json(self._path(name).read_text("ascii"))
        except (OSError, ValueError, RecursionError):
            return None

    def write(self, name: str, record: Record) -> None:
        """Write the record of a log, replacing an earlier one.

        Raises
        ------
        OSError
            It cannot be written.
        """
        data = (record.to_json() + "\n").encode("ascii")
        # A record that a crash of the machine loses costs nothing but parsing the log again.
        write_whole(self._path(name), data, sync=False, folder=self._partials)

    @property
    def _partials(self) -> Path:
        return Path(self.folder, "partial")

    def _path(self, name: str) -> Path:
        return Path(self.folder, name + ".json")


def _check_regular(file: str, mode: int) -> None:
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), file)
    if not stat.S_ISREG(mode):
        error = OSError(errno.EINVAL, "Not a regular file", file)
        error.__dict__["hint"] = "parse it on its own: a batch reads only regular files"
        raise error


def check_of(file: str | os.PathLike[str]) -> str:
    """Hash the start and the end of a file: cheap, and different for most other files.

    Raises
    ------
    OSError
        It cannot be read.
    """
    digest = blake2b(digest_size=16)
    with Path(file).open("rb", buffering=0) as opened:
        digest.update(opened.read(_HEAD))
        end = opened.seek(0, os.SEEK_END)
        opened.seek(max(end - _TAIL, 0))
        digest.update(opened.read(_TAIL))
    return digest.hexdigest()
