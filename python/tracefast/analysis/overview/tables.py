"""The tables of an overview, made together: a log is parsed once for all of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import polars as pl

from tracefast import _core
from tracefast._polars.folds import Fold, fold_together, rows_of_fold
from tracefast._polars.given_events import Events
from tracefast.analysis.forks.evidence import ROWS
from tracefast.analysis.forks.summary import report
from tracefast.analysis.overview.lifetimes import Lifetimes
from tracefast.analysis.waits.table import MIN_NS, stuck_rows
from tracefast.quantities import plural

_FOLDS: Final[dict[str, Callable[[], Fold]]] = {
    "files": _core.Files,
    "waits": lambda: _core.Waits(min_ns=MIN_NS),
    "errors": Lifetimes,
    "forks": lambda: _core.Forks(hints=True),
    "syscalls": lambda: _core.Syscalls(span=True),
}


class Finding(NamedTuple):
    """Something worth a change, or a closer look."""

    code: str
    """Its name, as of the advice of `tracefast.fork_advice`, or a verdict of waits."""
    title: str
    """What was found."""
    command: str
    """The command that shows more of it."""


@dataclass(frozen=True)
class Overview:
    """The tables of some events, and what the log lacks."""

    tables: dict[str, pl.DataFrame]
    gaps: list[str]

    def table(self, name: str) -> pl.DataFrame:
        """Give a table, by the name of its function."""
        return self.tables[name]


def overview(events: Events) -> Overview:
    """Make the tables of an overview in one pass over the events.

    Parameters
    ----------
    events
        The events of logs or of Parquet files, in their order.

    Raises
    ------
    polars.exceptions.ColumnNotFoundError
        The events lack a column that is needed.

    Examples
    --------
    >>> import tracefast as tf
    >>> overview(tf.scan("demo.strace")).table("processes")["pid"].to_list()
    [100, 101]
    """
    passing = fold_together(events, list(_FOLDS.values()), question="tracefast LOG")
    while True:
        try:
            next(passing)
        except StopIteration as end:
            folds: Sequence[Fold] = end.value
            break
    gaps: list[str] = []
    tables = {}
    for name, fold in zip(_FOLDS, folds, strict=True):
        if isinstance(fold, _core.Waits):
            gaps = fold.gaps
        tables[name] = rows_of_fold(fold)
        if isinstance(fold, Lifetimes):
            tables |= {"processes": fold.processes, "tasks": fold.tasks}
    return Overview(tables, gaps)


def findings(found: Overview) -> list[Finding]:
    """Say what is worth a change: who hangs, then what starting processes costs, the most first."""
    listed = []
    stuck = stuck_rows(found.table("waits").lazy()).collect()
    for verdict, count in stuck.group_by("verdict", maintain_order=True).len().iter_rows():
        if verdict != "stalled":
            sure = "can never go on" if verdict == "deadlock" else "may never go on"
            listed.append(Finding(verdict, f"{plural(count, 'task')} {sure}", "waits"))
    rows = found.table("forks").sort("source", "ts", "line", nulls_last=True, maintain_order=True)
    said = [advice for case in report(rows.select(ROWS.names())).advice for advice in case]
    said.sort(key=lambda advice: -(advice.saving.low if advice.saving is not None else 0))
    first = {advice.code: advice for advice in reversed(said)}
    listed += [
        Finding(advice.code, advice.what, "forks")
        for advice in said
        if first[advice.code] is advice
    ]
    return listed
