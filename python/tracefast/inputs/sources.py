"""Names of inputs and outputs: patterns, and what a file holds by its first bytes."""

import glob
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Literal, cast

from tracefast._core import Error
from tracefast.arguments import path_of

Source = str | os.PathLike[str]
Sources = Source | Iterable[Source]
Content = Literal["log", "parquet", "ipc"]
Sink = Literal["parquet", "arrow"]

STDIN = "-"

_MAGIC: tuple[tuple[bytes, Content], ...] = ((b"PAR1", "parquet"), (b"ARROW1", "ipc"))
_SINKS: dict[str, Sink] = {
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
}


# Behind the common name: the number of a task, and the suffix of a compression.
_TASK = re.compile(r"\.[1-9][0-9]{0,6}(\.(gz|zst|xz|bz2))?", re.ASCII)


# A name such as `s3://bucket/run.parquet`.
_URL = re.compile(r"[a-z][a-z0-9+.-]*://", re.ASCII | re.IGNORECASE)
# Files and folders of a directory that are somebody's notes, as to Hive, Spark and Arrow.
_HIDDEN = (".", "_")


def expand(sources: Sources, *, lazily: bool = False) -> list[str]:
    """Turn one source or many into a list of names, patterns replaced by what they match.

    Parameters
    ----------
    sources
        A path, or several. A string that holds ``*``, ``?`` or ``[`` and is not the name of an
        existing file is a pattern (``**`` crosses folders); the files that it matches come in
        sorted order.
        ``-`` is standard input. The common name of the logs of several tasks (``log`` for
        ``log.1234``, ``log.1235``, by ``strace -ff -o log``) stays as it is: the parser finds them.
        A directory stands for its files (`files_in`).
        What is named a second time, be it by another path, is left out.
        ``~`` at the begin is the folder of a user.
    lazily
        What is named will be scanned by polars, too: URLs stay as they are.

    Returns
    -------
    list of str
        At least one name. Names without a pattern are not looked up here.

    Raises
    ------
    FileNotFoundError
        A pattern matches nothing, or a directory is empty.
    Error
        A URL was given where only files will do, or a directory holds more than one kind of file.
    TypeError
        Something else than paths was given, such as bytes or an open file.
    ValueError
        No source was given.

    Examples
    --------
    >>> expand("demo.strace")
    ['demo.strace']
    >>> expand(["*.strace", "-", "./demo.strace"])
    ['demo.strace', '-']
    """
    names: list[str] = []
    for source in each(sources):
        name = path_of("sources", source)
        if is_url(name):
            if not lazily:
                raise refused(
                    f"{name}: logs are read from files and pipes, not from URLs",
                    f"fetch it, or pipe it: curl {name} | tracefast parse - -o FILE.parquet",
                )
            names.append(name)
            continue
        if Path(name).is_dir():
            names.extend(files_in(name))
            continue
        if not isinstance(source, str) or not glob.has_magic(name) or Path(name).exists():
            names.append(name)
            continue
        found = sorted(glob.glob(name, recursive=True))  # noqa: PTH207 - patterns may be absolute
        matches = [match for match in found if not Path(match).is_dir()]
        if not matches:
            raise FileNotFoundError(2, "No file matches the pattern", name)
        names.extend(matches)
    if not names:
        raise ValueError("no source given")
    return once(names)


def once(names: Iterable[str]) -> list[str]:
    """Leave out what is named a second time, be it by another path.

    Examples
    --------
    >>> once(["demo.strace", "./demo.strace", "-"])
    ['demo.strace', '-']
    """
    kept: dict[str, str] = {}
    for name in names:
        kept.setdefault(name if name == STDIN or is_url(name) else os.path.realpath(name), name)
    # The common name of the logs of several tasks stands for each of them.
    common = [key for key in kept if not Path(key).exists() and _is_cut_by_task(key)]
    return [
        name
        for key, name in kept.items()
        if not any(key.startswith(of) and _TASK.fullmatch(key[len(of) :]) for of in common)
    ]


def each(sources: Sources) -> Iterable[Source]:
    """Give several sources as they are; what is neither one nor several, its own check tells.

    Examples
    --------
    >>> each("demo.strace"), each(["demo.strace", "demo.ftrace"])
    (['demo.strace'], ['demo.strace', 'demo.ftrace'])
    """
    one = isinstance(sources, str | bytes | os.PathLike) or hasattr(sources, "read")
    return sources if isinstance(sources, Iterable) and not one else [cast("Source", sources)]


