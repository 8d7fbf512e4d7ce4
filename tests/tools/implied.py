"""What a log implies of the order in which a simulated machine's calls used positions."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulated import Call, Description, Machine


def determined(machine: Machine) -> Iterator[tuple[Call, bool]]:
    """Give each call that uses a position, and whether the log implies where it began.

    It does if no other call used the position meanwhile, and if what came before is known: a group
    of overlapping transfers leaves the position behind all of them; one with a seek inside leaves
    it open until the next seek that nothing overlaps. What an append leaves depends on the file.
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
            if loose:
                known = len(movers) == len(group) == 1 and loose[0].kind == "seek"
