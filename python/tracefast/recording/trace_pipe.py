"""The text of several instances of tracefs as one, in the order of its times."""

import os
import re
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

_CHUNK: Final = 1 << 16
# The processor, flags, and the time in seconds: trace_print_context in kernel/trace/trace_output.c.
_TIME: Final = re.compile(rb"\[\d+\] (?:\S+ +)?(\d+)\.(\d+): ")


class TracePipes:
    """Reads the first instance as it is, and puts lines of the second where their times are.

    Parameters
    ----------
    folders
        One instance, or two. The second one has far fewer records than the first.
    """

    def __init__(self, folders: Sequence[Path]) -> None:
        flags = os.O_RDONLY | os.O_NONBLOCK
        self.descriptors = [os.open(folder / "trace_pipe", flags) for folder in folders]
        self._rest = [b""] * len(self.descriptors)
        self._held: deque[tuple[int, bytes]] = deque()
        self._last = 0

    def read(self) -> Iterator[bytes]:
        """Give what there is now, in whole lines."""
        self._hold()
        while text := self._lines(0):
            yield self._merged(text)
            self._hold()
        # The first one has nothing earlier left.
        if self._held:
            yield b"".join(line for _, line in self._held)
            self._held.clear()

    def close(self) -> None:
        """Close the descriptors."""
        for descriptor in self.descriptors:
            os.close(descriptor)

    def _hold(self) -> None:
        """Keep what the second one has, until the first one has come so far."""
        if len(self.descriptors) > 1:
            while text := self._lines(1):
                for line in text.splitlines(keepends=True):
                    # A note about lost records has no time: it belongs to the next record.
                    self._last = _time(line) or self._last
                    self._held.append((self._last, line))

    def _merged(self, text: bytes) -> bytes:
        if not self._held:
            return text
        lines = text.splitlines(keepends=True)
        last = next(filter(None, map(_time, reversed(lines))), 0)
        if self._held[0][0] >= last:
            return text
        merged: list[bytes] = []
        for line in lines:
            time = _time(line) or 0
            while self._held and self._held[0][0] < time:
                merged.append(self._held.popleft()[1])
            merged.append(line)
        return b"".join(merged)

    def _lines(self, which: int) -> bytes:
        """Read the whole lines that have come; no bytes if none have."""
        with suppress(BlockingIOError):
            while text := os.read(self.descriptors[which], _CHUNK):
                whole, line_feed, rest = (self._rest[which] + text).rpartition(b"\n")
                self._rest[which] = rest
                if line_feed:
                    return whole + line_feed
        return b""


def _time(line: bytes) -> int | None:
    """Give the time of a record in its own unit, which is that of all lines.

    Examples
    --------
    >>> (
    ...     _time(b"  cat-12  [001] d..2.  10.000300: sched_switch: prev_comm=cat"),
    ...     _time(b"# tracer: nop"),
    ... )
    (10000300, None)
    """
    found = _TIME.search(line)
    return int(found[1] + found[2]) if found else None
