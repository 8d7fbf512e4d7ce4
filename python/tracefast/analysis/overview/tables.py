"""The tables of an overview, made together: a log is parsed once for all of them."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import polars as pl

from tracefast import _core
from tracefast._polars.direct_read import reports_of
from tracefast._polars.folds import Fold, finished, fold_together, rows_of_fold
from tracefast._polars.given_events import Events
from tracefast._polars.source_threads import cores
from tracefast.analysis.durations import LEAST_TIMED, timed_calls
from tracefast.analysis.errors.frame import error_frame
from tracefast.analysis.forks.evidence import ROWS
from tracefast.analysis.forks.summary import report
from tracefast.analysis.insights.folds import FOLDS
from tracefast.analysis.overview.folds import SCREEN
from tracefast.analysis.overview.quality import quality
from tracefast.analysis.waits.table import stuck_rows
from tracefast.quantities import plural

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tracefast.analysis.insights.tables import Tables

_INSIGHTS: Final = "insights"
_ERRORS: Final = "errors"
_WAITS: Final = "waits"
_ROLES: Final = "roles"
_FORKS: Final = "forks"


class Finding(NamedTuple):
    """Something worth a change, or a closer look."""

    code: str
    """Its name: that of a rule of `tracefast.insights`, or a verdict of waits."""
    title: str
    """What was found."""
    command: str
    """The command that shows more of it."""
    object: str | None = None
    """The path, the call or what else it is about, of several one."""
    source: str | None = None
    """The log, if it is of one."""

    @property
    def hangs(self) -> bool:
        """Whether something never goes on."""
        return self.command == _WAITS


@dataclass(frozen=True)
class Overview:
    """The tables of some events, and what the log lacks."""

    tables: dict[str, pl.DataFrame]
    gaps: list[str]
    asked: "Tables | None" = None
    """What the rules of insights asked, if they were made."""
    flow_gaps: tuple[str, ...] = ()
    """What the log lacks for `tracefast.flow`, if that was made."""
    quality: tuple[str, ...] = ()
    """What reading the log showed that the tables do not, in words."""
    advice: tuple[Finding, ...] = ()
    """What starting processes costs, if insights were not made."""

    def table(self, name: str) -> pl.DataFrame:
        """Give a table, by the name of its function."""
        return self.tables[name]


def overview(
    events: Events,
    *,
    insights: bool = True,
    flow: bool = False,
    also: "Mapping[str, Callable[[], Fold]] | None" = None,
) -> Overview:
    """Make the tables of an overview in one pass over the events.

    Parameters
    ----------
    events
        The events of logs or of Parquet files, in their order.
    insights
        Make `tracefast.insights`, too. Its rules need further passes over the events, which take
        long if these are parsed each time. Without, `files` and `syscalls` have no medians, no
        percentiles, and no times in which calls overlapped: these columns are null.
    flow
        Make `tracefast.flow`, too.
    also
        Make the tables of these folds, too, under their names.

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
    # Insights ask for more of some tables, and for others.
    folds_of: dict[str, Callable[[], Fold]] = {**SCREEN, **(FOLDS if insights else {})}
    if flow:
        # Its pass gives the roles of files, too.
        folds_of[_ROLES] = _core.Flow
    folds_of |= also or {}
    passing = fold_together(events, list(folds_of.values()), question="tracefast LOG")
    folds = finished(passing)
    said = quality(reports_of(events))
    gaps = [gap for fold in folds if isinstance(fold, _core.Waits) for gap in fold.gaps]
    flows = [fold for fold in folds if isinstance(fold, _core.Flow)]
    flow_gaps = [gap for fold in flows for gap in fold.gaps]
    asked = None
    with ThreadPoolExecutor(min(len(folds), cores()), thread_name_prefix="tracefast-fold") as pool:
        # Of a fold of the flow, the roles are taken first. The rest takes longest, and no rule
        # needs it: it is made meanwhile.
        roles = [pool.submit(fold.roles) for fold in flows]
        made = dict(zip(folds_of, folds, strict=True))
        # That of the forks takes longest, and the advice needs it.
        others = {
            name: pool.submit(_error_rows if name == _ERRORS else rows_of_fold, made[name])
            for name in sorted(made, key=lambda name: name != _FORKS)
            if made[name] not in flows
        }
        parts = [part for one in roles for part in one.result()]
        flowed = [pool.submit(rows_of_fold, fold) for fold in flows]
        advice = [] if insights else _advice(others[_FORKS].result())
        tables = {name: others[name].result() for name in made if name in others}
        if flow:
            tables[_ROLES] = pl.concat(map(pl.DataFrame, parts))
        tables["tasks"] = _by_task(tally := tables["tasks"])
        if insights:
            # The rules take long to import.
            from tracefast.analysis.insights.registry import RULES
            from tracefast.analysis.insights.table import found_by
            from tracefast.analysis.insights.tables import Tables

            asked = Tables(events, FOLDS)
            for name in FOLDS:
                asked.take(name, tally if name == "tasks" else tables[name])
            for rows in found_by(RULES, asked):
                if rows is not None:
                    tables[_INSIGHTS] = rows
        for one in flowed:
            tables["flow"] = one.result()
    if "no-durations" not in gaps and _has_few_durations(tables["syscalls"]):
        gaps.append("few-durations")
    return Overview(tables, gaps, asked, tuple(flow_gaps), tuple(said), tuple(advice))


