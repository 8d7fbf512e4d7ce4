"""The three standard streams: closed ones replaced, broken ones discarded."""

import os
import sys


def open_missing_streams() -> None:
    """Open /dev/null in the place of closed streams: reading or writing it is an error.

    Otherwise the next file that is opened would get the number of a stream, and be taken for it.
    """
    for number, mode in enumerate((os.O_WRONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, mode)
    if sys.stdout is None:
        sys.stdout = os.fdopen(1, "w", closefd=False)
    if sys.stderr is None:
        sys.stderr = os.fdopen(2, "w", closefd=False)


def discard_stdout() -> None:
    """Point standard output to /dev/null, so that the last flush does not fail again."""
    _discard(1)


def discard_stderr() -> None:
    """Point standard error to /dev/null."""
    _discard(2)


def _discard(stream: int) -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream)
    os.close(nowhere)
