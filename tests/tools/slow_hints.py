"""What the events tell about processes beyond the rows of `forks`, the slow and obvious way."""

import re
from dataclasses import dataclass, field, replace

import polars as pl

import tracefast as tf
from tracefast.analysis.fork_rows import HINTS

FORKS = {"clone", "clone3", "fork", "vfork"}
EXECS = {"execve", "execveat"}
OPENS = {"open", "openat", "openat2"}
PYTHON = re.compile(r"python(\d+\.\d+)")


@dataclass
class Program:
    """What a process executes, from one execve to the next."""

    python: str | None = None
    torch: bool = False


@dataclass
class Task:
    """What is known of one task."""

    start: int | None = None
    calls: set[str] = field(default_factory=set)
    executed: bool = False
    modules: list[tuple[int, int]] = field(default_factory=list)


class Hints:
    """All about one log."""

    def __init__(self) -> None:
        self.tasks: dict[int, Task] = {}
        self.programs: dict[int, Program] = {}
        self.parents: dict[int, Program] = {}
        self.moments: list[int] = []
        self.execs: list[int] = []

    def take(self, row: dict) -> None:
        """Take in an event."""
        ts, end = row["ts"], (row["ts"] or 0) + (row["dur_ns"] or 0)
        if ts is not None:
            self.moments += [ts, end]
        task = self.tasks.setdefault(row["task"], Task())
        if ts is not None:
            task.start = ts if task.start is None else min(task.start, ts)
        if row["kind"] != "syscall" or row["status"] == "injected":
            return
        program = self.programs.setdefault(row["pid"], Program())
        if row["name"] in OPENS:
            self.opens(row, task, program, end)
        elif row["name"] in FORKS and row["child"] is not None:
            self.parents[row["child"]] = replace(program)
            if row["ret"] is not None:
                self.programs.setdefault(row["ret"], replace(program))
        if row["name"] in EXECS and row["ret"] == 0:
            task.executed = True
            self.programs[row["pid"]] = Program()
            if row["dur_ns"] is not None:
                self.execs.append(row["dur_ns"])
        elif not task.executed:
            task.calls.add(row["name"])

    def opens(self, row: dict, task: Task, program: Program, end: int) -> None:
        path = row["path"] or ""
        if program.python is None and (found := PYTHON.search(path)):
            program.python = found[1]
        program.torch |= "/torch/" in path
        if path.endswith(".pyc") and (row["ret"] or 0) >= 0 and row["ts"] is not None:
            task.modules.append((row["ts"], end))

    def of(self, child: int | None) -> dict:
        task = self.tasks.get(child) if child is not None else None
        parent = self.parents.get(child, Program()) if child is not None else Program()
        modules = task.modules if task else []
        return {
            "child_start": task and task.start,
            "child_calls": " ".join(sorted(task.calls)) if task and task.executed else None,
            "child_modules": len(modules) if task else None,
            "child_modules_ns": max(end for _, end in modules) - modules[0][0] if modules else None,
            "parent_python": parent.python,
            "parent_torch": parent.torch if child is not None else None,
            "log_ns": max(self.moments) - min(self.moments) if self.moments else None,
            "log_exec_ns": min(self.execs, default=None),
        }


def hinted(events: pl.LazyFrame | pl.DataFrame) -> pl.DataFrame:
    """Add `HINTS` to the rows of `forks`."""
    rows = tf.forks(events).collect()
    logs: dict[str | None, Hints] = {}
    # Moments as numbers: Python's own have no nanoseconds.
    for row in events.lazy().with_columns(pl.col("ts").cast(pl.Int64)).collect().to_dicts():
        logs.setdefault(row["source"], Hints()).take(row)
    found = [
        logs[source].of(child) for source, child in rows.select("source", "child_task").iter_rows()
    ]
    types = {name: pl.Int64 if name == "child_start" else dtype for name, dtype in HINTS.items()}
    hints = pl.DataFrame(found, schema=types).cast(dict(HINTS))
    return pl.concat([rows, hints], how="horizontal")
