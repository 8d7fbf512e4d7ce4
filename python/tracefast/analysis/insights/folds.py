"""The tables of insights that need a pass over all events, without polars."""

from collections.abc import Callable
from typing import Final

from tracefast import _core
from tracefast.analysis.waits import MIN_NS

# By name.
FOLDS: Final[dict[str, Callable[[], _core.Fold]]] = {
    "files": _core.Files,
    "syscalls": lambda: _core.Syscalls(span=True),
    "waits": lambda: _core.Waits(min_ns=MIN_NS),
    "forks": lambda: _core.Forks(hints=True),
    # No rule asks how much memory a log of strace suggests that they have.
    "workers": lambda: _core.Workers(estimates=False),
    # Nor who read and wrote the files.
    "roles": lambda: _core.Roles(users=False),
    "tasks": _core.TaskTally,
    "calls": _core.FileTally,
    "polls": _core.PollTally,
}
