"""A slow reader of ftrace's text, to check the fast one: a line at a time, by regular expressions.

It was written from the formats that the kernel and trace-cmd print, and shares nothing with the
parser. It understands every layout but function_graph, and counts; it decodes nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SECONDS = rb"\d+\.\d+"
FLAGS = rb"[-.dDbBXx][-.0-9A-Za-z#*]{3,6}"
# The name of a trace instance or a file, where trace-cmd prints several.
NAMED = rb"(?:\S+: )?"

# Layouts of records: what is in front of the payload, and the width to which the name of the
# command is padded; 0 where the layout has none. The name may hold anything: so the expression
# begins after it.
LAYOUTS: dict[str, tuple[re.Pattern[bytes], int]] = {
    name: (re.compile(pattern), width)
    for name, pattern, width in (
        (
            "default",
            rb"-(?P<pid>\d+) +(?:\( *(?:\d+|-+)\) +)?\[\d+\] *(?:" + FLAGS + rb" +)?"
            rb"(?:" + SECONDS + rb"|\d+): ?(?P<payload>.*)",
            16,
        ),
        (
            "latency",
            rb"-(?P<pid>\d+) +\d+"
            + FLAGS
            + rb" +(?:\d+us[ +!#*@$]|\d+[ +!#*@$]?|"
            + SECONDS
            + rb")"
            rb": ?(?P<payload>.*)",
            8,
        ),
        (
            "verbose latency",
            rb" +(?P<pid>\d+) +\d+ \d+ [0-9a-f]{8} [0-9a-f]{8} \[[0-9a-f]+\] "
            rb"-?(?:" + SECONDS + rb"ms \(\+?-?" + SECONDS + rb"ms\)|\d+ \(\+-?\d+\)): ?"
            rb"(?P<payload>.*)",
            16,
        ),
        ("raw", rb"^(?P<pid>\d+) \d+ \d+ (?P<payload>.*)", 0),
        ("hex", rb"^(?P<pid>[0-9a-f]{8}) [0-9a-f]{8} [0-9a-f]{16} (?P<payload>.*)", 0),
        (
            "blk_classic",
            rb"^ *(?P<payload>\d+,\d+ +\d+ +" + SECONDS + rb" +(?P<pid>\d+) +[A-Z]+ .*)",
            0,
        ),
        ("remote", rb"^\[\d+\]\t *" + SECONDS + rb": (?P<payload>.*)", 0),
        ("nocontext", rb"^(?P<payload>.*)", 0),
    )
}
# A line has the layout of most lines, or else the first of these. `nocontext` knows all lines, and
# comes in only where most have it.
ORDER = [name for name in LAYOUTS if name != "nocontext"]

LOST = re.compile(
    rb"^(?:\S+: +)?CPU:\d+ \[(?:LOST (?P<lost>\d+) EVENTS|(?P<dropped>\d+) EVENTS DROPPED"
    rb"|LOST EVENTS|EVENTS DROPPED)\]$"
)
# What the kernel and trace-cmd write above the records and between them.
HEADER = re.compile(
    rb"^(?:# tracer: .*|#|# entries-in-buffer/.*|#{5} CPU \d+ buffer started #{4}|#  .*|#\t.*"
    rb"|# \w+ latency trace .*|# -+|# latency: .*"
    rb"|cpus=\d+|version = \d+|CPU \d+ is empty|TRACE:|--)$"
)
COMMENT = re.compile(rb"^#")
FRAME = re.compile(rb"^ ?=> ")
BLANK = re.compile(rb"^[ \t]*$")

# What strace calls the system calls that the kernel's tracer calls otherwise.
SPELLING = {
    "newstat": "stat",
    "newlstat": "lstat",
    "newfstat": "fstat",
    "newuname": "uname",
    "sendfile64": "sendfile",
    "umount": "umount2",
    "llseek": "_llseek",
    "sysctl": "_sysctl",
}


def spelled(name: bytes) -> str:
    """Return strace's name of a system call."""
    return SPELLING.get(name.decode(), name.decode())


