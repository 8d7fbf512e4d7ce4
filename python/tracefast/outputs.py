"""Files that are written: their format, and that they replace no input and appear whole."""

import errno
import fcntl
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from glob import escape
from pathlib import Path
from typing import Final, Literal

from tracefast.error_hints import error_with_hint

Sink = Literal["parquet", "arrow"]

STDOUT: Final = "-"

_SINKS: Final[dict[str, Sink]] = {
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
}
# A file name has at most 255 bytes, and that of the temporary file is longer than this.
_NAME_PART: Final = 40


def sink_of(output: str) -> Sink | None:
    """Say which sink writes an output, by its suffix; None where the suffix does not say.

    Examples
    --------
    >>> sink_of("events.parquet"), sink_of("events.feather"), sink_of("events.txt")
    ('parquet', 'arrow', None)
    """
    return "parquet" if output == STDOUT else _SINKS.get(Path(output).suffix.lower())


def refuse_own_input(names: Iterable[str], output: str) -> None:
    """Refuse to replace what is being read.

    Parameters
    ----------
    names
        What is read: files, or ``-``.
    output
        Where the result goes: a file, or ``-``.

    Raises
    ------
    Error
        The output is one of the inputs.

    Examples
    --------
    >>> from tracefast import Error
    >>> try:
    ...     refuse_own_input(["demo.strace"], "./demo.strace")
    ... except Error as error:
    ...     print(error)
    ./demo.strace: the output would replace an input
    """
    if output == STDOUT or not Path(output).is_file():
        return
    for name in names:
        if name != STDOUT and Path(name).is_file() and Path(name).samefile(output):
            raise error_with_hint(
                f"{output}: the output would replace an input", "give it another name"
            )


def write_whole(
    path: Path,
    data: bytes,
    *,
    clobber: bool = True,
    sync: bool = True,
    folder: Path | None = None,
) -> None:
    """Write a file that appears whole or not at all.

    It is written to a temporary file first, which is then renamed.

    Parameters
    ----------
    path
        The file.
    data
        What it holds.
    clobber
        Replace a file that exists.
    sync
        Wait until the data is on the disk.
    folder
        Where the temporary file is, on the same file system; by default beside the file.

    Raises
    ------
    OSError
        It cannot be written, or it exists, even if another process created it just now. The error
        names the file itself, not the temporary one.

    Examples
    --------
    >>> write_whole(Path("note.txt"), b"read it")
    >>> Path("note.txt").read_text()
    'read it'
    """
    path = path.resolve() if path.is_symlink() else path
    if path.exists() and not path.is_file():
        # A device or a pipe cannot be renamed to.
        path.write_bytes(data)
        return
    # A run that was killed leaves it; the name says whose it is.
    name = f".tracefast-{path.name[:_NAME_PART]}.{os.urandom(8).hex()}.tmp"
    partial = (folder or path.parent) / name
    try:
        try:
            with partial.open("xb") as file:
                file.write(data)
                file.flush()
                if sync:
                    os.fsync(file.fileno())
            if path.exists():
                partial.chmod(path.stat().st_mode & 0o7777)
            move_to(partial, path, clobber=clobber)
        except BaseException:
            partial.unlink(missing_ok=True)
            raise
    except FileExistsError as error:
        raise exists(str(path)) from error
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def exists(output: str) -> FileExistsError:
    """Make the error for an output that exists and is not to be replaced."""
    return FileExistsError(errno.EEXIST, "already exists", output)


def move_to(file: Path, output: Path, *, clobber: bool) -> None:
    """Give a complete file the name of an output, on the same file system.

    Raises
    ------
    FileExistsError
        The output exists, and is not to be replaced.
    """
    if clobber:
        file.replace(output)
    else:
        _rename_to_new(file, output)


@contextmanager
def temporary_folder(output: str) -> Iterator[Path]:
    """Make a folder beside an output for files that are needed until it is complete.

    It is locked, so that the next one for the same output removes what a killed run has left.

    Examples
    --------
    >>> with temporary_folder("app.parquet") as folder:
    ...     folder.name.startswith(".tracefast-app.parquet.")
    True
    """
    place = Path(output)
    start = f".tracefast-{place.name[:_NAME_PART]}."
    for left in place.parent.glob(f"{escape(start)}*.tmp/"):
        with _locked(left) as ours:
            if ours:
                shutil.rmtree(left, ignore_errors=True)
    folder = place.parent / f"{start}{os.urandom(8).hex()}.tmp"
    folder.mkdir()
    try:
        with _locked(folder):
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _locked(folder: Path) -> Iterator[bool]:
    """Lock a folder; say whether no other process has locked it."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield True
    except BlockingIOError:
        yield False
    finally:
        os.close(descriptor)


def _rename_to_new(partial: Path, path: Path) -> None:
    """Rename a file, unless another process has created one of that name."""
    try:
        path.hardlink_to(partial)
        partial.unlink()
    except FileExistsError:
        raise
    except OSError:
        # Some file systems have no links.
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        partial.replace(path)
