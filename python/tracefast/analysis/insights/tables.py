"""The tables that rules ask, each made once for all rules."""

from collections.abc import Callable, Collection, Generator
from functools import cached_property
from typing import Final, TypeAlias

import polars as pl

from tracefast import _core
from tracefast._polars.folds import fold_together, rows_of_folds
from tracefast._polars.given_events import Events, rows_of
from tracefast.analysis.decoded_fields import Dtypes, decoded
from tracefast.analysis.errors.table import errors
from tracefast.analysis.files.device_reads import device_reads
from tracefast.analysis.files.page_cache import page_cache
from tracefast.analysis.forks.advice.case import Advice, Case
from tracefast.analysis.forks.evidence import ROWS
from tracefast.analysis.forks.kernel_times import with_kernel_times
from tracefast.analysis.forks.summary import Report, report
from tracefast.analysis.insights.folds import FOLDS
from tracefast.analysis.kernel_times import calls_of, has_columns
from tracefast.scanning.folds_ahead import FoldsAhead

QUESTION: Final = "tracefast.insights"
# What the log of these is like is asked of every log.
ALWAYS: Final = frozenset({"syscalls", "tasks", "calls", "polls"})
_NOTHING_REFUSED: Final = pl.Schema(
    {"source": pl.String, "file": pl.UInt64, "calls": pl.Int64, "path": pl.String}
)
_LOOKED_UP: Final[Dtypes] = {
    "dev": pl.String,
    "ino": pl.UInt64,
    **dict.fromkeys(("ofs", "ofs_end", "index", "last_index"), pl.Int64),
}
_PAGE: Final = 4096
# The events of small logs are kept in memory: to parse them again takes longer than any question.
_KEPT_ROWS: Final = 50_000
# Roles of files that a program does not read itself.
OF_SYSTEM: Final = ("program", "library", "configuration")
# What is no file on a disk.
_KERNEL: Final = ("/proc/", "/sys/", "/dev/")
_COLUMNS: Final = (
    *("source", "kind", "task", "name", "file", "errno", "ret", "bytes", "ts", "dur_ns"),
    *("line", "path", "access", "args", "cpu", "tid"),
)


Choice: TypeAlias = "Callable[[Tables], pl.DataFrame]"