# What payloads look like, the kind of each, and what its name is made of: the first that matches
# holds.
KINDS: list[tuple[re.Pattern[bytes], str, Callable[[bytes], str | int | None]]] = [
    (re.compile(pattern), kind, name)
    for pattern, kind, name in (
        (rb"<(stack trace)>$|kernel_stack: +<stack trace", "event", lambda _: "kernel_stack"),
        (rb"<(user stack trace)>$", "event", lambda _: "user_stack"),
        (rb"sys_(\w+) -> ", "exit", spelled),
        (rb"sys_(\w+)\((?!.*\) <-)", "enter", spelled),
        (rb"sys_enter_(\w+):(?: |$)", "enter", spelled),
        (rb"sys_exit_(\w+):(?: |$)", "exit", spelled),
        (rb"sys_enter: NR (\d+) \(.*\)$", "enter", int),
        (rb"sys_exit: NR (\d+) = ", "exit", int),
        (rb"# ([0-9a-f]+) buf: ", "marker", lambda _: "raw_data"),
        (rb"(?:print: +)?(tracing_mark_write): ", "marker", bytes.decode),
        (rb"(0): ", "marker", lambda _: "tracing_mark_write"),
        (rb"(print|bprint|bputs):(?: |$)", "marker", bytes.decode),
        (rb"(type): \d+$", "event", lambda _: None),
        (rb"([\w.$-]+):(?: |$)", "event", bytes.decode),
        (rb"([\w.$-]+).* <-", "function", bytes.decode),
        (rb"(\d+,\d+) +", "event", lambda _: "blk"),
    )
]


@dataclass
class Counts:
    """What a log holds.

    Attributes
    ----------
    lines, size
        Lines, and bytes.
    records
        Records of the trace.
    shared
        Those of them that are on the line of the record before: a NUL in its text took away the
        line feed.
    lost
        What each note of lost records says of their number.
    entered, exited
        System calls by name; those of raw_syscalls by number.
    events
        Other records by kind and name; None without a name.
    stacks, frames
        Stacks, and lines of theirs.
    header, blank, continued
        Lines that are no records.
    unread
        Lines of no known kind.
    """

    lines: int = 0
    size: int = 0
    records: int = 0
    shared: int = 0
    lost: list[int | None] = field(default_factory=list)
    entered: Counter[str | int] = field(default_factory=Counter)
    exited: Counter[str | int] = field(default_factory=Counter)
    events: Counter[tuple[str, str | None]] = field(default_factory=Counter)
    stacks: int = 0
    frames: int = 0
    header: int = 0
    blank: int = 0
    continued: int = 0
    unread: list[bytes] = field(default_factory=list)


def lines_of(text: bytes) -> list[bytes]:
    """Cut a text into lines, each without its end."""
    lines = text.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    return [line.removesuffix(b"\r") for line in lines]


def usual_layout(lines: list[bytes]) -> str:
    """Return the layout of most lines."""
    votes = Counter(match[0] for line in lines if (match := record(line, ORDER)))
    plain = sum(1 for line in lines if kind_of(line)[0] in {"enter", "exit", "event", "marker"})
    most = max(votes.values(), default=0)
    return "nocontext" if plain > most else max(votes, key=votes.__getitem__, default="default")


def record(line: bytes, order: list[str]) -> tuple[str, int, bytes] | None:
    """Return the layout, the length of the padded name, and the payload; None: not a record."""
    for name in order:
        pattern, width = LAYOUTS[name]
        found = list(starts(pattern, line))
        if not found:
            continue
        # The name may look like the columns after it: its width decides, else the first match.
        prefix = re.match(NAMED, line)
        ends = {width, width + (prefix.end() if prefix else 0)}
        best = next((match for match in found if width and match.start() in ends), found[0])
        return name, best.start(), best["payload"]
    return None


def starts(pattern: re.Pattern[bytes], line: bytes) -> Iterator[re.Match[bytes]]:
    """Yield the matches that begin at each place of a line, overlapping ones too."""
    match = pattern.search(line)
    while match:
        yield match
        match = (
            None if pattern.pattern.startswith(b"^") else pattern.search(line, match.start() + 1)
        )


