"""Standard input as a file: a query may read its events more than once."""

import os
import select
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import tracefast
from tracefast.cli.command_line.request import Request
from tracefast.inputs.contents import content_of
from tracefast.inputs.sources import STDIN

_STDIN = 0
_HEAD = 8
_CHUNK = 1 << 16
_PATIENCE_S = 0.05


def spool(folder: Path, request: Request) -> Path:
    """Keep standard input in a file: columns as they come, a log as Parquet, which is far smaller.

    Parameters
    ----------
    folder
        Where to put the file.
    request
        How to read a log.

    Returns
    -------
    pathlib.Path
        The file.

    Raises
    ------
    Error
        Standard input cannot be a log.
    OSError
        It cannot be read, or the folder is full.
    """
    head, seekable = _peek()
    if content_of(head) == "log":
        with _replayed(b"" if seekable else head):
            return _parsed(STDIN, folder / "stdin.parquet", request)
    path = folder / "stdin"
    with path.open("wb") as file:
        if not seekable:
            file.write(head)
        while chunk := _read(_CHUNK):
            file.write(chunk)
    return path


def spool_pipe(name: str, folder: Path, request: Request) -> Path:
    """Keep what comes from a pipe that has a name in a file, as Parquet.

    Parameters
    ----------
    name
        Path of the pipe, such as ``/dev/fd/63``. It holds a log: of columns, nobody reads a pipe.
    folder
        Where to put the file.
    request
        How to read a log.

    Returns
    -------
    pathlib.Path
        The file.

    Raises
    ------
    Error
        It cannot be a log.
    OSError
        It cannot be read, or the folder is full.
    """
    return _parsed(name, folder / f"pipe-{len(list(folder.iterdir()))}.parquet", request)


def _parsed(source: str, path: Path, request: Request) -> Path:
    """Make Parquet of a log that can be read once, and pass on what is odd about it."""
    report = tracefast.parse(source, path, format_in=request.format_in, machine=request.machine)
    for warning in report.warnings:
        request.warn(warning)
    return path


def _read(size: int) -> bytes:
    """Read what there is; meanwhile an interrupt is heard.

    Polars handles signals in a way that lets the system go on with a read that one interrupts. As
    long as nothing comes, Python would not see it.
    """
    while not select.select([_STDIN], [], [], _PATIENCE_S)[0]:
        pass
    return os.read(_STDIN, size)


def _peek() -> tuple[bytes, bool]:
    """Look at the first bytes; say whether they can be read again."""
    try:
        return os.pread(_STDIN, _HEAD, os.lseek(_STDIN, 0, os.SEEK_CUR)), True
    except OSError:
        head = b""
        while len(head) < _HEAD and (more := _read(_HEAD - len(head))):
            head += more
        return head, False


@contextmanager
def _replayed(head: bytes) -> Iterator[None]:
    """Put bytes back in front of standard input, for as long as the block runs."""
    if not head:
        yield
        return
    original = os.dup(_STDIN)
    end, entrance = os.pipe()
    os.dup2(end, _STDIN)
    os.close(end)

    def pump() -> None:
        # The reader may stop early, at an input that is no log.
        with suppress(BrokenPipeError), os.fdopen(entrance, "wb", buffering=0) as pipe:
            pipe.write(head)
            while chunk := os.read(original, _CHUNK):
                pipe.write(chunk)

    threading.Thread(target=pump, daemon=True).start()
    try:
        yield
    finally:
        os.dup2(original, _STDIN)
