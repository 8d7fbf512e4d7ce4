"""Logs of strace that tests write: a line that is good everywhere, lines of calls, many lines."""

from collections.abc import Iterable
from pathlib import Path

from support.paths import DATA

# One call, with all that strace can say about it.
READ = '100 1700000000.000100 read(3</srv/a>, "abc", 4096) = 3 <0.000010>\n'
# The same again and again: the microseconds, the number of the file.
READS = (
    b'7 1700000000.%06d read(3</srv/a/rather/long/path/to/file-%d>, "", 4096) = 4096 <0.000010>\n'
)


def line_of(n: int, call: str, pid: int = 100) -> str:
    """Give the line of call `n`: 100 µs after the one before, 10 µs long unless it has a time."""
    took = "" if call.endswith(">") else " <0.000010>"
    return f"{pid} 1700000000.{n * 100:06} {call}{took}\n"


def lines_of(calls: Iterable[str]) -> str:
    """Give the lines of calls of one task."""
    return "".join(line_of(n, call) for n, call in enumerate(calls))


def write_short(folder: Path, names: Iterable[str]) -> list[Path]:
    """Write logs of one line, two lines, and so on."""
    logs = [folder / name for name in names]
    for number, log in enumerate(logs, start=1):
        log.write_text(READ * number)
    return logs


def write_long(log: Path, size: int) -> Path:
    """Write a log of about `size` bytes: the lines of a recorded one, again and again."""
    lines = (DATA / "spawn" / "spawn.strace").read_bytes()
    log.write_bytes(lines * (size // len(lines)))
    return log
