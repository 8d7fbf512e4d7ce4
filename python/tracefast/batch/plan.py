"""What the logs of a batch are, and what their outputs are called."""

import glob
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from tracefast import Error, _core
from tracefast.arguments import integer
from tracefast.inputs.contents import TASK_SUFFIX
from tracefast.inputs.sources import STDIN, Sources, as_several, expand, without_repeats
from tracefast.reading import FormatIn

# The name of the log of one task; group 1 is the common name.
_TASK = re.compile(rf"(.*[^/]){TASK_SUFFIX}", re.ASCII | re.DOTALL)
_ODD = re.compile(r"[^\w.+,@-]")
# The part of the name that is kept; file names have at most 255 bytes.
_LONGEST = 160
# The part and the number of parts.
_PAIR = 2


@dataclass(frozen=True, slots=True)
class Log:
    """One log: its name in the rows, the inputs of the parser, and the name of its output.

    Examples
    --------
    >>> logs_of("demo.strace")[0].name
    'demo.strace-...'
    """

    source: str
    inputs: tuple[str, ...]
    name: str


def logs_of(sources: Sources, format_in: FormatIn | None = None) -> list[Log]:
    """List the logs, each once, in the order in which they were named.

    Parameters
    ----------
    sources
        Paths and patterns, as for :func:`tracefast.parse`.
    format_in
        Format of the logs, if it is known.

    Returns
    -------
    list of Log
        Files of ``strace -ff`` that belong together are one log. All paths are absolute, because
        workers may run in other folders. Logs that are missing or cannot be read are included.

    Raises
    ------
    FileNotFoundError
        A pattern matches nothing.
    ValueError
        There is no source, or a source is standard input.
    """
    names = _expanded(sources)
    if STDIN in names:
        raise ValueError("standard input cannot be part of a batch; use tracefast.parse('-', FILE)")
    # By the common name of the logs of several tasks, or else by their own name.
    groups: dict[str, list[str]] = {}
    for name in dict.fromkeys(map(_absolute, names)):
        task = _TASK.fullmatch(name)
        groups.setdefault(task[1] if task else name, []).append(name)
    if format_in == "ftrace":
        return [_log(name, [name], [name]) for group in groups.values() for name in group]
    return [log for name, group in groups.items() for log in _joined(name, group, format_in)]


def _expanded(sources: Sources) -> list[str]:
    """Give the names of logs; a directory without logs is kept, and its job will fail."""
    names: list[str] = []
    for source in as_several(sources):
        try:
            names += expand(source)
        except (OSError, Error):
            if not Path(source).is_dir():
                raise
            names.append(os.fspath(source))
    return without_repeats(names) if names else expand([])


def files_of(inputs: Sequence[str]) -> list[str]:
    """List the files that the parser reads for some inputs.

    Examples
    --------
    >>> files_of(["demo.strace"])
    ['demo.strace']
    """
    if len(inputs) > 1 or Path(inputs[0]).exists():
        return list(inputs)
    # A name without a file is the common name of the logs of several tasks.
    beside = glob.iglob(glob.escape(inputs[0]) + ".*")  # noqa: PTH207 - the name stays as it is
    files = sorted(file for file in beside if (task := _TASK.fullmatch(file)) and task[1] in inputs)
    return files or list(inputs)


def part_of(logs: Sequence[Log], shard: tuple[int, int] | None) -> list[Log]:
    """Take the share of one of several machines: every so many-th log.

    Raises
    ------
    TypeError
        It is not a pair of numbers.
    ValueError
        There is no such part.

    Examples
    --------
    >>> part_of("abcde", (2, 3))
    ['b', 'e']
    """
    if shard is None:
        return list(logs)
    pair: object = shard
    if not isinstance(pair, tuple | list) or len(pair) != _PAIR:
        raise TypeError(
            f"shard must be a pair such as (1, 8), the first of eight parts, got {pair!r}"
        )
    index, count = (integer("shard", number, low=0) for number in pair)
    if not 1 <= index <= count:
        raise ValueError(
            f"shard must be from (1, {count}) to ({count}, {count}), got ({index}, {count})"
        )
    return list(logs[index - 1 :: count])


def _joined(name: str, group: list[str], format_in: FormatIn | None) -> Iterable[Log]:
    """Find the logs in a group of files with a common name."""
    if name in group and not Path(name).exists() and files_of([name]) != [name]:
        # Named as a whole; what was named of it besides is part of it.
        yield _log(name, [name], files_of([name]))
        return
    if group == [name]:
        yield _log(name, group, group)
        return
    readable = [file for file in group if _encodable(file)]
    try:
        found = _core.logs(readable, format_in=format_in)
    except (OSError, _core.Error):
        # One file of many: its own job will say what is wrong with it.
        readable = [file for file in readable if _opens(file, format_in)]
        found = _core.logs(readable, format_in=format_in)
    yield from (_log(source, files, files) for source, files in found)
    yield from (_log(file, [file], [file]) for file in group if file not in readable)


def _log(source: str, inputs: Sequence[str], files: Sequence[str]) -> Log:
    """Name the output after the log, with a hash of its path to make it unique.

    The name depends only on the path, not on the other logs.
    """
    # The common name of the logs of several tasks may also be that of a file.
    mark = b"" if list(files) == [source] else b"\0.PID"
    digest = blake2b(os.fsencode(source) + mark, digest_size=8).hexdigest()
    own = _ODD.sub("_", Path(source).name).lstrip(".-_")
    short = own.encode()[:_LONGEST].decode(errors="ignore") or "log"
    return Log(source, tuple(inputs), f"{short}-{digest}")


def _absolute(name: str) -> str:
    return os.path.abspath(name)  # noqa: PTH100 - links stay what they are called


def _encodable(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _opens(file: str, format_in: FormatIn | None) -> bool:
    try:
        _core.logs([file], format_in=format_in)
    except (OSError, _core.Error):
        return False
    return True
