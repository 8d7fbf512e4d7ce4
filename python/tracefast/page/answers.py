"""Everything that a report is made of, in as few passes over the events as possible."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import polars as pl

from tracefast._polars.given_events import Events, rows_of
from tracefast.analysis.blocks import blocks
from tracefast.analysis.events import events as event_counts
from tracefast.analysis.files.accesses import READS, WRITES
from tracefast.analysis.files.device_reads import with_device_reads
from tracefast.analysis.memory import memory
from tracefast.analysis.overview.tables import Overview, overview
from tracefast.analysis.processes import only_mentioned
from tracefast.analysis.waits.pairs import pairs
from tracefast.analysis.waits.table import stuck_rows
from tracefast.analysis.workers.batches import batches_of
from tracefast.analysis.workers.pools import pools_of
from tracefast.cli.screen.flow.gaps import gap_sentences
from tracefast.page.activity import TABLE, Activity, activity_of, expected_steps
from tracefast.plot.bounds import nanoseconds
from tracefast.plot.charts.offsets import runs_of
from tracefast.quantities import plural

# What has no offsets, and is no file for people.
_KERNEL_TIMES: Final = {"source": pl.String, "name": pl.String, "kernel_ns": pl.Int64}
_NO_FILES: Final = ("pipe", "fifo", "socket", "char", "anon", "directory")
_BLOCK: Final = "block_rq_"
_ACCESS: Final = (
    *("source", "file", "ofd", "task", "pid", "name"),
    *("access", "offset", "bytes", "ts", "dur_ns"),
)
_GAPS: Final = {
    "no-times": "It has no times: record with strace -ttt -T.",
    "no-durations": "It has no durations of calls: record with strace -T.",
    "few-durations": "It has the durations of few calls only: record with strace -T.",
    "no-children": "Other threads and children may be missing: record with strace -f.",
    "lost": "Events were lost: record with a larger buffer.",
    "attached": "It starts in mid-run, or not all calls were traced.",
    "filtered": "Not all calls were traced: record without -e.",
}
# Of a file with more of them, those of each step of time are one.
_MOST_ACCESSES: Final = 50_000


@dataclass(frozen=True)
class Answers:
    """The tables of some events."""

    events: pl.LazyFrame
    found: Overview
    activity: Activity | None
    inputs: Sequence[str]
    """The logs as the user named them, for commands."""

    def table(self, name: str) -> pl.DataFrame:
        """Give a table, by the name of its function."""
        return self.found.table(name)

    def command(self, name: str, *options: str) -> str:
        """Give the command that shows more, which can be copied."""
        return shlex.join(["tracefast", name, *self.inputs[:3], *options])

    @cached_property
    def is_ftrace(self) -> bool:
        """Whether events have a processor: those of ftrace do."""
        return bool(self.table("tasks")["with_cpu"].sum())

    @property
    def has_events(self) -> bool:
        """Whether the log is about anything."""
        return bool(self.table("tasks")["events"].sum())

    @cached_property
    def tracer(self) -> str:
        """What recorded the log."""
        if not self.has_events:
            return "not known"
        if self.is_ftrace:
            return "ftrace"
        return "strace" if self.kernel_times.is_empty() else "strace and ftrace, joined"

    @cached_property
    def lacks(self) -> list[str]:
        """What the log cannot tell, in sentences."""
        if not self.has_events:
            return ["It has no events."]
        lacks = [_GAPS[gap] for gap in self.found.gaps if gap in _GAPS]
        if unparsed := int(self.table("tasks")["unparsed"].sum()):
            lacks.append(
                f"{plural(unparsed, 'line')} not understood: tracefast parse --explain shows them."
            )
        said = (f"{text[:1].upper()}{text[1:]}." for text in self.found.quality)
        return [*lacks, *gap_sentences(self.found.flow_gaps), *said]

    @cached_property
    def others(self) -> pl.DataFrame:
        """Tasks of the machine that the log only mentions: no panel is about them."""
        return self.table("processes").filter(only_mentioned())

    def own(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Leave out rows of `others`, by their `source` and `task`."""
        return rows.join(self.others, on=["source", "task"], how="anti", maintain_order="left")

    @cached_property
    def stuck(self) -> pl.DataFrame:
        """Who can never go on."""
        return stuck_rows(self.table("waits").lazy()).collect()

    @cached_property
    def pairs(self) -> pl.DataFrame:
        """Who waited for whom."""
        return pairs(self.table("waits").lazy()).collect()

    @cached_property
    def pools(self) -> pl.DataFrame:
        """Pools of workers."""
        return pools_of(self.table("workers").lazy()).collect()

    @cached_property
    def batches(self) -> pl.DataFrame:
        """What the makers of workers got from them."""
        return batches_of(self.table("workers").lazy()).collect()

    @cached_property
    def used_files(self) -> pl.DataFrame:
        """The files that were read or written, those with the most bytes first."""
        moved = pl.col("read_bytes") + pl.col("write_bytes")
        files = with_device_reads(self.table("files").lazy(), self.events, None).collect()
        return files.filter(
            pl.col("path").is_not_null(),
            ~pl.col("type").is_in(_NO_FILES).fill_null(value=False),
            pl.sum_horizontal("reads", "writes", "mmaps") > 0,
        ).sort(moved, "path", descending=[True, False])

    @cached_property
    def kernel_times(self) -> pl.DataFrame:
        """Time that the kernel spent in calls, by log and name; no rows unless logs were joined."""
        asked = self.found.asked
        if asked is None or asked.kernel_times.is_empty():
            return pl.DataFrame(schema=_KERNEL_TIMES)
        return asked.kernel_times.select(list(_KERNEL_TIMES))

    @cached_property
    def counts(self) -> pl.DataFrame:
        """The events of ftrace by name; of strace none."""
        if not self.is_ftrace:
            return pl.DataFrame(schema={"source": pl.String, "kind": pl.String, "name": pl.String})
        return event_counts(self.events).collect()

    @cached_property
    def page_cache(self) -> pl.DataFrame | None:
        """What the page cache did; None where nothing of it is in the log."""
        asked = self.found.asked
        if asked is None or not self._has("mm_filemap"):
            return None
        return asked.page_cache

    @cached_property
    def blocks(self) -> pl.DataFrame | None:
        """What reached the block devices; None where nothing of it is in the log."""
        return blocks(self.events).collect() if self._has(_BLOCK) else None

    @cached_property
    def memory(self) -> pl.DataFrame | None:
        """Memory of processes at the end of each step, in bytes; None if it is not in the log."""
        if self.activity is None or not self._has("rss_stat"):
            return None
        step = nanoseconds("ts") // self.activity.step_ns
        return (
            self.activity.since_start(memory(self.events), "ts")
            .group_by("source", "task", step=step)
            .agg(pl.all().last())
            .drop("step")
            .collect(engine="streaming")
            .sort("source", "ts", "task")
        )

    def runs(self, files: pl.DataFrame) -> pl.DataFrame:
        """Give the accesses to files, those that follow each other merged.

        Parameters
        ----------
        files
            The files: rows of `tracefast.files`.
        """
        if self.activity is None:
            return pl.DataFrame()
        name = pl.col("name").cast(pl.String)
        rows = (
            rows_of(self.events, _ACCESS, "tracefast.report")
            .filter(
                pl.col("file").is_in(files["file"].drop_nulls().to_list()),
                name.is_in([*READS, *WRITES]),
            )
            .with_columns(
                way=pl.when(name.is_in(READS)).then(pl.lit("read")).otherwise(pl.lit("write"))
            )
        )
        most = files.select((pl.col("reads") + pl.col("writes")).max()).item() or 0
        step_ns = self.activity.step_ns if most > _MOST_ACCESSES else None
        return runs_of(self.activity.since_start(rows, "ts"), step_ns=step_ns)

    def _has(self, start: str) -> bool:
        """Whether there are events whose name begins like this."""
        return bool(self.counts["name"].str.starts_with(start).any())


def answers_to(events: Events, inputs: Sequence[str] | None = None) -> Answers:
    """Make the tables of a report.

    Parameters
    ----------
    events
        The events of logs or of Parquet files, in their order.
    inputs
        The logs as the user named them; None for the names that the events have.

    Raises
    ------
    polars.exceptions.ColumnNotFoundError
        The events lack a column that is needed.
    """
    expected = expected_steps(events)
    also = None if expected is None else {TABLE: expected.counts}
    found = overview(events, flow=True, also=also)
    names = found.table("tasks")["source"].drop_nulls().unique(maintain_order=True).to_list()
    rows = rows_of(events, (), "tracefast.report")
    return Answers(rows, found, activity_of(events, found, expected), list(inputs or names))
