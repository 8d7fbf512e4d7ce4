"""The tables of a single log, and what rules ask about it."""

from collections.abc import Collection
from functools import cached_property
from operator import attrgetter, methodcaller
from typing import Final

import polars as pl

from tracefast import _core
from tracefast.analysis.decoded_fields import decoded
from tracefast.analysis.forks.advice.case import STOP_NS, Advice, Case
from tracefast.analysis.insights.finding import Severity, Weight
from tracefast.analysis.insights.lines import MOST
from tracefast.analysis.insights.tables import QUESTION, Choice, Tables
from tracefast.analysis.insights.weights import weight
from tracefast.quantities import Range

READS: Final = frozenset(_core.syscalls_that("reads"))
WRITES: Final = frozenset(_core.syscalls_that("writes"))
# Reads, and what the kernel reads for a copy: sendfile, splice, copy_file_range.
FETCHES: Final = READS | frozenset(_core.syscalls_that("transfers"))
OPENS: Final = frozenset(_core.syscalls_that("opens")) - {"memfd_create", "mq_open"}
LOOKS: Final = frozenset(_core.syscalls_that("looks"))
SEEKS: Final = frozenset(_core.syscalls_that("seeks"))
LISTS: Final = frozenset(_core.syscalls_that("lists"))
SYNCS: Final = frozenset(_core.syscalls_that("syncs"))
CLOSES: Final = frozenset(_core.syscalls_that("closes"))
# Calls whose distance is measured: more take longer, and say the same.
_SAMPLE: Final = 100_000
_FAULTS: Final = ("page_fault_user", "page_fault_kernel")
# The two lowest bits: the page is there, and this is a write (asm/trap_pf.h).
_PROTECTED: Final = r"error_code=(0x)?[0-9a-f]*[37bf]\b"
# The tables of which a log has its own rows.
_KINDS, _FILES, _CALLS, _ERRORS, _PAGE_CACHE, _DEVICE_READS, _KERNEL_TIMES = (
    attrgetter(name)
    for name in ("kinds", "files", "calls", "errors", "page_cache", "device_reads", "kernel_times")
)
_SYSCALLS, _WAITS, _FORKS = (methodcaller("table", name) for name in ("syscalls", "waits", "forks"))


