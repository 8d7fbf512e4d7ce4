"""How much memory a script takes."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import tracefast as tf

STATUS = """
with open("/proc/self/status") as status:
    print(next(line.split()[1] for line in status if line.startswith("VmHWM")))
"""

needs_status = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="needs /proc/self/status"
)


def peak_kb(script: str, *arguments: object) -> int:
    """Run a script in a process of its own; give its largest resident memory, in KiB."""
    command = [sys.executable, "-c", script + STATUS, *map(str, arguments)]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def written(write: Callable[[Path, int], None], folder: Path, count: int) -> Path:
    """Write a log whose table has `count` rows."""
    log = folder / f"{count}.strace"
    write(log, count)
    return log


def parsed(write: Callable[[Path, int], None], folder: Path, count: int) -> Path:
    """Write a log whose table has `count` rows; give its Parquet."""
    log, out = written(write, folder, count), folder / f"{count}.parquet"
    tf.parse(log, out)
    log.unlink()
    return out


def bytes_per_row(
    script: str,
    write: Callable[[Path, int], None],
    folder: Path,
    counts: tuple[int, int] = (20_000, 120_000),
    made: Callable[..., Path] = parsed,
) -> float:
    """Give by how much a script's memory grows with each row of a table.

    `write` makes a log whose table has so many rows; the script gets what is `made` of it, and the
    number.
    """
    few, many = counts
    peaks = []
    for count in (few, many):
        source = made(write, folder, count)
        peaks.append(min(peak_kb(script, source, count) for _ in range(2)))
    return (peaks[1] - peaks[0]) * 1024 / (many - few)
