"""Which inputs are of one log, and which logs are small enough to be analysed together."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tracefast.reading import FormatIn
from tracefast.scanning.sources import Inputs

# Bytes of logs that are analysed together. Compressed ones may have some twenty times as many.
_SMALL: Final = 1 << 19
_COMPRESSED: Final = (".gz", ".zst", ".xz", ".bz2")
_RATIO: Final = 20


def logs_apart(names: Sequence[str], inputs: Inputs, format_in: FormatIn | None) -> list[list[str]]:
    """Group inputs so that each log is in one group only: what can be read one after the other.

    Logs of several tasks (``strace -ff``) are one log. Parquet and Arrow files that tracefast did
    not write may each have a part of one log, so they stay together, and so do files at URLs.

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
        whole = inputs.contents[name] == "log" if file is None else bool(file.logs)
        groups.setdefault(group_of.get(name, name) if whole else "", []).append(name)
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
