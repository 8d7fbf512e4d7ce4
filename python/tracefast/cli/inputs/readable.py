"""The inputs of a command that can be read, and which of them belong together."""

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tracefast import Error
from tracefast.cli.command_line.request import Request
from tracefast.cli.inputs.spooling import spool, spool_pipe
from tracefast.cli.messages.errors import CommandError, name_not_utf8
from tracefast.cli.messages.stderr import print_error
from tracefast.inputs.contents import is_pipe, sniff
from tracefast.inputs.duplicates import files_sharing_names
from tracefast.inputs.event_files import EventFile, EventFiles
from tracefast.inputs.sources import STDIN, expand, without_repeats
from tracefast.reading import FormatIn
from tracefast.scanning.sources import Inputs

# Bytes of logs that are analysed together. Compressed ones may have some twenty times as many.
_SMALL = 1 << 19
_COMPRESSED = (".gz", ".zst", ".xz", ".bz2")
_RATIO = 20


@dataclass
class Readable:
    """The inputs that can be read.

    Attributes
    ----------
    names
        Their names, in order.
    spooled
        Those that were pipes, and were written to files.
    unread
        The names of the others, whose errors were printed.
    empty
        Those without a single byte, of which that was said.
    """

    names: list[str] = field(default_factory=list)
    spooled: set[str] = field(default_factory=set)
    unread: list[str] = field(default_factory=list)
    empty: list[str] = field(default_factory=list)


@contextmanager
def readable_inputs(request: Request) -> Iterator[Readable]:
    """Find the inputs that exist, and spool pipes, which can be read only once."""
    found = Readable()
    taken: set[str] = set()
    with tempfile.TemporaryDirectory(prefix="tracefast-") as folder:
        for given in request.inputs:
            try:
                for name in expand(given):
                    if name not in taken:
                        taken.add(name)
                        _take(name, found, Path(folder), request)
            except (CommandError, Error, OSError) as error:
                print_error(error)
                found.unread.append(given)
        found.names = without_repeats(found.names)
        yield found


def _take(name: str, found: Readable, folder: Path, request: Request) -> None:
    if name == STDIN:
        found.names.append(str(spool(folder, request)))
        found.spooled.add(found.names[-1])
    elif not _is_utf8(name):
        raise name_not_utf8(name)
    elif is_pipe(name):
        found.names.append(str(spool_pipe(name, folder, request)))
        found.spooled.add(found.names[-1])
    else:
        sniff(name)
        found.names.append(name)
        if Path(name).is_file() and Path(name).stat().st_size == 0:
            found.empty.append(name)
            request.warn(f"{name}: the log is empty")


def _is_utf8(name: str) -> bool:
    """Say whether a name can be a value of the column `source`."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def known_inputs(found: Readable) -> Inputs:
    """Read the footers of Parquet and Arrow files, and drop those without events.

    Their errors are printed.

    Raises
    ------
    Error
        Two inputs hold the same events.
    """
    contents = {name: sniff(name) for name in found.names}
    files: dict[str, EventFile] = {}
    reader = EventFiles()
    for name, content in list(contents.items()):
        if content == "log":
            continue
        try:
            files[name] = reader.read(name, content)
        except (Error, OSError) as error:
            print_error(error)
            found.names.remove(name)
            found.unread.append(name)
            del contents[name]
    return Inputs(contents, files, files_sharing_names(contents, files))


def logs_apart(names: Sequence[str], inputs: Inputs, format_in: FormatIn | None) -> list[list[str]]:
    """Group inputs so that each log is in one group only: what can be read one after the other.

    Logs of several tasks (``strace -ff``) are one log. Parquet and Arrow files that tracefast did
    not write may each have a part of one log, so they stay together.

    Parameters
    ----------
    names, inputs
        The inputs.
    format_in
        Format of the logs, if it is known.

    Returns
    -------
    list of list of str
        The groups, in the order of their first input.

    Examples
    --------
    >>> names = ["demo.strace", "demo.ftrace"]
    >>> logs_apart(names, Inputs.of(names), None)
    [['demo.strace'], ['demo.ftrace']]
    """
    groups: dict[str, list[str]] = {}
    logs = {_absolute(name): name for name in names if inputs.contents[name] == "log"}
    group_of: dict[str, str] = {}
    if len(logs) > 1:
        # Most commands have one log, and start faster without.
        from tracefast.batch.plan import logs_of

        for log in logs_of(list(logs.values()), format_in):
            for path in filter(logs.__contains__, log.inputs):
                group_of[logs[path]] = log.source
    for name in names:
        file = inputs.files.get(name)
        key = group_of.get(name, name) if file is None else name if file.logs else ""
        groups.setdefault(key, []).append(name)
    return list(groups.values())


def small_together(logs: Sequence[list[str]], inputs: Inputs) -> list[list[str]]:
    """Put small logs that follow each other together: to start an analysis costs more than they do.

    Parameters
    ----------
    logs
        The groups of inputs.
    inputs
        What is known of the inputs.

    Examples
    --------
    >>> names = ["demo.strace", "demo.ftrace"]
    >>> small_together([[name] for name in names], Inputs.of(names))
    [['demo.strace', 'demo.ftrace']]
    """
    together: list[list[str]] = []
    room = 0
    before: object = None
    for group in logs:
        bytes_ = sum(_bytes_as_text(name, inputs) for name in group)
        kind = _kind(group[0], inputs)
        if kind == before and bytes_ <= room:
            together[-1] += group
        else:
            together.append(list(group))
            room = _SMALL if bytes_ < _SMALL else 0
        room -= bytes_
        before = kind
    return together


def _kind(name: str, inputs: Inputs) -> object:
    """Say what can be read together: logs, or files with the same columns, as joined have more."""
    file = inputs.files.get(name)
    return inputs.contents[name] if file is None else file.columns


def _bytes_as_text(name: str, inputs: Inputs) -> int:
    """Estimate the length of a log, also of one that is compressed or in Parquet."""
    path = Path(name)
    if name in inputs.files:
        return sum(bytes_ for _, bytes_ in inputs.files[name].logs) or _SMALL
    if not path.is_file():
        return _SMALL
    return path.stat().st_size * (_RATIO if path.suffix in _COMPRESSED else 1)


def _absolute(name: str) -> str:
    return os.path.abspath(name)  # noqa: PTH100 - links stay what they are called
