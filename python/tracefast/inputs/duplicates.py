"""Logs told apart: none is read twice, and different ones of the same name stay different.

Rows are grouped by `source`. A file of columns has the name by which its log was parsed, such as
``app.strace``, and so has the file that was made of another log in another folder.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tracefast import _core
from tracefast.inputs.sources import STDIN, Content, refused

_TAIL = 65_536
_PACKED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ\x00", b"BZh")


@dataclass(frozen=True)
class _Log:
    """A log that somebody names: a file, or a part of a file of columns."""

    file: str
    columns: bool
    bytes: int = 0


def crowded(files: Sequence[tuple[str, Content | None]]) -> frozenset[str]:
    r"""Name the files of columns whose logs have names that others have, too.

    Parameters
    ----------
    files
        What is to be read, and what it is; None for URLs, which are not looked at.

    Raises
    ------
    Error
        Two of them hold the events of the same log.

    Examples
    --------
    >>> import tracefast as tf
    >>> _ = tf.parse("demo.strace", "one.parquet")
    >>> with open("demo.strace", "a") as log:
    ...     _ = log.write("100 1700000000.001700 close(3) = 0\n")
    >>> _ = tf.parse("demo.strace", "two.parquet")
    >>> sorted(crowded([("one.parquet", "parquet"), ("two.parquet", "parquet")]))
    ['one.parquet', 'two.parquet']
    """
    local = [(name, content) for name, content in files if content is not None]
    columns = [(name, content) for name, content in local if content != "log"]
    if not columns or len(local) < 2:  # noqa: PLR2004 - one alone is crowded by nothing
        return frozenset()
    named: dict[str, list[_Log]] = {}
    for file, _ in columns:
        for name, length in _logs_of(file):
            named.setdefault(name, []).append(_Log(file, columns=True, bytes=length))
    for log in (name for name, content in local if content == "log"):
        for name, made in named.items():
            for part in made:
                if part.columns and _is_made_of(part, name, log):
                    raise _twice(part.file, log)
        named.setdefault(log, []).append(_Log(log, columns=False))
    found: set[str] = set()
    for same in named.values():
        if len(same) > 1:
            _refuse_copies([log.file for log in same if log.columns])
            found.update(log.file for log in same if log.columns)
    return frozenset(found)


def _logs_of(file: str) -> Iterable[tuple[str, int]]:
    """Give names and bytes of the logs in a file of columns, if it tells."""
    try:
        metadata = _core.metadata(file)
    except (_core.Error, OSError):
        return  # Whoever scans it says what is wrong.
    report = json.loads(metadata.get("tracefast.report", "{}"))
    for log in report.get("sources", ()):
        yield log["source"], log["bytes"]


def _is_made_of(part: _Log, name: str, log: str) -> bool:
    """Say whether a part of a file of columns was made of this log."""
    places = (Path(part.file).parent / name, Path(name))
    if name == STDIN or Path(log).resolve() not in {place.resolve() for place in places}:
        return False
    if not Path(log).is_file():  # The common name of the logs of several tasks.
        return True
    with Path(log).open("rb") as file:
        return Path(log).stat().st_size == part.bytes or file.read(6).startswith(_PACKED)


def _refuse_copies(files: Sequence[str]) -> None:
    """Refuse files that are copies of one another: what is made of one log has the same bytes."""
    seen: dict[tuple[int, bytes], str] = {}
    for file in files:
        size = Path(file).stat().st_size
        with Path(file).open("rb") as opened:
            opened.seek(max(size - _TAIL, 0))
            other = seen.setdefault((size, opened.read()), file)
        if other != file:
            raise _twice(file, other)


def _twice(one: str, other: str) -> _core.Error:
    return refused(
        f"{one}: holds the events of {other}, which is given as well",
        "name one of them: what is in both would be counted twice",
    )


def refuse_own_input(names: Iterable[str], output: str) -> None:
    """Refuse to replace what is being read.

    Parameters
    ----------
    names
        What is read: files, or ``-``.
    output
        Where the result is to go: a file, or ``-``.

    Raises
    ------
    Error
        The output is one of the inputs.

    Examples
    --------
    >>> try:
    ...     refuse_own_input(["demo.strace"], "./demo.strace")
    ... except _core.Error as error:
    ...     print(error)
    ./demo.strace: the output would replace an input
    """
    if output == STDIN or not Path(output).is_file():
        return
    for name in names:
        if name != STDIN and Path(name).is_file() and Path(name).samefile(output):
            raise refused(f"{output}: the output would replace an input", "give it another name")
