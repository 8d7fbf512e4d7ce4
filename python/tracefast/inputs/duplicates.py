"""Inputs that hold the same events, and different logs that have the same name.

Rows are grouped by `source`, the name under which their log was parsed, such as ``app.strace``. Two
Parquet or Arrow files made from logs in different folders may both have it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tracefast import _core
from tracefast.error_hints import error_with_hint
from tracefast.inputs.contents import Content
from tracefast.inputs.event_files import EventFile
from tracefast.inputs.sources import STDIN, identity

_TAIL = 65_536
_PACKED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ\x00", b"BZh")


@dataclass(frozen=True)
class _Log:
    """A log that was given: a file, or a part of a Parquet or Arrow file."""

    file: str
    columns: bool
    bytes: int = 0


def files_sharing_names(
    contents: Mapping[str, Content | None], files: Mapping[str, EventFile]
) -> frozenset[str]:
    r"""Find the Parquet and Arrow files whose logs have the name of another log.

    Parameters
    ----------
    contents
        The inputs and what they hold; None for URLs, which are not read.
    files
        Those that are Parquet and Arrow.

    Raises
    ------
    Error
        Two of them hold the events of the same log.

    Examples
    --------
    >>> import tracefast as tf
    >>> from tracefast.inputs.event_files import EventFiles
    >>> _ = tf.parse("demo.strace", "one.parquet")
    >>> with open("demo.strace", "a") as log:
    ...     _ = log.write("100 1700000000.001700 close(3) = 0\n")
    >>> _ = tf.parse("demo.strace", "two.parquet")
    >>> contents = dict.fromkeys(("one.parquet", "two.parquet"), "parquet")
    >>> files = {name: EventFiles().read(name, "parquet") for name in contents}
    >>> sorted(files_sharing_names(contents, files))
    ['one.parquet', 'two.parquet']
    """
    logs = [name for name, content in contents.items() if content == "log"]
    if not files or len(files) + len(logs) < 2:  # noqa: PLR2004 - a single one shares nothing
        return frozenset()
    named: dict[str, list[_Log]] = {}
    for file in files.values():
        for name, length in file.logs:
            named.setdefault(name, []).append(_Log(file.name, columns=True, bytes=length))
    for log in logs:
        for name, made in named.items():
            for part in made:
                if part.columns and _is_made_of(part, name, log):
                    raise _same_events(part.file, log)
        named.setdefault(log, []).append(_Log(log, columns=False))
    found: set[str] = set()
    for same in named.values():
        if len(same) > 1:
            _refuse_copies([log.file for log in same if log.columns])
            found.update(log.file for log in same if log.columns)
    return frozenset(found)


def _is_made_of(part: _Log, name: str, log: str) -> bool:
    """Say whether a part of a Parquet or Arrow file was made from this log."""
    paths = (Path(part.file).parent / name, Path(name))
    if name == STDIN or identity(log) not in {identity(str(path)) for path in paths}:
        return False
    if not Path(log).is_file():  # The common name of the logs of several tasks.
        return True
    with Path(log).open("rb") as file:
        return Path(log).stat().st_size == part.bytes or file.read(6).startswith(_PACKED)


def _refuse_copies(files: Sequence[str]) -> None:
    """Refuse files that are copies of each other: the same log always gives the same bytes."""
    seen: dict[tuple[int, bytes], str] = {}
    for file in files:
        size = Path(file).stat().st_size
        with Path(file).open("rb") as opened:
            opened.seek(max(size - _TAIL, 0))
            other = seen.setdefault((size, opened.read()), file)
        if other != file:
            raise _same_events(file, other)


def _same_events(one: str, other: str) -> _core.Error:
    return error_with_hint(
        f"{one}: holds the events of {other}, which is also given",
        "give only one of them: events in both would be counted twice",
    )