def kind_of(payload: bytes) -> tuple[str, str | int | None]:
    """Return what a payload is, and its name."""
    # trace-cmd pads names of events, and may print the time since the record before.
    text = re.sub(rb"^ *(?:\(\+\d+\) *)?", b"", payload)
    for pattern, kind, name in KINDS:
        match = pattern.match(text)
        if match:
            return kind, name(match[1] or b"")
    return "nameless", None


def shared(layout: str, payload: bytes) -> bytes | None:
    """Return the payload of a record that follows a mark, on the same line."""
    name, _, text = payload.partition(b": ")
    # trace-cmd ends every line.
    if layout not in {"default", "latency"} or name != b"tracing_mark_write":
        return None
    pattern, width = LAYOUTS[layout]
    # Its name is padded as those of all records are.
    aligned = (match for match in starts(pattern, text) if match.start() >= width)
    first = next(aligned, None)
    return first["payload"] if first else None


class Reader:
    """Reads the lines of one log.

    Attributes
    ----------
    counts
        What was found so far.
    """

    def __init__(self, text: bytes) -> None:
        self.lines = lines_of(text)
        self.counts = Counts(lines=len(self.lines), size=len(text))
        self.usual = usual_layout(self.lines)
        self.others = [name for name in ORDER if name != self.usual]
        # What the record before is: `text` may go on in further lines, a `stack` in frames.
        self.before = ""
        # Lines of no known kind since the last record: perhaps the beginning of a name.
        self.waiting: list[bytes] = []

    def read(self) -> Counts:
        """Read all lines."""
        for line in self.lines:
            found = None
            if not HEADER.match(line):
                found = record(line, [self.usual])
                # Without columns, only a name shows a record.
                if self.usual == "nocontext" and kind_of(line)[0] == "nameless":
                    found = None
                found = found or record(line, self.others)
            if found:
                self.record(*found)
            else:
                self.other(line)
        self.settle(0)
        return self.counts

    def record(self, layout: str, dash: int, payload: bytes) -> None:
        """Count a record; lines before it may be the beginning of its name."""
        self.settle(self.named_by(LAYOUTS[layout][1], dash))
        counts = self.counts
        counts.records += 1
        kind, name = kind_of(payload)
        after = shared(layout, payload) if kind == "marker" else None
        if after is not None:
            counts.shared += 1
            counts.events[kind, name] += 1
            self.record(layout, LAYOUTS[layout][1], after)
            return
        self.before = "text"
        if kind in {"enter", "exit"}:
            (counts.entered if kind == "enter" else counts.exited)[name] += 1
            self.before = "call"
        else:
            kind = "event" if kind == "nameless" else kind
            counts.events[kind, name] += 1
            if name in {"kernel_stack", "user_stack"}:
                counts.stacks += 1
                self.before = "stack"

    def named_by(self, width: int, dash: int) -> int:
        """Return how many of the lines that wait are the beginning of a record's name."""
        length = dash
        for number, line in enumerate(reversed(self.waiting), start=1):
            length += len(line) + 1
            if length >= width:
                return number if length == width else 0
        return 0

    def settle(self, named: int) -> None:
        """Count the lines that wait; the last `named` of them belong to the record that follows."""
        counts = self.counts
        rest = self.waiting[: len(self.waiting) - named]
        for line in rest:
            if BLANK.match(line):
                counts.blank += 1
            elif self.before == "text":
                counts.continued += 1
            else:
                counts.unread.append(line)
        # The record counts for its first line.
        counts.continued += named
        self.waiting = []

    def other(self, line: bytes) -> None:
        """Count a line that is no record."""
        counts = self.counts
        lost = LOST.match(line)
        if lost:
            self.settle(0)
            number = lost["lost"] or lost["dropped"]
            counts.lost.append(int(number) if number else None)
            self.before = "lost"
        elif HEADER.match(line) or (COMMENT.match(line) and self.before != "text"):
            self.settle(0)
            counts.header += 1
            self.before = "header"
        elif FRAME.match(line) and self.before == "stack":
            counts.frames += 1
            counts.continued += 1
        else:
            self.waiting.append(line)


def count(text: bytes) -> Counts:
    """Count what a log holds."""
    return Reader(text).read()
