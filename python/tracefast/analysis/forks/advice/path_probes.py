"""A program is looked for in one folder after another."""

from typing import Final

from tracefast.analysis.forks.advice.case import Advice, Case
from tracefast.quantities import Range, plural

LEAST_EACH: Final = 2
LEAST: Final = 20


def path_probes(case: Case) -> Advice | None:
    """Find children that try several paths before the one that is there."""
    total = case.sum("exec_failed")
    if total < LEAST:
        return None
    each = case.median("exec_failed")
    if each is None or each < LEAST_EACH:
        return None
    took = case.sum("exec_failed_ns")
    # Each of them is a call at which the tracer stops the child.
    failed = Range(max(took - total * case.stop_ns, 0), took)
    return probing(total, each, failed, case.text("image"), case.first("exec_failed"))


def probing(failed: int, each: int, took: Range, image: str | None, first: str) -> Advice:
    """Say that a program is looked for in one folder after another.

    Parameters
    ----------
    failed, each
        How many calls of execve failed, and how many of a process.
    took
        Their time.
    image
        The program that was found; None if it was not.
    first
        The line of the first one.
    """
    name = "a program" if image is None else image.rpartition("/")[2]
    where = f"it is {image}" if image is not None else "it was not found at all"
    return Advice(
        "path-probes",
        f"Each time {name} is started, it is first looked for in folders that do not hold it.",
        f"{plural(failed, 'execve')} failed, {each} for each process (median),"
        f" which took {took}; first at {first}; {where}",
        "Give the whole path"
        + (f", {image}," if image is not None else "")
        + " or put its folder first in PATH; in Python, shutil.which finds it once.",
        touched=took,
        numbers={"failed": failed},
    )
