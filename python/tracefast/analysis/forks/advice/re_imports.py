"""Each worker loads the same modules of Python again."""

from typing import Final

import polars as pl

from tracefast.analysis.forks.advice.case import Advice, Case
from tracefast.analysis.forks.advice.fork_per_epoch import rounds
from tracefast.quantities import Range, duration, plural

LEAST_MODULES: Final = 20
LEAST_WORKERS: Final = 2
_LONGER: Final = "; let workers live longer (PyTorch's DataLoader: persistent_workers=True)"
# What to change, by how the workers were started.
_REMEDIES: Final = {
    "fork": "Import them in the parent before it forks",
    "forkserver": "Name what they import in multiprocessing's set_forkserver_preload([…]), so that"
    " the forkserver has it when it forks them",
    "spawn": "Use multiprocessing's start method forkserver with set_forkserver_preload([…]), whose"
    " workers find the modules loaded; import less in the module that the workers run",
    "exec": "Import less in the program that the workers run, or import it later",
}


def re_imports(case: Case) -> Advice | None:
    """Find several workers, started in one way, that each open many compiled modules of Python."""
    if not case.runs_python or case.text("kind") == "thread":
        return None
    # Most groups have none, and need no more than these two columns.
    many = case.column("child_modules") >= LEAST_MODULES
    if int((many & case.column("in_pool")).sum() or 0) < LEAST_WORKERS:
        return None
    importing = case.workers.filter(pl.col("child_modules") >= LEAST_MODULES)
    groups = importing.partition_by("worker_method", maintain_order=True)
    workers = max(groups, key=lambda rows: int(rows["child_modules"].sum()), default=importing)
    if workers.height < LEAST_WORKERS:
        return None
    method = str(workers["worker_method"][0])
    total = int(workers["child_modules"].sum())
    modules = workers["child_modules"].sort()
    each = modules[(len(modules) - 1) // 2]
    took = workers["child_modules_ns"].drop_nulls().sort()
    time = f", within {duration(took[(len(took) - 1) // 2])} (median)" if len(took) else ""
    if time and case.traced:
        time += ", the tracer's stops included"
    # Those that live as long as the program do not live longer.
    again = any(
        len(rounds(parent.sort("begin"))) > 1 for parent in workers.partition_by("source", "pid")
    )
    return Advice(
        "re-imports",
        "Each worker imports the same modules again before it can start work.",
        f"{plural(workers.height, 'worker')} (start method {method}) opened"
        f" {plural(total, 'compiled module')} (.pyc), {each} each (median){time}",
        _REMEDIES[method] + (_LONGER if again else "") + ".",
        # Of the time between opens, the log does not say how much the tracer took.
        touched=Range(0 if case.traced else int(took.sum()), int(took.sum())),
        numbers={"workers": workers.height, "modules": total},
    )
