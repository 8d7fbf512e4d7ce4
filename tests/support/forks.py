"""Events and rows of `forks` made by hand, from the columns that matter to a test."""

import polars as pl

from tracefast.analysis.forks.evidence import HINTS
from tracefast.analysis.forks.table import SCHEMA

MS = 1_000_000
MIB = 1 << 20
FORK = "child_stack=NULL, flags=CLONE_CHILD_CLEARTID|CLONE_CHILD_SETTID|SIGCHLD"

USUAL = {
    "source": "log",
    "task": 0,
    "pid": 10,
    "tid": 10,
    "parent_image": "/usr/bin/python3",
    "name": "clone",
    "kind": "fork",
    "call_ns": 20 * MS,
    "restarts": 0,
    "exec_gap_ns": MS,
    "exec_failed": 0,
    "exec_ns": 21 * MS,
    "image": "/bin/true",
    "lifetime_ns": 30 * MS,
    "parent_tasks": 1,
}


def call(name, task, ts, ret=0, dur=MS, **rest) -> dict[str, object]:
    """Make a row of a call that returned; its task has the thread id `10 * task`."""
    tid = task * 10
    row = {"name": name, "task": task, "pid": tid, "tid": tid, "ts": ts * MS, "ret": ret}
    return row | {"dur_ns": dur} | rest


def made(rows: list[dict[str, object]]) -> pl.DataFrame:
    """Make rows, one every 100 ms; what they do not say is as in `USUAL`."""
    schema = {**SCHEMA, **HINTS}
    return pl.DataFrame(
        [
            {
                **dict.fromkeys(schema),
                "ts": 100 * MS * i,
                "line": 10 * i + 1,
                "child_task": i + 1,
                "child_pid": 100 + i,
                **USUAL,
                **row,
            }
            for i, row in enumerate(rows)
        ],
        schema=schema | {"ts": pl.Int64, "child_start": pl.Int64},
    ).cast({"ts": pl.Datetime("ns"), "child_start": pl.Datetime("ns")})


def same(count: int, **row: object) -> list[dict[str, object]]:
    """Say the same of several rows."""
    return [dict(row) for _ in range(count)]
