"""What pushdown saves: queries of ``tf.scan`` of a log, with it and without it.

Each runs in a process of its own. Without pushdown polars asks the source for all columns of all
rows, and drops what the query does not want. By hand: ``python benches/lazy.py LOG`` prints the
figures of each query and way as JSON.
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
    "all columns of all rows: `null_count()`": lambda events, _column: events.null_count(),
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
"""What is asked, of a frame and with ``pl.col``."""

WAYS = ("pushdown", "none")
"""Whether filters, columns and limits are pushed down to the parser."""


def run(log: str, query: str, way: str) -> dict[str, float]:
    """Run one query in this process; ``seconds`` is the wall time without imports."""
    import polars as pl

    import tracefast as tf

    # What polars sets up for the first query of a process is not ours.
    pl.LazyFrame({"warm": ["up"]}).filter(pl.col("warm") == "up").head(1).collect()
    pushed = way == "pushdown"
    flags = pl.QueryOptFlags(
        predicate_pushdown=pushed, projection_pushdown=pushed, slice_pushdown=pushed
    )
    counters = tf.Progress()
    events = tf.scan(log, progress=counters)
    start = time.perf_counter()
    rows = QUERIES[query](events, pl.col).collect(optimizations=flags).height
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
    """The queries of one log, and what was measured, a value each round.

    Attributes
    ----------
    seconds
        By query and way.
    counts
        The last figures of each query, with pushdown.
    """

    log: Path
    seconds: dict[tuple[str, str], list[float]] = field(default_factory=dict)
    counts: dict[str, dict[str, float]] = field(default_factory=dict)

    def measure(self) -> None:
        """Run every query once in each way; both must give the same number of rows."""
        for query in QUERIES:
            rows = set()
            for way in WAYS:
                command = [sys.executable, __file__, str(self.log), query, way]
                done = subprocess.run(command, capture_output=True, text=True, check=True)
                found = json.loads(done.stdout)
                self.seconds.setdefault((query, way), []).append(found["seconds"])
                rows.add(found["rows"])
                if way == "pushdown":
                    self.counts[query] = found
            if len(rows) > 1:
                raise SystemExit(f"error: {query}: {rows} rows, with pushdown and without")

    def table(self) -> list[tuple[str, ...]]:
        """Return the rows of a table whose head is `HEAD`."""
        rows = []
        for query, found in self.counts.items():
            pushed, not_pushed = (statistics.median(self.seconds[query, way]) for way in WAYS)
            rows.append(
                (
                    query,
                    f"{pushed * 1000:,.0f}",
                    f"{not_pushed * 1000:,.0f}",
                    f"{found['bytes_read'] / 1e6:,.1f}",
                    f"{found['rows_built']:,}",
                    f"{found['columns_built']}",
                )
            )
        return rows


HEAD = ("query", "ms", "ms without pushdown", "MB read", "rows built", "columns built")


if __name__ == "__main__":
    log, *asked = sys.argv[1:]
    if asked:
        print(json.dumps(run(log, *asked)))
    else:
        for one in QUERIES:
            for way in WAYS:
                print(json.dumps({"query": one, "way": way, **run(log, one, way)}))
