"""What the tasks of a log did over time, in as many steps as a screen shows."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import polars as pl

from tracefast import _core
from tracefast._polars.direct_read import files_of
from tracefast._polars.folds import finished, fold_together, rows_of_fold
from tracefast._polars.given_events import Events
from tracefast.analysis.overview.tables import Overview
from tracefast.analysis.processes import only_mentioned
from tracefast.inputs.event_files import EventFiles
from tracefast.plot.bounds import BINS, nanoseconds
from tracefast.plot.histograms import from_bits
from tracefast.quantities import plural

# Shorter parts of a log are less than a pixel of its charts.
_SHOWN: Final = 1000
# Steps of time, and rows of tasks, of all charts.
STEPS: Final = BINS
# The counts, among the tables of an overview.
TABLE: Final = "activity"
MOST_GROUPS: Final = 40
_TASK: Final = ["source", "task"]
_STEP: Final = pl.UInt8
_OTHERS: Final = "others"


@dataclass(frozen=True)
class Activity:
    """Calls by group of processes and step of time, and by size and duration."""

    starts: pl.DataFrame
    """The first moment of each log: `source`, `start`. Charts count from it."""
    step_ns: int
    """The length of a step."""
    length_ns: int
    """The length of the longest log, from its first event to the end of its last one."""
    groups: pl.DataFrame
    """The groups of processes: `group` (their number), `label`, `processes`."""
    members: pl.DataFrame
    """Which group each task is in: `source`, `task`, `pid`, `group`."""
    done: pl.DataFrame
    """By `source`, `group` and `step`: `calls`, `ns`, the bytes `read` and `written`."""
    called: pl.DataFrame
    """By `source`, `name` and `step`: `calls`, `ns`."""
    starting: pl.DataFrame
    """By `source`, `group` and `name` of calls that start processes: `ns`."""
    durations: pl.DataFrame
    """Calls by `name` and `low_ns`, as `tracefast.plot.histograms.durations` counts them."""
    sizes: pl.DataFrame
    """Calls that read or write by `name` and `low_bytes`: `calls`, `bytes`."""

    @property
    def span_s(self) -> float:
        """The length of all steps, which charts show."""
        return self.step_ns * STEPS / 1e9

    def since_start(self, rows: pl.LazyFrame, *times: str) -> pl.LazyFrame:
        """Let times count from the start of their log, so that several logs fit into a chart."""
        since = [
            (pl.col(time) - pl.col("start")).dt.total_nanoseconds().cast(pl.Datetime("ns"))
            for time in times
        ]
        known = rows.with_columns(pl.col("source").cast(pl.String))
        return (
            known.join(self.starts.lazy(), on="source", how="inner", maintain_order="left")
            .with_columns(one.alias(time) for one, time in zip(since, times, strict=True))
            .drop("start")
        )


@dataclass(frozen=True)
class Steps:
    """The steps of time in which calls are counted."""

    starts: Mapping[str, int]
    """When the first step of each log begins."""
    step_ns: int
    """The length of a step."""

    def counts(self) -> _core.ActivityTally:
        """Count calls by task, name and step, by duration and by size."""
        return _core.ActivityTally(dict(self.starts), step_ns=self.step_ns, steps=STEPS)


def expected_steps(events: Events) -> Steps | None:
    """Give the steps of the Parquet of one log by its footer; None if that does not say.

    They are not those of `activity_of` if a call ends long after the last one began.
    """
    files = files_of(events)
    if len(files) != 1:
        return None
    logs = EventFiles().read(files[0], "parquet").logs
    if len(logs) != 1 or (times := _core.times(files[0])) is None:
        return None
    first, last = times
    if last < first:
        return None  # The file is damaged, which its rows show.
    return Steps({logs[0][0]: first}, _step(last - first))


def _step(longest_ns: int) -> int:
    # The last moment is in the last step.
    return longest_ns // STEPS + 1


def _in_charts(begun_ns: int, length_ns: int) -> int:
    """Give what of the length of a log charts show.

    What a last call takes counts if it is seen, as one of a thousand pixels: the footer of Parquet
    says when the last event began.
    """
    return begun_ns if length_ns - begun_ns <= begun_ns // _SHOWN else length_ns


def activity_of(events: Events, found: Overview, expected: Steps | None = None) -> Activity | None:
    """Count what the tasks did; None for a log without times.

    Parameters
    ----------
    events
        The events.
    found
        Their tables.
    expected
        The steps of the counts that are in the table `activity`, if it is there.
    """
    timed = found.table("tasks").filter(pl.col("first").is_not_null())
    spans = timed.group_by("source").agg(pl.col("first").min(), pl.col("begun", "last").max())
    begun_ns, length_ns = spans.select(
        (pl.col(last) - pl.col("first")).max().dt.total_nanoseconds() for last in ("begun", "last")
    ).row(0)
    if not length_ns:
        return None
    starts = spans.select("source", start="first")
    known = starts.drop_nulls("source").select("source", nanoseconds("start"))
    steps = Steps(dict(known.iter_rows()), step_ns := _step(_in_charts(begun_ns, length_ns)))
    counts = found.table(TABLE) if steps == expected else _counted(events, steps)
    counts = counts.rename({"read_bytes": "read", "write_bytes": "written"})
    counts = counts.cast({"step": _STEP, "calls": pl.Int64})
    processes = found.table("processes").filter(~only_mentioned())
    groups, members = _grouped(found.table("tasks").select(*_TASK, "pid"), processes)

    def counted(by: str, *columns: str) -> pl.DataFrame:
        """Give the rows that are counted in one way."""
        return counts.filter(pl.col("by") == by).select("source", *columns)

    def in_groups(rows: pl.DataFrame, *by: str) -> pl.DataFrame:
        """Add up tasks; the same log gives rows in the same order."""
        rows = rows.join(members.select(*_TASK, "group"), on=_TASK)
        return rows.drop("task").group_by("source", "group", *by).sum().sort("source", "group", *by)

    def powers(rows: pl.DataFrame, of: str) -> pl.DataFrame:
        """Add up logs, by the power of two of one number of calls."""
        low = from_bits(pl.col(f"{of}_bits")).alias(f"low_{of}")
        return rows.group_by("name", low).agg(pl.col("calls", of).sum())

    # What copies from one descriptor to another has its bytes twice.
    moved = counted("size", "name", "bytes_bits", "calls", "read", "written")
    moved = moved.with_columns(bytes=pl.max_horizontal("read", "written"))
    durations = powers(counted("duration", "name", "ns_bits", "calls", "ns"), "ns")
    return Activity(
        starts=starts,
        step_ns=step_ns,
        length_ns=length_ns,
        groups=groups,
        members=members,
        done=in_groups(counted("task", "task", "step", "calls", "ns", "read", "written"), "step"),
        called=counted("name", "name", "step", "calls", "ns"),
        starting=in_groups(counted("start", "task", "name", "ns"), "name"),
        durations=durations.rename({"ns": "total_ns"}),
        sizes=powers(moved, "bytes"),
    )


def _counted(events: Events, steps: Steps) -> pl.DataFrame:
    """Count in one more pass over the events."""
    (fold,) = finished(fold_together(events, [steps.counts], question="tracefast.report"))
    return rows_of_fold(fold)


def _grouped(pids: pl.DataFrame, processes: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Put tasks into groups: each process is one, or else those of one program and one parent's."""
    known = named(processes)
    if known.height > MOST_GROUPS:
        by = ["source", "parent", "program"]
        together = known.group_by(by, maintain_order=True).agg(
            pl.len().alias("processes"), pl.col("calls").sum(), pl.col("pid").first()
        )
        together = together.sort("calls", descending=True, maintain_order=True)
        labels = [_label(*row) for row in together.select("program", "processes", "pid").rows()]
        together = together.with_columns(pl.Series("label", labels, pl.String))
        known = known.join(
            _numbered(together).select(*by, "group"), on=by, how="left", nulls_equal=True
        )
        groups = _with_others(together)
    else:
        labels = [_label(program, 1, pid) for program, pid in known.select("program", "pid").rows()]
        known = _numbered(known.with_columns(pl.Series("label", labels, pl.String)))
        groups = known.select("group", "label", processes=pl.lit(1, pl.UInt32))
    # A task is of the last process that had its pid when it began: identities are in that order.
    of_pid = known.select("source", "pid", "task", "group").drop_nulls("pid").sort("task")
    members = pids.sort("task").join_asof(
        of_pid, on="task", by=["source", "pid"], strategy="backward", check_sortedness=False
    )
    return groups, members.drop_nulls("group")


