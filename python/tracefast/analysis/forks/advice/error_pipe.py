"""The parent waits, on a pipe that closes when the child executes its program."""

from typing import Final

from tracefast.analysis.forks.advice.case import Advice, Case
from tracefast.analysis.forks.measures.costs import SUSPENDING
from tracefast.quantities import Range, percent, plural

LEAST_SHARE: Final = 0.01
LEAST_NS: Final = 500_000


def error_pipe(case: Case) -> Advice | None:
    """Find parents that wait long until their children have executed a program."""
    waits = case.column("error_pipe_ns").count()
    # After vfork the child has executed its program when its parent goes on.
    if not waits or case.text("kind") in SUSPENDING:
        return None
    logged = case.number("error_pipe_sum_ns")
    # It may hold only a part of the gap, so that perhaps none of it is the tracer's.
    total = Range(case.less_tracer(logged).low, logged)
    wall = case.number("wall_ns")
    if total.low < LEAST_NS * waits or total.low < LEAST_SHARE * wall:
        return None
    return Advice(
        "error-pipe",
        "The parent does nothing until the child has executed its program: it waits on the pipe"
        " by which the child would report that this failed.",
        f"{plural(waits, 'read')} of that pipe took {case.time('error_pipe_p50_ns')} each (median),"
        f" {total} in total, {percent(total.high / wall if wall else 0)} of the log's time; in that"
        f" time the child needs {case.time('exec_gap_p50_ns')} to get to execve and"
        f" {case.time('exec_p50_ns')} in it, so do not add this to the time in execve",
        "Shorten what it waits for: after vfork or posix_spawn the child has nothing to tear down,"
        " and the parent does not wait here.",
        touched=total,
        numbers={"reads": waits},
    )
