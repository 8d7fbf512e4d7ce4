"""What a lazy query saves: ``tf.scan`` of a log, whole and in part, each in a process of its own.

Run by hand: ``python benches/lazy.py LOG [QUERY]`` prints one query's figures as JSON.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

QUERIES = {
    "everything": lambda events, column: events.select(column("*").null_count()),
    "one column: `select('name')`": lambda events, _column: events.select("name"),
    "some rows: `filter(name == 'openat')`": lambda events, column: events.filter(
        column("name") == "openat"
    ),
    "some rows and columns": lambda events, column: events.filter(
        column("path").str.starts_with("/etc/")
    ).select("ts", "path"),
    "`head(10)`": lambda events, _column: events.head(10),
    "the first ten of `name == 'openat'`": lambda events, column: events.filter(
        column("name") == "openat"
    ).head(10),
}
"""What is asked, of a frame and with ``pl.col``; the first one is what the others save from."""


def run(log: str, query: str) -> dict[str, float]:
    """Run one query in this process; ``seconds`` is the wall time without imports."""
    import polars as pl

    import tracefast as tf

    counters = tf.Progress()
    events = tf.scan(log, progress=counters)
    start = time.perf_counter()
    rows = QUERIES[query](events, pl.col).collect().height
    seconds = time.perf_counter() - start
    return {
        "seconds": seconds,
        "rows": rows,
        "rows_built": counters.rows_built,
        "columns_built": counters.columns_built,
        "bytes_read": counters.bytes_read,
    }


@dataclass
class Lazy:
    """The queries of one log, and what was measured, a value each round."""

    log: Path
    seconds: dict[str, list[float]] = field(default_factory=dict)
    counts: dict[str, dict[str, float]] = field(default_factory=dict)

    def measure(self) -> None:
        """Run every query once."""
        for query in QUERIES:
            command = [sys.executable, __file__, str(self.log), query]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            found = json.loads(done.stdout)
            self.seconds.setdefault(query, []).append(found["seconds"])
            self.counts[query] = found

    def table(self) -> list[tuple[str, ...]]:
        """Return the rows of a table whose head is `HEAD`."""
        middle = {query: statistics.median(times) for query, times in self.seconds.items()}
        whole, *_ = middle.values()
        return [
            (
                query,
                f"{seconds * 1000:,.0f}",
                f"{seconds / whole:.2f}",
                f"{self.counts[query]['bytes_read'] / 1e6:,.1f}",
                f"{self.counts[query]['rows_built']:,}",
                f"{self.counts[query]['columns_built']}",
            )
            for query, seconds in middle.items()
        ]


HEAD = ("query", "ms", "x everything", "MB read", "rows built", "columns")


if __name__ == "__main__":
    asked = sys.argv[2:] or QUERIES
    for one in asked:
        print(json.dumps(run(sys.argv[1], one)))
