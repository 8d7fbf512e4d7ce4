"""What the tasks of a log did over time, in as many steps as a screen shows."""

from dataclasses import dataclass
from typing import Final

import polars as pl

from tracefast import _core
from tracefast._polars.given_events import Events, rows_of
from tracefast.analysis.overview.tables import Overview
from tracefast.quantities import plural

# Steps of time, and rows of tasks, of all charts.
STEPS: Final = 240
MOST_GROUPS: Final = 40
_NEEDED: Final = ("source", "kind", "task", "pid", "name", "bytes", "ts", "dur_ns")
_READS: Final = _core.syscalls_that("reads")
_WRITES: Final = _core.syscalls_that("writes")
# Parts of a power of two that latencies are told apart by: steps of 9 %.
_PARTS: Final = 8
_TASK: Final = ["source", "task"]
_BITS: Final = 63
_STEP: Final = pl.UInt8
_OTHERS: Final = "others"


@dataclass(frozen=True)
class Activity:
    """Calls by group of processes and step of time, and by size and duration."""

    starts: pl.DataFrame
    """The first moment of each log: `source`, `start`. Charts count from it."""
    step_ns: int
    """The length of a step."""
    groups: pl.DataFrame
    """The groups of processes: `group` (their number), `label`, `processes`."""
    members: pl.DataFrame
    """Which group each task is in: `source`, `task`, `pid`, `group`."""
    steps: pl.DataFrame
    """By `source`, `group`, `step` and `name`: `calls`, `bytes`, `ns`."""
    durations: pl.DataFrame
    """By `name` and `part` (eighths of a power of two of ns): `calls`."""
    sizes: pl.DataFrame
    """By `op` and `power` (of two; null for nothing): `calls`."""

    @property
    def span_s(self) -> float:
        """The length of the longest log."""
        return self.step_ns * STEPS / 1e9

    def seconds(self, rows: pl.DataFrame, *times: str) -> pl.DataFrame:
        """Replace times by seconds since the start of their log."""
        since = [
            (pl.col(time) - pl.col("start")).dt.total_nanoseconds().truediv(1e9).alias(time)
            for time in times
        ]
        return rows.join(self.starts, on="source", how="inner").with_columns(since).drop("start")


def activity_of(events: Events, found: Overview) -> Activity | None:
    """Count what the tasks did, in two passes over the events; None for a log without times.

    Parameters
    ----------
    events
        The events.
    found
        Their tables.
    """
    timed = found.table("tasks").filter(pl.col("first").is_not_null())
    spans = timed.group_by("source").agg(pl.col("first").min(), pl.col("last").max())
    longest = spans.select((pl.col("last") - pl.col("first")).max().dt.total_nanoseconds()).item()
    if not longest:
        return None
    starts = spans.select("source", start="first")
    # The last moment is in the last step.
    step_ns = longest // STEPS + 1
    rows = rows_of(events, _NEEDED, "tracefast.report").with_columns(
        pl.col("source", "kind").cast(pl.String)
    )
    pids = rows.group_by(_TASK).agg(pl.col("pid").drop_nulls().last()).collect(engine="streaming")
    groups, members = _grouped(pids, found.table("processes"))
    since = (pl.col("ts") - pl.col("start")).dt.total_nanoseconds()
    calls = (
        rows.filter(pl.col("kind") == "syscall", pl.col("name").is_not_null())
        .join(members.lazy().select(*_TASK, "group"), on=_TASK, how="inner")
        .join(starts.lazy(), on="source", how="inner")
        .with_columns(step=(since // step_ns).clip(0, STEPS - 1).cast(_STEP))
    )
    steps = (
        calls.group_by("source", "group", "step", "name")
        .agg(
            pl.len().cast(pl.Int64).alias("calls"),
            pl.col("bytes").sum(),
            pl.col("dur_ns").sum().alias("ns"),
        )
        .collect(engine="streaming")
    )
    durations, sizes = _measured(rows.filter(pl.col("kind") == "syscall"))
    # The same log gives the same page.
    steps = steps.sort("source", "group", "step", "name")
    return Activity(starts, step_ns, groups, members, steps, durations, sizes)


def _measured(calls: pl.LazyFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Count calls by how long they took, and by how much they moved."""
    power = (_BITS - pl.col("bytes").bitwise_leading_zeros()).cast(pl.Int16)
    moves = pl.col("name").is_in([*_READS, *_WRITES]) & (pl.col("bytes") >= 0)
    part = (pl.col("dur_ns").log(2) * _PARTS).floor().cast(pl.Int16)
    # One after the other, as each of them needs memory for what it reads.
    counts = (
        calls.group_by(
            "name",
            part=pl.when(pl.col("dur_ns") > 0).then(part),
            power=pl.when(moves & (pl.col("bytes") > 0)).then(power),
            moves=moves,
        )
        .agg(pl.len().cast(pl.Int64).alias("calls"))
        .collect(engine="streaming")
    )
    is_read = pl.col("name").is_in(_READS)
    op = pl.when(is_read).then(pl.lit("read")).otherwise(pl.lit("write"))
    total = pl.col("calls").sum()
    return (
        counts.drop_nulls("part").group_by("name", "part").agg(total),
        counts.filter("moves").group_by("power", op=op).agg(total),
    )


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


def spread(rows: pl.DataFrame, by: list[str], step_ns: int) -> pl.DataFrame:
    """Say how much of each step intervals cover: their sum in ns.

    Parameters
    ----------
    rows
        `begin` and `end`, in ns since the start of the log, and what to group by.
    by
        What to group by.
    step_ns
        The length of a step.

    Examples
    --------
    >>> one = pl.DataFrame({"who": ["a"], "begin": [5], "end": [25]})
    >>> spread(one, ["who"], 10).sort("step").rows()
    [('a', 0, 5), ('a', 1, 10), ('a', 2, 5)]
    """
    begin = pl.col("begin").clip(0, STEPS * step_ns - 1)
    end = pl.col("end").clip(begin, STEPS * step_ns - 1)
    cut = rows.select(*by, begin=begin, end=end).with_columns(
        first=pl.col("begin") // step_ns, last=pl.col("end") // step_ns
    )
    # Whole steps are counted by where they begin and end: as many rows as intervals.
    first = cut.select(
        *by,
        step="first",
        ns=pl.min_horizontal("end", (pl.col("first") + 1) * step_ns) - pl.col("begin"),
        whole=0,
    )
    several = cut.filter(pl.col("last") > pl.col("first"))
    last = several.select(*by, step="last", ns=pl.col("end") - pl.col("last") * step_ns, whole=-1)
    inner = several.select(*by, step=pl.col("first") + 1, ns=0, whole=1)
    changes = (
        pl.concat([first, last, inner], how="vertical_relaxed")
        .group_by(*by, "step")
        .agg(pl.col("ns", "whole").sum())
    )
    keys = changes.select(by).unique(maintain_order=True)
    grid = keys.join(pl.DataFrame({"step": range(STEPS)}, schema={"step": pl.Int64}), how="cross")
    filled = grid.join(changes, on=[*by, "step"], how="left", nulls_equal=True).fill_null(0)
    whole = pl.col("whole").cum_sum()
    summed = pl.col("ns") + whole.over(by) * step_ns
    return filled.with_columns(ns=summed).filter(pl.col("ns") > 0).select(*by, "step", "ns")
