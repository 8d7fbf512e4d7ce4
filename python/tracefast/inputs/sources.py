"""Names of inputs: what patterns, directories and several names stand for."""

import glob
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final, cast

from tracefast.arguments import path_text
from tracefast.error_hints import error_with_hint
from tracefast.inputs.contents import TASK_SUFFIX, is_prefix_of_task_logs, sniff

Source = str | os.PathLike[str]
Sources = Source | Iterable[Source]

Identity = str | tuple[int, int]

STDIN: Final = "-"

# A name such as `s3://bucket/run.parquet`.
_URL: Final = r"[a-z][a-z0-9+.-]*://"
# Hive, Spark and Arrow write files for themselves under such names.
_HIDDEN: Final = (".", "_")


def expand(sources: Sources, *, lazily: bool = False) -> list[str]:
    """Turn one source or several into a list of names, with patterns expanded.

    Parameters
    ----------
    sources
        A path, or several. A string that holds ``*``, ``?`` or ``[`` and is not the name of an
        existing file is a pattern (``**`` crosses folders); the files that it matches are sorted.
        ``-`` is standard input. The common name of the logs of several tasks (``log`` for
        ``log.1234`` and ``log.1235``, written by ``strace -ff -o log``) stays as it is: the parser
        finds them. A directory stands for its files (`files_in`). A file that is named twice, even
        by another path or a hard link, is listed once. A leading ``~`` stands for the user's home
        directory.
    lazily
        Keep URLs, which polars can scan.

    Returns
    -------
    list of str
        At least one name. Names without a pattern are not looked up.

    Raises
    ------
    FileNotFoundError
        A pattern matches nothing, or a directory is empty.
    Error
        A URL was given where only files can be read, or a directory holds several kinds of files.
    TypeError
        A source is not a path, but for example bytes or an open file.
    ValueError
        There is no source.

    Examples
    --------
    >>> expand("demo.strace")
    ['demo.strace']
    >>> expand(["*.strace", "-", "./demo.strace"])
    ['demo.strace', '-']
    """
    names: list[str] = []
    for source in as_several(sources):
        name = path_text("sources", source)
        if is_url(name):
            if not lazily:
                raise error_with_hint(
                    f"{name}: logs are read from files and pipes, not from URLs",
                    "download it first",
                    kind="url",
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
    return without_repeats(names)


def without_repeats(names: Iterable[str]) -> list[str]:
    """Leave out files that are named a second time, even by another path or a hard link.

    Examples
    --------
    >>> without_repeats(["demo.strace", "./demo.strace", "-"])
    ['demo.strace', '-']
    """
    kept: dict[Identity, str] = {}
    for name in names:
        kept.setdefault(name if name == STDIN or is_url(name) else identity(name), name)
    paths = {
        name: name if name == STDIN or is_url(name) else os.path.realpath(name)
        for name in kept.values()
    }
    # The common name of the logs of several tasks stands for each of them.
    common = [
        path for path in paths.values() if not Path(path).exists() and is_prefix_of_task_logs(path)
    ]
    return [
        name
        for name, path in paths.items()
        if not any(
            path.startswith(prefix) and re.fullmatch(TASK_SUFFIX, path[len(prefix) :], re.ASCII)
            for prefix in common
        )
    ]


def identity(name: str) -> Identity:
    """Say which file a name stands for: its device and inode, or its path if there is none.

    Examples
    --------
    >>> identity("demo.strace") == identity("./demo.strace")
    True
    """
    try:
        status = Path(name).stat()
    except OSError:
        return os.path.realpath(name)
    # Some network file systems have no inodes.
    return (status.st_dev, status.st_ino) if status.st_ino else os.path.realpath(name)


def as_several(sources: Sources) -> Iterable[Source]:
    """Make a list of a single source; give several as they are, without checking any of them.

    Examples
    --------
    >>> as_several("demo.strace"), as_several(["demo.strace", "demo.ftrace"])
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
    return re.match(_URL, name, re.ASCII | re.IGNORECASE) is not None


def files_in(folder: str) -> list[str]:
    """List the files below a directory as polars does: sorted, without empty ones.

    Names that start with ``.`` or ``_`` are left out: programs that write many files use them for
    their own notes.

    Parameters
    ----------
    folder
        Path of a directory.

    Returns
    -------
    list of str
        At least one path: either all are logs, or none is.

    Raises
    ------
    FileNotFoundError
        There is no file in it.
    OSError
        It cannot be listed.
    Error
        It holds both logs and Parquet or Arrow IPC files, usually of the same events.

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
        raise error_with_hint(
            f"{folder}: holds both logs and Parquet or Arrow files, such as {logs[0]} and "
            f"{columns}",
            f"select one kind with a pattern: {' or '.join(patterns)}",
        )
    return names


def _reraise(error: OSError) -> None:
    raise error
