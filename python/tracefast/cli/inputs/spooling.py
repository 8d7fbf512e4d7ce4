"""Copy standard input and pipes to files: a query may read its events more than once."""

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
_MAGIC_BYTES = 8
_CHUNK = 1 << 16
_POLL_S = 0.05


def spool(folder: Path, request: Request) -> Path:
    """Copy standard input to a file: a log as Parquet, which is far smaller, all else as it is.

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
        Standard input is not a log.
    OSError
        It cannot be read, or the folder is full.
    """
    head, seekable = peek()
    if content_of(head) == "log":
        with put_back(b"" if seekable else head):
            return _parse(STDIN, folder / "stdin.parquet", request)
    path = folder / "stdin"
    with path.open("wb") as file:
        if not seekable:
            file.write(head)
        while chunk := _read(_CHUNK):
            file.write(chunk)
    return path


def spool_pipe(name: str, folder: Path, request: Request) -> Path:
    """Parse what comes from a named pipe into a Parquet file.

    Parameters
    ----------
    name
        Path of the pipe, such as ``/dev/fd/63``. It holds a log: Parquet needs to be seekable.
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
        It is not a log.
    OSError
        It cannot be read, or the folder is full.
    """
    return _parse(name, folder / f"pipe-{len(list(folder.iterdir()))}.parquet", request)


def _parse(source: str, path: Path, request: Request) -> Path:
    """Parse a log into Parquet, and print its warnings."""
    report = tracefast.parse(
        source,
        path,
        format_in=request.format_in,
        machine=request.machine,
        assume_complete=request.assume_complete,
    )
    for warning in report.warnings:
        request.warn(warning)
    return path


def _read(size: int) -> bytes:
    """Read what there is, and react to interrupts while waiting.

    Under the signal handler of polars the kernel restarts a read that a signal interrupts: Python
    would not see an interrupt before more input comes.
    """
    while not select.select([_STDIN], [], [], _POLL_S)[0]:
        pass
    return os.read(_STDIN, size)


def peek() -> tuple[bytes, bool]:
    """Give the first bytes, and whether they can be read again."""
    try:
        return os.pread(_STDIN, _MAGIC_BYTES, os.lseek(_STDIN, 0, os.SEEK_CUR)), True
    except OSError:
        head = b""
        while len(head) < _MAGIC_BYTES and (more := _read(_MAGIC_BYTES - len(head))):
            head += more
        return head, False


@contextmanager
def put_back(head: bytes) -> Iterator[None]:
    """Put bytes back in front of standard input while the block runs."""
    if not head:
        yield
        return
    original = os.dup(_STDIN)
    read_end, write_end = os.pipe()
    os.dup2(read_end, _STDIN)
    os.close(read_end)

    def pump() -> None:
        # The reader stops early if the input is not a log.
        with suppress(BrokenPipeError), os.fdopen(write_end, "wb", buffering=0) as pipe:
            pipe.write(head)
            while chunk := os.read(original, _CHUNK):
                pipe.write(chunk)

    threading.Thread(target=pump, daemon=True).start()
    try:
        yield
    finally:
        os.dup2(original, _STDIN)
