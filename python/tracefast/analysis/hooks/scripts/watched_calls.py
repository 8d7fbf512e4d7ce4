"""The calls that a script watches."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl

from tracefast import _core
from tracefast.analysis.hooks.points import is_name

# Calls that return how many bytes they moved; some of the classes return a number of messages.
_MOVES: Final = ("reads", "writes", "transfers", "receives", "sends")
_ALSO_MOVES: Final = ("getrandom", "process_vm_readv", "process_vm_writev")
_MESSAGES: Final = (
    "mq_timedsend",
    "mq_timedsend_time64",
    "recvmmsg",
    "recvmmsg_time64",
    "sendmmsg",
)
_ENTER: Final = "syscalls:sys_enter_"
_WIDTH: Final = 90


@dataclass(frozen=True, slots=True)
class WatchedCall:
    """A system call that a script watches."""

    name: str
    """The call, as the log names it."""
    tracepoint: str
    """The part of its tracepoints' names that says which call."""
    returns: bool
    """Whether its end is traced."""
    moves: bool
    """Whether it returns a number of bytes."""

    @property
    def enter(self) -> str:
        """The tracepoint of its start, with the subsystem."""
        return f"{_ENTER}{self.tracepoint}"

    @property
    def exit(self) -> str:
        """The tracepoint of its end, with the subsystem."""
        return f"syscalls:sys_exit_{self.tracepoint}"


def watched_calls(rows: pl.DataFrame) -> list[WatchedCall]:
    """Choose the calls that can be watched: those that have tracepoints, each once.

    Parameters
    ----------
    rows
        Rows of the table of hooks.
    """
    calls: dict[str, WatchedCall] = {}
    for name, enter, exits in rows.select("name", "tracepoint_enter", "tracepoint_exit").rows():
        tracepoint = (enter or "").removeprefix(_ENTER)
        if is_name(name) and is_name(tracepoint):
            call = WatchedCall(name, tracepoint, exits is not None, name in _bytes_calls())
            calls.setdefault(tracepoint, call)
    return list(calls.values())


def _bytes_calls() -> set[str]:
    moves = {name for does in _MOVES for name in _core.syscalls_that(does)}
    return (moves | set(_ALSO_MOVES)) - set(_MESSAGES)


def events(calls: Sequence[WatchedCall]) -> list[str]:
    """Give the tracepoints of calls, in order."""
    return [event for call in calls for event in (call.enter, call.exit)[: 1 + call.returns]]


def comment(calls: Sequence[WatchedCall], mark: str) -> str:
    """List the calls in lines of comment.

    Examples
    --------
    >>> print(comment([WatchedCall("read", "read", True, True)], "#"), end="")
    # Watches read.
    """
    import textwrap

    text = f"Watches {', '.join(call.name for call in calls)}."
    return "".join(f"{mark} {line}\n" for line in textwrap.wrap(text, _WIDTH))
