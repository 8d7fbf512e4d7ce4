"""What the events show about processes beyond the rows of `forks`, the slow and obvious way."""

import re
from dataclasses import dataclass, field

import polars as pl

import tracefast as tf
from support.reference.calls import EXECS, FORKS
from tracefast.analysis.forks.evidence import HINTS

# Of a child that makes more calls before its execve, what these are does not matter.
SOON = 256
OPENS = {"open", "openat", "openat2", "creat"}
PYTHON = re.compile(r"python(\d+\.\d+)")


@dataclass
class Program:
    """What a program shows of itself by the files that it opens."""

    python: str | None = None
    torch: bool = False

    def opens(self, path: str) -> None:
        """Take in the path of a file."""
        if self.python is None and (found := PYTHON.search(path)):
            self.python = found[1]
        self.torch |= "/torch/" in path


@dataclass
class Task:
    """What is known of one task."""

    calls: list[str] = field(default_factory=list)
    executed: bool = False
    modules: list[tuple[int, int]] = field(default_factory=list)
    seen: bool = False


class Hints:
    """All about one log."""

    def __init__(self) -> None:
        self.tasks: dict[int, Task] = {}
        # The program that a process runs, by the path of its last execve, else by its number.
        self.images: dict[int, str | None] = {}
        self.programs: dict[object, Program] = {}
        self.moments: list[int] = []
        self.execs: list[int] = []

    def take(self, row: dict) -> None:
        """Take in an event."""
        ts, end = row["ts"], (row["ts"] or 0) + (row["dur_ns"] or 0)
        if ts is not None:
            self.moments += [ts, end]
        task = self.tasks.setdefault(row["task"], Task())
        returns = row["name"] in FORKS and row["ret"] == 0
        if row["kind"] != "syscall" or row["status"] == "injected" or returns:
            return
        executes = row["name"] in EXECS and row["ret"] == 0
        if executes:
            task.executed = True
            self.images[row["pid"]] = row["path"]
            if row["dur_ns"] is not None:
                self.execs.append(row["dur_ns"])
        elif not task.executed:
            task.calls.append(row["name"])
        if row["name"] in OPENS and row["path"] is not None:
            program = self.images.get(row["pid"]) or row["pid"]
            self.programs.setdefault(program, Program()).opens(row["path"])
            if row["path"].endswith(".pyc") and (row["ret"] or 0) >= 0 and ts is not None:
                task.modules.append((ts, end))

    def of(self, row: dict) -> dict:
        """Give what is known of one created task."""
        task = self.tasks.get(row["child_task"])
        parent = self.programs.get(row["parent_image"]) or self.programs.get(row["pid"])
        parent = parent or Program()
        soon = task is not None and task.executed and len(task.calls) <= SOON
        modules = task.modules if task else []
        return {
            "child_calls": " ".join(sorted(set(task.calls))) if soon else None,
            "child_modules": len(modules) if task else None,
            "child_modules_ns": max(end for _, end in modules) - modules[0][0] if modules else None,
            "parent_python": parent.python,
            "parent_torch": parent.torch,
            "log_ns": max(self.moments) - min(self.moments) if self.moments else None,
            "log_exec_ns": min(self.execs, default=None),
        }


def hinted(events: pl.LazyFrame | pl.DataFrame) -> pl.DataFrame:
    """Give the rows of `forks` with `HINTS`, without `child_start`."""
    rows = tf.forks(events).collect()
    logs: dict[str | None, Hints] = {}
    # Moments as numbers: Python's own have no nanoseconds.
    for row in events.lazy().with_columns(pl.col("ts").cast(pl.Int64)).collect().to_dicts():
        logs.setdefault(row["source"], Hints()).take(row)
    types = {name: dtype for name, dtype in HINTS.items() if name != "child_start"}
    hints = pl.DataFrame([logs[row["source"]].of(row) for row in rows.to_dicts()], schema=types)
    return pl.concat([rows, hints], how="horizontal")
