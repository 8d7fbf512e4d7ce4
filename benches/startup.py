"""Time to start the command and import the package, next to an interpreter that does nothing."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from dataclasses import dataclass, field

PROGRAMS = {
    "python -c pass": ("-c", "pass"),
    "import tracefast": ("-c", "import tracefast"),
    "import polars": ("-c", "import polars"),
    "import polars, tracefast": ("-c", "import polars, tracefast"),
    "tracefast --version": ("-m", "tracefast", "--version"),
    "tracefast --help": ("-m", "tracefast", "--help"),
    "tracefast files --help": ("-m", "tracefast", "files", "--help"),
}
"""Arguments of the interpreter, by name."""

TURNS = 4
"""How often each starts in a round."""


@dataclass
class Startup:
    """Wall time of whole processes, in seconds.

    Attributes
    ----------
    seconds
        By the names of `PROGRAMS`, all that was measured.
    """

    seconds: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in PROGRAMS})

    def measure(self) -> None:
        """Start each several times, in turn."""
        for _ in range(TURNS):
            for name, arguments in PROGRAMS.items():
                start = time.perf_counter()
                subprocess.run([sys.executable, *arguments], stdout=subprocess.DEVNULL, check=True)
                self.seconds[name].append(time.perf_counter() - start)

    def middle(self, name: str) -> float:
        """Return the median of one."""
        return statistics.median(self.seconds[name])

    def beyond(self, name: str, other: str) -> float:
        """Return what one takes beyond another, turn by turn."""
        pairs = zip(self.seconds[name], self.seconds[other], strict=True)
        return statistics.median(one - two for one, two in pairs)

    def table(self) -> list[tuple[str, ...]]:
        """Return rows of a table: name, milliseconds, those beyond the empty program, lowest."""
        return [
            (
                f"`{name}`",
                f"{1e3 * self.middle(name):.0f}",
                f"{1e3 * self.beyond(name, 'python -c pass'):.0f}",
                f"{1e3 * min(self.seconds[name]):.0f}",
            )
            for name in PROGRAMS
        ]
