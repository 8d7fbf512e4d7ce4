"""What the events show about processes beyond the rows of `forks`, the slow and obvious way."""

import re
from dataclasses import dataclass, field

import polars as pl

import tracefast as tf
from support.reference.calls import EXECS, FORKS
from support.reference.processes import slow_argv
from tracefast.analysis.forks.evidence import HINTS

# Of a child that makes more calls before its execve, what these are does not matter.
SOON = 256
OPENS = {"open", "openat", "openat2", "creat"}
PYTHON = re.compile(r"python(\d+\.\d+)")
ROLES = {
    "worker": r"-c from multiprocessing\.spawn ",
    "forkserver": r"-c from multiprocessing\.forkserver ",
    "tracker": r"-c from multiprocessing\.resource_tr",
    "torchrun": r"^\S*torchrun |-m torch\.distributed\.run ",
}


def role_of(args: str | None) -> str | None:
    """Say what a program is to workers, by its arguments."""
    line = " ".join(slow_argv(args) or []) + " "
    return next((role for role, sign in ROLES.items() if re.search(sign, line)), None)


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
    role: str | None = None


class Hints:
    """All about one log."""

    def __init__(self) -> None:
        self.tasks: dict[int, Task] = {}
        # The program that a process runs, by the path of its last execve, else by its number.
        self.images: dict[int, str | None] = {}
        self.programs: dict[object, Program] = {}
        # What the program is to workers that a process has executed.
        self.roles: dict[int, str | None] = {}
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
            role = self.roles[row["pid"]] = role_of(row["args"])
            task.role = task.role if task.executed else role
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
            "worker_method": self.method(row, task),
            "parent_python": parent.python,
            "parent_torch": parent.torch,
            "log_ns": max(self.moments) - min(self.moments) if self.moments else None,
            "log_exec_ns": min(self.execs, default=None),
        }

    def method(self, row: dict, task: Task | None) -> str | None:
        """Say how a worker was started."""
        parent = self.roles.get(row["pid"])
        if task is None:
            return None
        if not task.executed:
            forked = "forkserver" if parent == "forkserver" else "fork"
            return forked if row["kind"] == "fork" else None
        launched = parent == "torchrun" and task.role != "tracker"
        return "spawn" if task.role == "worker" else "exec" if launched else None


def hinted(events: pl.LazyFrame | pl.DataFrame) -> pl.DataFrame:
    """Give the rows of `forks` with `HINTS`, without `child_start`."""
    rows = tf.forks(events).with_columns(pl.col("ts").cast(pl.Int64)).collect()
    logs: dict[str | None, Hints] = {}
    # Moments as numbers: Python's own have no nanoseconds.
    for row in events.lazy().with_columns(pl.col("ts").cast(pl.Int64)).collect().to_dicts():
        logs.setdefault(row["source"], Hints()).take(row)
    pooled = ("in_pool", "child_ready_ns")
    types = {name: dtype for name, dtype in HINTS.items() if name not in ("child_start", *pooled)}
    hints = pl.DataFrame([logs[row["source"]].of(row) for row in rows.to_dicts()], schema=types)
    times = pl.col("ts").cast(pl.Datetime("ns"))
    table = pl.concat([rows.with_columns(times), hints], how="horizontal")
    # Who is a worker, and when it was ready, is what the table of workers says.
    workers = tf.workers(events).select(
        "source",
        pl.lit(value=True).alias("in_pool"),
        child_task="task",
        child_ready_ns="start_ns",
        pool_method="method",
    )
    joined = table.join(
        workers.collect(),
        on=["source", "child_task"],
        how="left",
        nulls_equal=True,
        maintain_order="left",
    )
    known = pl.col("child_modules").is_not_null()
    return joined.with_columns(
        pl.when(known).then(pl.col("in_pool").fill_null(value=False)),
        pl.coalesce("pool_method", "worker_method").alias("worker_method"),
    ).select(*rows.columns, *(name for name in HINTS if name != "child_start"))
