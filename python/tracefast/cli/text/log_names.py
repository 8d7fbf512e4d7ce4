"""Names of logs, side by side: shortened so that what tells them apart stays."""

from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import Final

_ELLIPSIS: Final = "…"


def without_common_folders(names: Sequence[str]) -> list[str]:
    """Leave out the leading folders that all names have.

    Parameters
    ----------
    names
        Names of logs, the same ones more than once if need be.

    Examples
    --------
    >>> without_common_folders(["runs/a/app.strace", "runs/b/app.strace", "runs/a/app.strace"])
    ['a/app.strace', 'b/app.strace', 'a/app.strace']
    >>> without_common_folders(["runs/app.strace", "runs/app.strace"])
    ['app.strace', 'app.strace']
    """
    folders = _common([name.split("/")[:-1] for name in names])
    return [name.split("/", folders)[-1] for name in names]


def cut_apart(names: Sequence[str], limit: int) -> list[str]:
    """Cut names to a length, different ones to different texts where that is possible.

    In the middle, as the ends of a name say most; where that would make two names one, what all
    have in common at their begin goes, then what they have in common at their end.

    Parameters
    ----------
    names
        Names of logs, the same ones more than once if need be.
    limit
        The most characters that are left of one.

    Examples
    --------
    >>> cut_apart(["application-of-host-1.strace", "b.strace"], 16)
    ['appli…t-1.strace', 'b.strace']
    >>> cut_apart(["run-2026-11-01-host-1.ftrace.zst", "run-2026-11-01-host-2.ftrace.zst"], 16)
    ['…t-1.ftrace.zst', '…t-2.ftrace.zst']
    """
    distinct = set(names)
    # A few letters before what differs: a number alone says little.
    begin = max(_common(distinct) - limit // 8, 0)
    end = _common([name[::-1] for name in distinct])
    end = min(end, min(map(len, distinct), default=0) - begin)

    def tail(name: str) -> str:
        return (_ELLIPSIS if begin else "") + name[begin:]

    def middle(name: str) -> str:
        text = tail(name)
        return text[: len(text) - end] + _ELLIPSIS if end > 1 else text

    for shorten in (str, tail, middle):
        short = {name: cut(shorten(name), limit) for name in distinct}
        if len(set(short.values())) == len(distinct):
            return [short[name] for name in names]
    return [cut(name, limit) for name in names]


def _common(rows: Iterable[Sequence[str]]) -> int:
    """Count what all rows begin with."""
    columns = zip(*rows, strict=False)
    return sum(1 for _ in takewhile(lambda column: len(set(column)) == 1, columns))


def cut(text: str, limit: int) -> str:
    """Cut text in its middle: the two ends of a path say most, and most of all its last name.

    Examples
    --------
    >>> cut("/srv/demo/data/dataset/train/images/0019.img", 24)
    '/srv/de…/images/0019.img'
    >>> cut("/srv/demo/data/model.safetensors", 20)
    '/…/model.safetensors'
    >>> cut("/srv/demo/data/model.safetensors", 16)
    '/srv/…afetensors'
    """
    if len(text) <= limit:
        return text
    head = (limit - 1) // 3
    last = len(text) - max(text.rfind("/"), 0)
    if last < limit:
        head = min(head, limit - 1 - last)
    return text[:head] + _ELLIPSIS + text[len(text) - (limit - 1 - head) :]