def is_url(name: str) -> bool:
    """Say whether a name is a URL.

    Examples
    --------
    >>> is_url("s3://bucket/run.parquet"), is_url("run.parquet")
    (True, False)
    """
    return _URL.match(name) is not None


def is_pipe(name: str) -> bool:
    """Say whether a name is that of something that can be read once only.

    Examples
    --------
    >>> is_pipe("/dev/null"), is_pipe("demo.strace"), is_pipe("missing")
    (True, False, False)
    """
    path = Path(name)
    return path.exists() and not path.is_file() and not path.is_dir()


def files_in(folder: str) -> list[str]:
    """List the files of a directory and of those in it, as polars does: sorted, no empty ones.

    Names that begin with ``.`` or ``_`` are left out: they are notes of whatever wrote the others.

    Parameters
    ----------
    folder
        Path of a directory.

    Returns
    -------
    list of str
        At least one path. All are logs, or none is.

    Raises
    ------
    FileNotFoundError
        There is no such file.
    OSError
        It cannot be listed.
    Error
        It holds logs beside Parquet or Arrow IPC files: as a rule the same events twice.

    Examples
    --------
    >>> from pathlib import Path
    >>> Path("runs/more").mkdir(parents=True)
    >>> for name in ("b.strace", "more/a.strace", "_notes"):
    ...     _ = Path("runs", name).write_text("1 close(3) = 0")
    >>> files_in("runs")
    ['runs/b.strace', 'runs/more/a.strace']
    """
    found: list[Path] = []
    for path, folders, files in os.walk(folder, onerror=_reraise):
        folders[:] = [name for name in folders if not name.startswith(_HIDDEN)]
        found += [Path(path, name) for name in files if not name.startswith(_HIDDEN)]
    names = sorted(str(file) for file in found if file.is_file() and file.stat().st_size > 0)
    if not names:
        raise FileNotFoundError(2, "No log and no Parquet in the directory", folder)
    logs = [name for name in names if sniff(name) == "log"]
    if 0 < len(logs) < len(names):
        columns = next(name for name in names if name not in logs)
        patterns = [f"{folder.rstrip('/')}/*{Path(name).suffix}" for name in (columns, logs[0])]
        raise refused(
            f"{folder}: holds logs and files of columns, such as {logs[0]} and {columns}",
            f"name those that are meant, for example by a pattern: {' or '.join(patterns)}",
        )
    return names


def _reraise(error: OSError) -> None:
    raise error


def refused(what: str, hint: str, *, kind: str | None = None) -> Error:
    """Make an error that says what to do about it, as those of the parser do.

    Examples
    --------
    >>> error = refused("app.txt: not a log", "name the log itself")
    >>> error.hint, error.__notes__
    ('name the log itself', ['hint: name the log itself'])
    """
    error = Error(what)
    error.hint, error.kind = hint, kind
    error.add_note(f"hint: {hint}")
    return error


def content_of(head: bytes) -> Content:
    """Say what a file holds by its first bytes; whatever is not columns may be a log.

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

    A pipe or another file that cannot be read twice holds a log: nothing is taken from it here.

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
    if not path.exists() and _is_cut_by_task(name):
        return "log"
    with path.open("rb", buffering=0) as file:
        try:
            return content_of(file.read(8))
        except OSError as error:
            # What opens a file names it; what reads from it does not.
            raise OSError(error.errno, error.strerror, name) from error


def _is_cut_by_task(name: str) -> bool:
    """Say whether a name without a file is the common name of logs, one a task (``strace -ff``)."""
    files = glob.iglob(glob.escape(name) + ".*")  # noqa: PTH207 - the name stays as it was given
    return any(_TASK.fullmatch(file[len(name) :]) for file in files)


def sink_of(output: str) -> Sink | None:
    """Say which sink writes an output, by its suffix; None where the suffix says nothing.

    Examples
    --------
    >>> sink_of("events.parquet"), sink_of("events.feather"), sink_of("events.txt")
    ('parquet', 'arrow', None)
    """
    return "parquet" if output == STDIN else _SINKS.get(Path(output).suffix.lower())
