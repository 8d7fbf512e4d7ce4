"""A process with several threads is forked: only one of them lives on in the child."""

import polars as pl

from tracefast.analysis.forks.advice.case import Advice, Case
from tracefast.quantities import plural


def threads_at_fork(case: Case) -> Advice | None:
    """Find forks of a process with threads whose children continue to run its code."""
    if case.text("kind") != "fork" or case.text("image") is not None:
        return None
    if not (case.column("parent_tasks") > 1).any():
        return None
    risky = case.rows.filter(
        pl.col("parent_tasks") > 1,
        pl.col("errno").is_null(),
        # A child that tried to execute a program does not continue to run the code.
        pl.col("exec_failed").fill_null(0) == 0,
    )
    if risky.is_empty():
        return None
    most = int(risky["parent_tasks"].sort()[-1])
    line = case.line(risky)
    where = f"; the first at {line}" if line else ""
    remedy = (
        "Preload only modules that start no threads (set_forkserver_preload), or use the start"
        " method spawn."
        if risky["worker_method"].eq_missing("forkserver").all()
        else "Use multiprocessing's start method forkserver or spawn, or fork before threads are"
        " started (OpenMP, OpenCV, tokenizers and the queues of a data loader start some)."
        if case.runs_python
        else "Fork before threads are started, or execute a program in the child."
    )
    return Advice(
        "fork-with-threads",
        "A process with several threads is forked: a lock that another thread holds is never"
        " released in the child, which may hang.",
        f"{plural(risky.height, 'fork')} of {case.count}, without an execve, with up to {most}"
        f" threads alive in the parent{where}",
        remedy,
        numbers={"forks": risky.height, "threads": most},
    )