class Tables:
    """The tables of some events.

    Parameters
    ----------
    events
        The events.
    wanted
        Names of those of `FOLDS` that are needed.
    ahead
        Makes all of `FOLDS` of these events, and has started.
    """

    def __init__(
        self, events: Events, wanted: Collection[str], ahead: FoldsAhead | None = None
    ) -> None:
        # As given: folds read whole files directly.
        self._given = events
        self._rows = rows_of(events, _COLUMNS, QUESTION)
        self._ahead = ahead
        self._wanted = [name for name in FOLDS if name in {*wanted, *ALWAYS}]
        self._folded: dict[str, pl.DataFrame] = {}
        self._by_log: dict[Choice, dict[object, pl.DataFrame]] = {}
        self._of_rule: dict[Choice, dict[object, pl.DataFrame]] = {}

    def read(self) -> Generator[None, None, None]:
        """Make the tables that need a pass over all events, in one pass.

        Yields
        ------
        None
            From time to time, so that the caller can stop it.
        """
        if self._ahead is not None:
            yield from self._ahead.wait()
            made = self._ahead.take()
            if made is not None:
                self._folded |= zip(made, rows_of_folds(list(made.values())), strict=True)
                return
        makers = [FOLDS[name] for name in self._wanted]
        folds = yield from fold_together(self._given, makers, question=QUESTION)
        self._folded |= zip(self._wanted, rows_of_folds(folds), strict=True)

    def take(self, name: str, rows: pl.DataFrame) -> None:
        """Take one of `FOLDS` that somebody else has made."""
        self._folded[name] = rows

    def table(self, name: str) -> pl.DataFrame:
        """Give one of `FOLDS`; without rows if no rule that was chosen needs it."""
        if name in self._folded:
            return self._folded[name]
        return pl.Schema(FOLDS[name]().schema).to_frame()

    def of_log(self, table: Choice, source: str, *, keep: bool = True) -> pl.DataFrame:
        """Give the rows of one log; the table is made and divided once for all logs.

        Parameters
        ----------
        table
            Gives the table, or what is chosen of it, with the column `source`.
        source
            The log.
        keep
            Keep it for other rules, after `next_rule`.
        """
        known = self._by_log if keep else self._of_rule
        if table not in known:
            rows = table(self)
            known[table] = _divided(rows) | {None: rows.clear()}
        return known[table].get(source, known[table][None])

    def next_rule(self) -> None:
        """Forget what was chosen for one rule."""
        self._of_rule.clear()

    @cached_property
    def _kept_events(self) -> pl.DataFrame | None:
        """All events, if they are few."""
        rows = self.table("tasks")["rows"].sum()
        # No rule asks for the text of results. If all columns were read, polars would ask for the
        # schema, and import pyarrow for it where that is installed.
        kept = self._rows.select(pl.all().exclude("result"))
        return _collected(kept) if rows <= _KEPT_ROWS else None

    @property
    def are_kept(self) -> bool:
        """Whether all events are kept in memory."""
        return self._kept_events is not None

    @property
    def events(self) -> pl.LazyFrame:
        """The events."""
        return self._rows if self._kept_events is None else self._kept_events.lazy()

    def events_of(self, source: str) -> pl.LazyFrame:
        """Give the events of one log."""
        if self._kept_events is None:
            return self._rows.filter(_words("source") == source)
        return self.of_log(_kept_events, source).lazy()

    @cached_property
    def files(self) -> pl.DataFrame:
        """The rows of `tracefast.files`, each with its role."""
        roles = self.table("roles").select("source", "path", "role", "removed")
        return self.table("files").join(
            roles.unique(["source", "path"]),
            on=["source", "path"],
            how="left",
            maintain_order="left",
        )

    @cached_property
    def read_files(self) -> pl.DataFrame:
        """Files that hold data or modules: what programs read themselves."""
        path = pl.col("path").fill_null("")
        made_up = pl.any_horizontal(path.str.starts_with(folder) for folder in _KERNEL)
        return self.files.filter(
            pl.col("file").is_not_null(),
            pl.col("type").is_in(["regular", "unknown"]).fill_null(value=True),
            ~pl.col("role").is_in(OF_SYSTEM).fill_null(value=False),
            ~made_up,
        )

    @cached_property
    def data_files(self) -> pl.DataFrame:
        """Files that hold data: no code, no configuration, nothing that the kernel makes up."""
        return self.read_files.filter(pl.col("role").ne_missing("module"))

    @cached_property
    def forks(self) -> Report:
        """The groups of started processes, and what the rules of advice say about them."""
        forks = with_kernel_times(self.table("forks").lazy(), self.events, QUESTION)
        rows = forks.sort("source", "ts", "line", nulls_last=True).collect()
        return report(rows.select(ROWS.names()))

    @cached_property
    def fork_advice(self) -> dict[str, list[tuple[Case, Advice]]]:
        """What these rules say, by log."""
        said: dict[str, list[tuple[Case, Advice]]] = {}
        for case, advice in zip(self.forks.cases, self.forks.advice, strict=True):
            if (source := case.text("source")) is not None:
                said.setdefault(source, []).extend((case, each) for each in advice)
        return said

    @cached_property
    def calls(self) -> pl.DataFrame:
        """Calls by `source`, `name` and `file`, with their time, bytes, errors, first line."""
        return self.table("calls").cast({"calls": pl.Int64, "errors": pl.Int64})

    @cached_property
    def errors(self) -> pl.DataFrame:
        """The rows of `tracefast.errors`: of use where many calls fail, so it is made then only."""
        return errors(self._given).collect()

    @cached_property
    def polls(self) -> pl.DataFrame:
        """Threads that ask and get nothing: how often, of how many calls, when, by which call."""
        calls = self.table("tasks").filter(pl.col("kind") == "syscall")
        return (
            self.table("polls")
            .join(calls.select("source", "task", calls="rows"), on=["source", "task"])
            .cast({"polls": pl.Int64, "calls": pl.Int64})
        )

    @cached_property
    def kinds(self) -> pl.DataFrame:
        """Rows by `source` and `kind`: whether they have processor and thread ids, their times."""
        sums = pl.col("rows", "timed").sum().cast(pl.Int64)
        return (
            self.table("tasks")
            .group_by("source", "kind", maintain_order=True)
            .agg(
                sums,
                (pl.col("with_cpu").sum() > 0).alias("on_cpu"),
                (pl.col("with_tid").sum() > 0).alias("has_tids"),
                (pl.col("whole_seconds").sum() == pl.col("timed").sum()).alias("whole_seconds"),
                pl.col("first").min(),
                pl.col("last").max(),
                pl.col("line").min(),
            )
        )

    @cached_property
    def refused_direct(self) -> pl.DataFrame:
        """Files that were opened with O_DIRECT, and whose reads or writes failed with EINVAL."""
        moves = (*_core.syscalls_that("reads"), *_core.syscalls_that("writes"))
        if "files" in self._folded:
            errors = self.table("files").select(pl.col("read_errors") + pl.col("write_errors"))
            if not errors.to_series().sum():
                return _NOTHING_REFUSED.to_frame()
        refused = _collected(
            self.events.filter(
                _words("errno") == "EINVAL",
                _words("name").is_in(moves),
                pl.col("file").is_not_null(),
            )
            .group_by(_words("source"), "file")
            .agg(pl.len().cast(pl.Int64).alias("calls"), pl.col("path").first())
        )
        if refused.is_empty():
            return refused
        direct = _collected(
            self.events.filter(
                _words("name").is_in(_core.syscalls_that("opens")),
                pl.col("file").is_in(refused["file"].to_list()),
                _words("args").str.contains("O_DIRECT", literal=True),
            )
            .select(_words("source"), "file")
            .unique()
        )
        return refused.join(direct, on=["source", "file"], how="semi").sort("calls", "file")

    @cached_property
    def page_cache(self) -> pl.DataFrame:
        """The rows of `tracefast.page_cache`, with the pages that reads asked for."""
        asked = (
            decoded(
                self.events,
                ["mm_filemap_get_pages"],
                record={"source": pl.String},
                fields=_LOOKED_UP,
                question=QUESTION,
            )
            .with_columns(
                pl.coalesce(
                    pl.col("ofs_end") + 1 - pl.col("ofs"),
                    (pl.col("last_index") + 1 - pl.col("index")) * _PAGE,
                ).alias("asked_bytes")
            )
            .group_by("source", "dev", "ino")
            .agg(pl.col("asked_bytes").sum())
        )
        table = page_cache(self.events)
        return _collected(table.join(asked, on=["source", "dev", "ino"], how="left"))

    @cached_property
    def kernel_times(self) -> pl.DataFrame:
        """Of joined events, by `source` and `name`: time of calls, and how much of it is what."""
        names = ("kernel_ns", "tracer_ns")
        if not has_columns(self.events, names):
            return pl.DataFrame()
        calls = calls_of(self.events, ("source", "name", "dur_ns", *names), QUESTION)
        return _collected(
            calls.filter(pl.col("dur_ns").is_not_null())
            .group_by("source", _words("name"))
            .agg(pl.len().cast(pl.Int64).alias("calls"), pl.col("dur_ns", *names).sum())
        )

    @cached_property
    def device_reads(self) -> pl.DataFrame:
        """Of joined events, what reads of each file found in the page cache, as `page_cache`."""
        return _collected(device_reads(self.events, QUESTION))

    @cached_property
    def sources(self) -> list[str]:
        """The logs that have events."""
        return self.kinds["source"].drop_nulls().unique().sort().to_list()


def _divided(rows: pl.DataFrame) -> dict[object, pl.DataFrame]:
    """Divide the rows of a table by log; those of a single log are not copied."""
    logs = rows["source"].unique()
    if len(logs) == 1:
        return {logs[0]: rows}
    parts = rows.partition_by("source", as_dict=True, maintain_order=True)
    return {log: part for (log,), part in parts.items()}


def _kept_events(tables: Tables) -> pl.DataFrame:
    return tables.events.with_columns(_words("source")).collect()


def _words(name: str) -> pl.Expr:
    return pl.col(name).cast(pl.String)


def _collected(rows: pl.LazyFrame) -> pl.DataFrame:
    return rows.collect(engine="streaming")
