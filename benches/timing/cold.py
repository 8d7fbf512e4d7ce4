"""Logs that are not in the page cache: how much longer parsing takes than reading the file.

`posix_fadvise` with `POSIX_FADV_DONTNEED` drops a file's pages from the cache, without rights, if
they are on disk already. A read that must not wait (`RWF_NOWAIT`, preadv2(2)) shows whether they
are gone: on some file systems and in some containers they stay, and nothing is measured.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cases import HERE, middle
from text_table import markdown

if TYPE_CHECKING:
    from pathlib import Path

READ = 1 << 20
PROBES = 64
"""Places of a log that are looked at."""

WAYS = {"arrow": "to Arrow", "parquet": "to Parquet"}
HEAD = ("cold", "seconds", "MB/s", "x reading the file")


def drop(log: Path) -> bool:
    """Drop a log from the page cache; return whether it is gone."""
    descriptor = os.open(log, os.O_RDONLY)
    try:
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        size = os.fstat(descriptor).st_size
        return not any(cached(descriptor, size * i // PROBES) for i in range(PROBES))
    except OSError:
        return False
    finally:
        os.close(descriptor)


def cached(descriptor: int, offset: int) -> bool:
    """Say whether a byte of a file can be read without waiting."""
    try:
        return os.preadv(descriptor, [bytearray(1)], offset, os.RWF_NOWAIT) == 1
    except BlockingIOError:
        return False


def read(log: Path) -> float:
    """Return the seconds that reading a log takes, a megabyte at a time."""
    space = bytearray(READ)
    start = time.perf_counter()
    with log.open("rb", buffering=0) as file:
        while file.readinto(space):
            pass
    return time.perf_counter() - start


@dataclass
class Cold:
    """Times of one log, a value each round.

    Attributes
    ----------
    seconds
        By ``"read"`` and the names of `WAYS`.
    stays
        Whether the log could not be dropped.
    """

    log: Path
    threads: int
    seconds: dict[str, list[float]] = field(
        default_factory=lambda: {name: [] for name in ("read", *WAYS)}
    )
    stays: bool = False

    def measure(self) -> None:
        """Measure everything once, each after the log was dropped."""
        for name, values in self.seconds.items():
            if self.stays or not drop(self.log):
                self.stays = True
                return
            values.append(read(self.log) if name == "read" else self.parse(name))

    def parse(self, tool: str) -> float:
        """Return the seconds that parsing takes, without the start of Python."""
        output = self.log.with_suffix(".cold.parquet")
        command = [sys.executable, str(HERE / "measure.py"), tool, str(self.log)]
        command += ["--threads", str(self.threads), "--output", str(output)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        output.unlink(missing_ok=True)
        return json.loads(done.stdout)["seconds"]

    def report(self) -> str:
        """Return a Markdown table, or say why nothing was measured."""
        if self.stays:
            return "The log could not be dropped from the page cache: nothing is measured cold."
        size = self.log.stat().st_size
        alone = self.seconds["read"]
        rows = []
        for name, times in self.seconds.items():
            label = f"{WAYS[name]}, {self.threads} threads" if name in WAYS else "reading the file"
            pairs = zip(times, alone, strict=True)
            rows.append(
                (
                    label,
                    f"{middle(times):.2f}",
                    f"{size / middle(times) / 1e6:,.0f}",
                    f"{middle([one / other for one, other in pairs]):.2f}",
                )
            )
        return markdown(HEAD, rows, left=1)
