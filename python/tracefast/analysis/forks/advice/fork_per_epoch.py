"""New workers are forked for each round of work."""

from typing import Final

import polars as pl

from tracefast.analysis.forks.advice.case import Advice, Case
from tracefast.quantities import Range, plural

LEAST_ROUNDS: Final = 2
LEAST_WORKERS: Final = 2


def fork_per_epoch(case: Case) -> Advice | None:
    """Find processes of Python that fork as many workers again when all the old ones have ended."""
    if case.text("kind") != "fork" or case.text("image") is not None or not case.runs_python:
        return None
    best: list[int] = []
    children = case.columns("source", "pid", "errno", "begin", "child_end")
    for parent in children.filter(pl.col("errno").is_null()).partition_by("source", "pid"):
        workers = rounds(parent)
        if len(workers) > len(best) and min(workers) >= LEAST_WORKERS and _regular(workers):
            best = workers
    if len(best) < LEAST_ROUNDS:
        return None
    calls = case.less_tracer_beside(case.number("call_sum_ns"))
    torch = bool(case.column("parent_torch").fill_null(value=False).any())
    return Advice(
        "fork-per-epoch",
        "New workers are forked for each round of work"
        + (", as a DataLoader of PyTorch does in each epoch." if torch else "."),
        f"{len(best)} rounds of {best[0]:,} forks, each started after all earlier workers had"
        f" ended; the {plural(case.count, 'fork')} took {calls} in the parent alone, and each"
        " worker starts without what the previous ones had opened and cached",
        "Give the DataLoader persistent_workers=True."
        if torch
        else "Keep the pool of workers from round to round (PyTorch's DataLoader:"
        " persistent_workers=True).",
        # All but the first round would save it.
        Range(calls.low - calls.low // len(best), calls.high - calls.high // len(best)),
        touched=calls,
        numbers={"rounds": len(best), "forks": best[0]},
    )


def rounds(children: pl.DataFrame) -> list[int]:
    """Count the children of each round: a round starts when all earlier children have ended.

    Parameters
    ----------
    children
        The children of one process, with `begin` and `child_end`, in order of time.
    """
    counts: list[int] = []
    last_end: int | None = None
    for begin, end in children.select("begin", "child_end").iter_rows():
        if begin is None:
            return []
        if last_end is not None and begin >= last_end:
            counts.append(0)
        if not counts:
            counts.append(0)
        counts[-1] += 1
        if end is None:
            # It may live forever: rounds after it cannot be recognized.
            return counts
        last_end = end if last_end is None else max(last_end, end)
    return counts


def _regular(workers: list[int]) -> bool:
    """Say whether the rounds are of one size; the last may be cut off."""
    return len(set(workers[:-1])) == 1 and workers[-1] <= workers[0] if workers else False