def named(processes: pl.DataFrame) -> pl.DataFrame:
    """Add the `program` of each process, without its folders, and that of its `parent`."""
    name = pl.coalesce(pl.col("image").str.split("/").list.last(), "comm", pl.lit("?"))
    known = processes.with_columns(program=name)
    makers = known.select("source", parent_task="task", parent="program")
    return known.join(makers, on=["source", "parent_task"], how="left", maintain_order="left").sort(
        "ts_start", nulls_last=True, maintain_order=True
    )


def _label(program: str, count: int, pid: int | None) -> str:
    if count > 1:
        return f"{program} ({plural(count, 'process', 'processes')})"
    return program if pid is None else f"{program} {pid}"


def _numbered(groups: pl.DataFrame) -> pl.DataFrame:
    """Give numbers to the groups: the last one to all that are too many."""
    number = pl.int_range(pl.len()).clip(0, MOST_GROUPS - 1).cast(_STEP)
    return groups.with_columns(group=number)


def _with_others(groups: pl.DataFrame) -> pl.DataFrame:
    """Give each number its label."""
    return (
        _numbered(groups)
        .group_by("group", maintain_order=True)
        .agg(
            pl.when(pl.len() > 1)
            .then(pl.format("{} ({} processes)", pl.lit(_OTHERS), pl.col("processes").sum()))
            .otherwise(pl.col("label").first())
            .first()
            .alias("label"),
            pl.col("processes").sum(),
        )
    )
