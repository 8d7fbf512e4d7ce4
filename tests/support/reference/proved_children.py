"""What the text of a strace log proves of its processes, read line by line with patterns.

It knows ids, not incarnations: of a log in which a number was used twice it says so, and no more.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_LINE = re.compile(r"(?:\[pid +)?(\d+)(?:<[^>]*>)?\]? +(.*)")
_END = re.compile(r"\+\+\+ (exited with \d+|killed by \w+)( \(core dumped\))? \+\+\+$")
# As an old strace prints clone3, too.
_CALL = re.compile(
    r"(?:[0-9:.]+ |\([ +0-9.]+\) |\[[0-9a-f ?]+\] )*(?:<\.\.\. )?"
    r"(clone3?|v?fork|execveat|execve|syscall_435|syscall_0x1b3)(\(| resumed>)(.*)"
)
_RESULT = re.compile(r"\) *= (0x[0-9a-f]+|\d+)(?=[ <]|$)")


@dataclass
class Proved:
    """What a log proves, by id."""

    ended: set[int] = field(default_factory=set)
    makers: dict[int, int] = field(default_factory=dict)
    threads: set[int] = field(default_factory=set)
    # Programs whose names are in the log.
    started: set[int] = field(default_factory=set)
    twice: bool = False


def proved(text: str) -> Proved:
    """Read a log whose lines name their task."""
    found = Proved()
    begun: dict[int, str] = {}
    perhaps: set[int] = set()
    for line in text.splitlines():
        named = _LINE.match(line)
        if named is None:
            continue
        tid, rest = int(named[1]), named[2]
        if _END.search(rest):
            found.twice |= tid in found.ended
            found.ended.add(tid)
        if (call := _CALL.match(rest)) is not None:
            name, how, args = call[1], call[2], call[3]
            result = _RESULT.search(args)
            if result is None and how == "(":
                begun[tid] = args
            elif result is not None:
                whole = args if how == "(" else begun.pop(tid, "") + args
                _add(found, perhaps, tid, name, whole, result[1])
    # A child of clone3 whose flags are not known is a thread if nothing says that it is more.
    reported = {int(pid) for pid in re.findall(r"si_pid=(\d+)", text)}
    found.threads |= perhaps - reported - found.started
    return found


def _add(found: Proved, perhaps: set[int], tid: int, name: str, args: str, result: str) -> None:
    if name.startswith("exec"):
        if result == "0" and '"' in args:
            found.started.add(tid)
        return
    child = int(result, 0)
    found.makers[child] = tid
    if name.startswith(("syscall", "clone3")) and "flags=" not in args:
        perhaps.add(child)
    elif _is_thread(args):
        found.threads.add(child)


def _is_thread(args: str) -> bool:
    if "CLONE_THREAD" in args:
        return True
    number = re.search(r"flags=(0x[0-9a-f]+)|^(0x[0-9a-f]+),", args)
    return number is not None and bool(int(number[1] or number[2], 16) & 0x10000)