class Log:
    """One log.

    Parameters
    ----------
    tables
        The tables of all logs.
    source
        Which log.
    """

    def __init__(self, tables: Tables, source: str) -> None:
        self.tables: Final = tables
        self.source: Final = source

    def _own(self, table: Choice) -> pl.DataFrame:
        return self.tables.of_log(table, self.source)

    def chosen(self, choose: Choice) -> pl.DataFrame:
        """Give its rows of what a rule chooses of the tables of all logs, which it does once."""
        return self.tables.of_log(choose, self.source, keep=False)

    @cached_property
    def kinds(self) -> pl.DataFrame:
        """Its rows by kind."""
        return self._own(_KINDS)

    @cached_property
    def syscalls(self) -> pl.DataFrame:
        """Its rows of `tracefast.syscalls`."""
        return self._own(_SYSCALLS)

    @cached_property
    def files(self) -> pl.DataFrame:
        """Its rows of `tracefast.files`, each with its role."""
        return self._own(_FILES)

    @cached_property
    def calls(self) -> pl.DataFrame:
        """Its calls by name and file."""
        return self._own(_CALLS)

    @cached_property
    def errors(self) -> pl.DataFrame:
        """Its rows of `tracefast.errors`."""
        return self._own(_ERRORS)

    @cached_property
    def page_cache(self) -> pl.DataFrame:
        """Its rows of `tracefast.page_cache`; of joined events the same by reads; else none."""
        if "event" in self.kinds["kind"]:
            return self._own(_PAGE_CACHE)
        return pl.DataFrame() if self.kernel_times.is_empty() else self._own(_DEVICE_READS)

    @cached_property
    def kernel_times(self) -> pl.DataFrame:
        """The times of its calls by name without strace, if they were joined with ftrace's log."""
        times = self.tables.kernel_times
        return times if times.is_empty() else self._own(_KERNEL_TIMES)

    @property
    def events(self) -> pl.LazyFrame:
        """Its events."""
        return self.tables.events_of(self.source)

    @cached_property
    def lost_notes(self) -> pl.DataFrame:
        """Where the log says that events were lost: in which line, and how many, if it says so."""
        return (
            self.events.filter(pl.col("kind").cast(pl.String) == "lost")
            .select("line", pl.col("ret").alias("events"))
            .collect(engine="streaming")
        )

    def lines_of_fetches(self, files: pl.DataFrame) -> list[int]:
        """Give the first lines in which pages of the first of some files are fetched."""
        if "ino" not in files.columns:
            # Joined with the log of another tracer: the row of a call says what it fetched.
            return self.lines_where(pl.col("file") == files["file"][0], pl.col("missed_pages") > 0)
        dev, ino = files.select("dev", "ino").row(0)
        added = decoded(
            self.events,
            ["mm_filemap_add_to_page_cache"],
            record={"line": pl.UInt64},
            fields={"dev": pl.String, "ino": pl.UInt64},
            question=QUESTION,
        ).filter(pl.col("dev") == dev, pl.col("ino") == ino)
        return added.head(MOST).collect()["line"].drop_nulls().to_list()

    def lines_of_copies(self, tasks: pl.Series) -> list[int]:
        """Give the first lines in which some tasks copy a page, as they write to it."""
        name, args = (pl.col(each).cast(pl.String) for each in ("name", "args"))
        return self.lines_where(
            name.is_in(_FAULTS),
            pl.col("task").is_in(tasks.to_list()),
            args.str.contains(_PROTECTED),
        )

    def lines_where(self, *conditions: pl.Expr) -> list[int]:
        """Give the lines of the first events that fulfil some conditions."""
        rows = self.events.filter(*conditions, pl.col("line").is_not_null())
        return rows.select("line").head(MOST).collect()["line"].to_list()

    def ends_of(self, task: int) -> list[int]:
        """Give the first and the last line of a task."""
        rows = self.events.filter(pl.col("task") == task)
        ends = rows.select(pl.col("line").min(), last=pl.col("line").max()).collect()
        return [line for line in ends.row(0) if line is not None]

    @cached_property
    def waits(self) -> pl.DataFrame:
        """Its rows of `tracefast.waits`, with details."""
        return self._own(_WAITS)

    @cached_property
    def forks(self) -> pl.DataFrame:
        """Its rows of `tracefast.forks`, with hints."""
        return self._own(_FORKS)

    @cached_property
    def fork_advice(self) -> list[tuple[Case, Advice]]:
        """What the rules of advice say about its started processes."""
        if self.forks.is_empty():
            return []
        return self.tables.fork_advice.get(self.source, [])

    @cached_property
    def wall_ns(self) -> int:
        """How long it is, from its first event to the end of the last call; 0 without times."""
        times = self.kinds.select((pl.col("last").max() - pl.col("first").min()).cast(pl.Int64))
        spans = self.syscalls["span_ns"].drop_nulls().top_k(1)
        return max(int(spans.sum()), int(times.item() or 0))

    @cached_property
    def from_strace(self) -> bool:
        """Whether strace made it, which stops tasks at each call: ftrace has a processor."""
        return not self.kinds["on_cpu"].any()

    @property
    def stop_ns(self) -> int:
        """What the tracer may take for each call; of joined events, what it did on average."""
        times = self.kernel_times
        if not times.is_empty():
            return int(times["tracer_ns"].sum()) // max(int(times["calls"].sum()), 1)
        return STOP_NS if self.from_strace else 0

    @cached_property
    def steps(self) -> pl.DataFrame:
        """The first calls: their lines, and the time since the one before of their task."""
        rows = (
            self.events.filter(pl.col("kind").cast(pl.String) == "syscall")
            .select("line", "task", pl.col("ts").cast(pl.Int64))
            .drop_nulls(["task", "ts"])
            .head(_SAMPLE)
            .collect()
        )
        apart = pl.col("ts").diff().over("task").alias("step_ns")
        return rows.sort("task", "ts").select("line", apart).drop_nulls("step_ns")

    @property
    def line_ns(self) -> int:
        """What strace takes for a call at least: how soon the next one of a thread may follow.

        The tenth percentile, at the start of the log; further apart, there is the program's work.
        """
        return int(self.steps["step_ns"].quantile(0.1, "lower") or 0)

    @cached_property
    def file_bytes(self) -> int:
        """Bytes moved to and from files."""
        kept = self.files.filter(
            pl.col("type").is_in(["regular", "unknown", "block"]).fill_null(value=True)
        )
        return int(kept["read_bytes"].sum()) + int(kept["write_bytes"].sum())

    def time(self, total_ns: int, calls: int, names: Collection[str]) -> Range:
        """Give the part of the log's time that some calls took, at least and at most.

        Calls of several tasks overlap: as much as all calls of these names do on average, without
        those that wait for others, such as reads of pipes. Of joined events it is the time that the
        kernel took.

        Parameters
        ----------
        total_ns
            The sum of their durations.
        calls
            How many they are: the tracer may have taken `stop_ns` for each.
        names
            Their names.
        """
        rows = self.syscalls.filter(pl.col("name").is_in(list(names)))
        total, wall = int(rows["total_ns"].sum()), int(rows["wall_ns"].sum())
        total -= int(rows["wait_ns"].sum())
        apart = min(wall / total, 1.0) if total > 0 else 1.0
        times = self.kernel_times
        if not times.is_empty():
            own = times.filter(pl.col("name").is_in(list(names)))
            kernel = int(
                total_ns * apart * int(own["kernel_ns"].sum()) / max(int(own["dur_ns"].sum()), 1)
            )
            return Range(kernel, kernel)
        low = max(total_ns - calls * self.stop_ns, 0)
        return Range(int(low * apart), int(total_ns * apart))

    def spent(
        self, names: Collection[str], files: pl.Series | None = None
    ) -> tuple[int, int, Range]:
        """Count calls by their names: how many, how many failed, and their time.

        Parameters
        ----------
        names
            Names of the calls.
        files
            Identities of files that they are on; None for all.
        """
        rows = self.calls.filter(pl.col("name").is_in(list(names)))
        if files is not None:
            rows = rows.join(files.to_frame("file"), on="file", how="semi")
        calls, errors = int(rows["calls"].sum()), int(rows["errors"].sum())
        return calls, errors, self.time(int(rows["dur_ns"].sum()), calls, names)

    def weight(
        self, time: Range | None = None, data: int = 0, most: Severity = Severity.HIGH
    ) -> Weight | None:
        """Say how much something matters in this log; None if it is too little."""
        return weight(
            time=time, wall_ns=self.wall_ns, data=data, data_total=self.file_bytes, most=most
        )
