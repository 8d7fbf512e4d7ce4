"""Logs of strace that tests write: a line that is good everywhere, and many lines quickly."""

from pathlib import Path

from support.paths import DATA

# One call, with all that strace can say about it.
READ = '100 1700000000.000100 read(3</srv/a>, "abc", 4096) = 3 <0.000010>\n'


def write_long(log: Path, size: int) -> Path:
    """Write a log of about `size` bytes: the lines of a recorded one, again and again."""
    lines = (DATA / "spawn" / "spawn.strace").read_bytes()
    log.write_bytes(lines * (size // len(lines)))
    return log
