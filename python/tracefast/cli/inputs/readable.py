"""The inputs of a command that can be read, and which of them belong together."""

import tempfile
from collections.abc import Iterator
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
from tracefast.scanning.sources import Inputs


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
