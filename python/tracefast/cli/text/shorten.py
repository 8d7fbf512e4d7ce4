"""Shorten names: the middle is cut, and different names stay different."""

from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import Final

from tracefast.cli.text.width import cells, first_cells, last_cells

_ELLIPSIS: Final = "…"


def without_common_folders(names: Sequence[str]) -> list[str]:
    """Remove the leading folders that all names share.

    Parameters
    ----------
    names
        Names of logs. The same name may occur more than once.

    Examples
    --------
    >>> without_common_folders(["runs/a/app.strace", "runs/b/app.strace", "runs/a/app.strace"])
    ['a/app.strace', 'b/app.strace', 'a/app.strace']
    >>> without_common_folders(["runs/app.strace", "runs/app.strace"])
    ['app.strace', 'app.strace']
    """
    folders = _common([name.split("/")[:-1] for name in names])
    return [name.split("/", folders)[-1] for name in names]


def cut_distinct(names: Sequence[str], limit: int) -> list[str]:
    """Cut names to a length, different names to different texts where possible.

    Names are cut in the middle, as their ends say most. Where that would make two names equal, the
    start that all names share is removed, then the end that they share.

    Parameters
    ----------
    names
        Names of logs. The same name may occur more than once.
    limit
        The largest number of characters to keep of a name.

    Examples
    --------
    >>> cut_distinct(["application-of-host-1.strace", "b.strace"], 16)
    ['appli…t-1.strace', 'b.strace']
    >>> cut_distinct(["run-2026-11-01-host-1.ftrace.zst", "run-2026-11-01-host-2.ftrace.zst"], 16)
    ['…t-1.ftrace.zst', '…t-2.ftrace.zst']
    """
    distinct = set(names)
    # Keep a few letters before the difference: a number alone says little.
    start = max(_common(distinct) - limit // 8, 0)
    end = _common([name[::-1] for name in distinct])
    end = min(end, min(map(len, distinct), default=0) - start)

    def tail(name: str) -> str:
        return (_ELLIPSIS if start else "") + name[start:]

    def middle(name: str) -> str:
        text = tail(name)
        return text[: len(text) - end] + _ELLIPSIS if end > 1 else text

    for shorten in (str, tail, middle):
        short = {name: cut_middle(shorten(name), limit) for name in distinct}
        if len(set(short.values())) == len(distinct):
            return [short[name] for name in names]
    return [cut_middle(name, limit) for name in names]


def _common(rows: Iterable[Sequence[str]]) -> int:
    """Count the leading elements that all rows share."""
    columns = zip(*rows, strict=False)
    return sum(1 for _ in takewhile(lambda column: len(set(column)) == 1, columns))


def last_name(path: str) -> str:
    """Give the last name of a path, with the slash in front of it.

    Examples
    --------
    >>> last_name("/srv/demo/model.pth"), last_name("/srv/demo/"), last_name("model.pth")
    ('/model.pth', '/demo/', 'model.pth')
    """
    return path[max(path.rstrip("/").rfind("/"), 0) :]


def cut_middle(text: str, limit: int, ellipsis: str = _ELLIPSIS) -> str:
    """Cut text in its middle: the ends of a path say most, above all its last name.

    A last name that is longer than what there is room for is cut in its own middle.

    Examples
    --------
    >>> cut_middle("/srv/demo/data/dataset/train/images/0019.img", 24)
    '/srv/de…/images/0019.img'
    >>> cut_middle("/srv/demo/data/model.safetensors", 20)
    '/…/model.safetensors'
    >>> cut_middle("/srv/demo/data/model.safetensors", 16)
    'model…afetensors'
    """
    if cells(text) <= limit:
        return text
    room = limit - cells(ellipsis)
    head = room // 3
    name = last_name(text)
    if cells(name) <= room:
        head = min(head, room - cells(name))
    elif cells(name.removeprefix("/")) <= room:
        head = 0
    else:
        text = name.removeprefix("/")
    start = first_cells(text, head)
    return start + ellipsis + last_cells(text, room - cells(start))


def cut_end(text: str, limit: int) -> str:
    """Cut text at its end.

    Examples
    --------
    >>> cut_end("python3 train.py --epochs 3", 17)
    'python3 train.py…'
    """
    if cells(text) <= limit:
        return text
    return first_cells(text, limit - cells(_ELLIPSIS)).rstrip() + _ELLIPSIS
