"""New workers are forked for each round of work."""

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

import polars as pl

from tracefast.analysis.forks.advice.case import Advice, Case
from tracefast.quantities import Range, plural

LEAST_ROUNDS: Final = 3
# Of a program of PyTorch.
LEAST_EPOCHS: Final = 2
LEAST_WORKERS: Final = 2


def fork_per_epoch(case: Case) -> Advice | None:
    """Find processes of Python that fork as many workers again when all of a pool have ended."""
    if case.text("kind") != "fork" or case.text("image") is not None or not case.runs_python:
        return None
    best: list[int] = []
    children = case.columns("source", "pid", "errno", "begin", "child_end")
    for parent in children.filter(pl.col("errno").is_null()).partition_by("source", "pid"):
        workers = rounds(parent)
        if len(workers) > len(best) and min(workers) >= LEAST_WORKERS:
            best = workers
    torch = bool(case.column("parent_torch").fill_null(value=False).any())
    if len(best) < (LEAST_EPOCHS if torch else LEAST_ROUNDS):
        return None
    calls = case.less_tracer_beside(case.number("call_sum_ns"))
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


@dataclass
class _Round:
    """Children that were started before all earlier ones had ended."""

    begins: list[int] = field(default_factory=list)
    first_end: int | None = None

    @property
    def together(self) -> bool:
        """Whether all of them were alive at one moment."""
        return self.first_end is None or self.begins[-1] < self.first_end

    @property
    def widest(self) -> int:
        """The longest time between two starts."""
        return max((b - a for a, b in pairwise(self.begins)), default=0)


def rounds(children: pl.DataFrame) -> list[int]:
    """Count the children of each round, if these are rounds of a pool of workers.

    A round starts when all earlier children have ended. Children of a loop may by chance all have
    ended, too. Those of a pool are alive together and as many in each round, but for the last one,
    which the log may cut off; and they start sooner after each other than the next round does.

    Parameters
    ----------
    children
        The children of one process, with `begin` and `child_end`, in order of time.

    Returns
    -------
    list of int
        Empty if they are no such rounds.
    """
    found = _rounds(children)
    counts = [len(each.begins) for each in found]
    if not found or len(set(counts[:-1])) > 1 or counts[-1] > counts[0]:
        return []
    apart = all(b.begins[0] - a.begins[-1] > a.widest for a, b in pairwise(found))
    return counts if apart and all(each.together for each in found) else []


def _rounds(children: pl.DataFrame) -> list[_Round]:
    found: list[_Round] = []
    last_end: int | None = None
    for begin, end in children.select("begin", "child_end").iter_rows():
        if begin is None:
            return []
        if not found or (last_end is not None and begin >= last_end):
            found.append(_Round())
        now = found[-1]
        now.begins.append(begin)
        if end is None:
            # It may live forever: rounds after it cannot be recognized.
            return found
        now.first_end = end if now.first_end is None else min(now.first_end, end)
        last_end = end if last_end is None else max(last_end, end)
    return found
