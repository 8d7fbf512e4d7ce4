"""What a log implies of the order in which a simulated machine's calls used positions."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.kernel.simulated import Call, Description, Inode, Machine


def determined(machine: Machine) -> Iterator[tuple[Call, bool]]:
    """Give each call that uses a position, and whether the log implies where it began.

    It does if no other call used the position meanwhile, and if what came before is known: a group
    of overlapping transfers leaves the position after all of them; one with a seek inside leaves
    it open until the next seek that nothing overlaps, and so does one with a copy, which does not
    wait for the others. What an append leaves depends on the file.
    """
    groups: dict[Description, list[Call]] = {}
    for call in machine.calls:
        if call.description and call.kind and call.given is None and call.ended:
            groups.setdefault(call.description, []).append(call)
    unfinished = {task.call.description for task in machine.tasks if task.call}
    for description, calls in groups.items():
        known = description not in unfinished
        calls.sort(key=lambda call: call.begun)
        while calls:
            group = [calls.pop(0)]
            while calls and calls[0].begun < max(call.ended for call in group):
                group.append(calls.pop(0))
            yield from ((call, known and len(group) == 1) for call in group)
            movers = [call for call in group if call.moves]
            loose = [call for call in movers if call.kind == "seek" or call.appends]
            if len(group) > 1:
                loose += [call for call in movers if call.name == "sendfile"]
            if loose:
                known = len(movers) == len(group) == 1 and loose[0].kind == "seek"


def appended(machine: Machine, sure: dict[Call, bool]) -> Iterator[tuple[Call, bool]]:
    """Give each write that appends, and whether the log implies the end of the file there.

    `sure` says so of other offsets. The end is known from a truncation, an emptying open, a seek
    from the end on, until something may change the length that another change overlaps, or nobody
    has the file open, or another file changes: it may be the same one under another name. Ends
    that reads find are left out: not every one is a proof.
    """
    files: dict[Inode, list[Call]] = {}
    for call in machine.calls:
        if call.description and (changes(call) or shows(call) or call.first_open):
            files.setdefault(call.description.inode, []).append(call)
    for inode, calls in files.items():
        known = False
        elsewhere = [call for file, them in files.items() if file is not inode for call in them]
        elsewhere = [call for call in elsewhere if changes(call)]
        since = 0
        # What never ends may do its work at any time.
        for call in sorted(filter(ended, calls), key=ended):
            others = [other for other in calls if other is not call and call.overlaps(other)]
            alone = not any(changes(other) for other in others)
            known = known and not call.first_open
            known = known and not any(
                other.begun < call.ended and not 0 < other.ended < since for other in elsewhere
            )
            if call.appends:
                yield call, known and alone and is_free(call, machine)
            since = since if known and call.kind == "write" else call.begun
            known = known_after(call, known, alone, sure)


def ended(call: Call) -> int:
    return call.ended


def known_after(call: Call, known: bool, alone: bool, sure: dict[Call, bool]) -> bool:
    """Whether the end of the file is known after a call, if it was `known` before it."""
    if call.error:
        return known
    if shows(call):
        return known or alone
    if call.kind == "write":
        return known and alone and (call.appends or call.given is not None or sure[call])
    return alone if changes(call) else known


def is_free(call: Call, machine: Machine) -> bool:
    """Whether no other call used the description's position meanwhile."""
    if call.given is not None:
        return True
    mates = [other for other in machine.calls if other.description is call.description]
    movers = [other for other in mates if other.kind and other.given is None]
    return all(other is call or not call.overlaps(other) for other in movers)


def changes(call: Call) -> bool:
    """Whether it changed the length of its file, or might have."""
    return call.name == "ftruncate" or "O_TRUNC" in call.head or call.kind == "write"


def shows(call: Call) -> bool:
    """Whether it shows the length of its file."""
    return call.name == "lseek" and "SEEK_END" in call.head
