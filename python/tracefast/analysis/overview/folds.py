"""The tables of one screen that need a pass over all events, without polars."""

from collections.abc import Callable
from typing import Final

from tracefast import _core
from tracefast.analysis.waits import MIN_NS

# Only counts and sums of files and system calls are shown.
SCREEN: Final[dict[str, Callable[[], _core.Fold]]] = {
    "errors": _core.FailedCalls,
    "processes": _core.Processes,
    "files": lambda: _core.Files(distributions=False),
    "syscalls": lambda: _core.Syscalls(distributions=False),
    "waits": lambda: _core.Waits(min_ns=MIN_NS),
    "forks": lambda: _core.Forks(hints=True),
    "tasks": _core.TaskTally,
}


def columns_of(folds: dict[str, Callable[[], _core.Fold]]) -> list[str]:
    """Name the columns that folds need.

    Examples
    --------
    >>> {"ts", "args"} <= set(columns_of(SCREEN))
    True
    """
    return list(dict.fromkeys(name for new in folds.values() for name in new().needed.names))
