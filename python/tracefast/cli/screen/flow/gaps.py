"""Say what logs lack, so that the graph lacks it too, and how to record it."""

from collections.abc import Iterable
from typing import Final

from tracefast.cli.text.paragraph import wrap

_PROSE_WIDTH: Final = 100
_GAPS: Final = {
    "calls": "The log has no system calls, so it does not show who read and wrote what: record it"
    " with strace -f -ttt -T -yy, or with the events syscalls of ftrace.",
    "names": "Most calls of the log do not show which file they are about: record it with strace"
    " -yy. ftrace prints no names before Linux 6.19.",
    "addresses": "The log does not show where most sockets lead: record it with strace -yy.",
    "children": "Processes were started whose calls are not in the log, so it does not show what"
    " they read and wrote: record it with strace -f.",
}


def gap_sentences(gaps: Iterable[str]) -> list[str]:
    """Write what the logs lack, in sentences."""
    found = set(gaps)
    return [text for gap, text in _GAPS.items() if gap in found]


def gap_lines(gaps: Iterable[str], width: int | None) -> list[str]:
    """Write what the logs lack, in lines."""
    texts = gap_sentences(gaps)
    return [line for text in texts for line in wrap(text, width or _PROSE_WIDTH)]
