"""What a file holds, by its first bytes."""

import glob
import re
from pathlib import Path
from typing import Final, Literal

Content = Literal["log", "parquet", "ipc"]

_MAGIC: Final[tuple[tuple[bytes, Content], ...]] = ((b"PAR1", "parquet"), (b"ARROW1", "ipc"))

# `strace -ff -o log` writes log.PID for each task; the file may have been compressed since.
TASK_SUFFIX: Final = r"\.[1-9][0-9]{0,6}(\.(gz|zst|xz|bz2))?"


def content_of(head: bytes) -> Content:
    """Say what a file with these first bytes holds; anything but Parquet and Arrow may be a log.

    Examples
    --------
    >>> content_of(b"PAR1")
    'parquet'
    >>> content_of(b"execve(")
    'log'
    """
    for magic, content in _MAGIC:
        if head.startswith(magic):
            return content
    return "log"


def sniff(name: str) -> Content:
    """Say what a file holds by its first bytes.

    A pipe, or another file that can be read only once, is taken for a log: nothing is read from it
    here.

    Raises
    ------
    OSError
        The file is missing, cannot be read, or is a directory.

    Examples
    --------
    >>> sniff("demo.strace")
    'log'
    """
    path = Path(name)
    if is_pipe(name):
        return "log"
    if not path.exists() and is_prefix_of_task_logs(name):
        return "log"
    with path.open("rb", buffering=0) as file:
        try:
            return content_of(file.read(8))
        except OSError as error:
            # `open` names the file in its errors, `read` does not.
            raise OSError(error.errno, error.strerror, name) from error


def is_pipe(name: str) -> bool:
    """Say whether a name is that of something that can be read only once.

    Examples
    --------
    >>> is_pipe("/dev/null"), is_pipe("demo.strace"), is_pipe("missing")
    (True, False, False)
    """
    path = Path(name)
    return path.exists() and not path.is_file() and not path.is_dir()


def is_prefix_of_task_logs(name: str) -> bool:
    """Say whether logs of ``strace -ff -o NAME``, one per task, start with this name."""
    files = glob.iglob(glob.escape(name) + ".*")  # noqa: PTH207 - the name stays as it was given
    return any(re.fullmatch(TASK_SUFFIX, file[len(name) :], re.ASCII) for file in files)