def _has_few_durations(calls: pl.DataFrame) -> bool:
    """Say whether the log has too few durations to add them up."""
    counts = calls.select("name", "calls", "unfinished", "timed")
    timed, all_calls = timed_calls(counts.iter_rows())
    return timed < all_calls * LEAST_TIMED


def _error_rows(fold: Fold) -> pl.DataFrame:
    return error_frame(rows_of_fold(fold))


def _by_task(tally: pl.DataFrame) -> pl.DataFrame:
    """Add up the rows of each task: its process, its events, its first and its last moment.

    `begun` is when the last of its events began, which may be a call.
    """
    kinds = {"calls": "syscall", "unparsed": "unparsed"}
    return tally.group_by("source", "task", maintain_order=True).agg(
        pl.col("pid").drop_nulls().last(),
        pl.col("rows").sum().alias("events"),
        *(
            pl.col("rows").filter(pl.col("kind") == kind).sum().alias(name)
            for name, kind in kinds.items()
        ),
        pl.col("with_cpu").sum(),
        pl.col("first").min(),
        pl.col("last").max().alias("begun"),
        pl.col("end").max().alias("last"),
    )


def findings(found: Overview) -> list[Finding]:
    """Say what is worth a change, the most severe first.

    Where insights were not made, these are who hangs, and what starting processes costs.
    """
    if (rows := found.tables.get(_INSIGHTS)) is not None:
        from tracefast.analysis.insights.table import by_severity
        from tracefast.analysis.insights.waits import DEADLOCK, LOCK_AT_FORK

        # Rules about what never goes on, of which `waits` shows more.
        hangs = (DEADLOCK.code, LOCK_AT_FORK.code)
        named = (
            by_severity(rows)
            .select("code", "title", "object", pl.col("source").cast(pl.String))
            .iter_rows()
        )
        return [
            Finding(code, title, _WAITS if code in hangs else _INSIGHTS, about, log)
            for code, title, about, log in named
        ]
    listed = []
    stuck = stuck_rows(found.table("waits").lazy()).collect()
    for verdict, count in stuck.group_by("verdict", maintain_order=True).len().iter_rows():
        if verdict != "stalled":
            sure = "can never go on" if verdict == "deadlock" else "may never go on"
            listed.append(Finding(verdict, f"{plural(count, 'task')} {sure}", _WAITS))
    return [*listed, *found.advice]


def _advice(forks: pl.DataFrame) -> list[Finding]:
    """Say what starting processes costs, each piece of advice once, the most saving first."""
    # They are in the order of `fork_rows`, as the fold gives them.
    said = [advice for case in report(forks.select(ROWS.names())).advice for advice in case]
    said.sort(key=lambda advice: -(advice.saving.low if advice.saving is not None else 0))
    first = {advice.code: advice for advice in reversed(said)}
    return [
        Finding(advice.code, advice.what, _FORKS) for advice in said if first[advice.code] is advice
    ]
