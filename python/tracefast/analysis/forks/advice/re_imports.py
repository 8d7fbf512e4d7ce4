"""Each worker loads the same modules of Python again."""

from typing import Final

import polars as pl

from tracefast.analysis.forks.advice.case import Advice, Case
from tracefast.quantities import duration, plural

_LEAST_MODULES: Final = 20
_LEAST_WORKERS: Final = 2


def re_imports(case: Case) -> Advice | None:
    """Find several children of Python that each open many compiled modules."""
    if not case.runs_python or case.text("kind") == "thread":
        return None
    workers = case.rows.filter(pl.col("child_modules") >= _LEAST_MODULES)
    if workers.height < _LEAST_WORKERS:
        return None
    total = int(workers["child_modules"].sum())
    modules = workers["child_modules"].sort()
    each = modules[(len(modules) - 1) // 2]
    took = workers["child_modules_ns"].drop_nulls().sort()
    time = f", within {duration(took[(len(took) - 1) // 2])} (median)" if len(took) else ""
    if time and case.traced:
        time += ", the tracer's stops included"
    return Advice(
        "re-imports",
        "Each worker imports the same modules again before it can start work.",
        f"{plural(workers.height, 'worker')} opened {plural(total, 'compiled module')} (.pyc),"
        f" {each} each (median){time}",
        "Import them in the parent before it forks."
        if case.text("image") is None
        else "Use multiprocessing's start method forkserver with set_forkserver_preload([…]), whose"
        " workers find the modules loaded; import less in the module that the workers run; let"
        " workers live longer.",
    )
