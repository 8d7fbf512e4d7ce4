"""`join`: one row per event of strace, with what the kernel did in each call."""

from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Final
from weakref import finalize

import polars as pl

from tracefast._polars.given_events import Events, rows_of
from tracefast._polars.map_rows import map_rows
from tracefast.analysis.decoded_fields import LOST
from tracefast.analysis.files import page_cache
from tracefast.analysis.join.calls import ROW, calls_of, check_calls
from tracefast.analysis.join.disk import DiskUse
from tracefast.analysis.join.kernel import (
    cpu_times,
    issued_requests,
    kernel_events,
    page_counts,
    request_steps,
    scheduler_events,
)
from tracefast.analysis.join.matching import Matches, matched
from tracefast.analysis.join.report import JoinReport
from tracefast.analysis.join.rows import Rows
from tracefast.analysis.join.windows import FtraceLog, Window
from tracefast.analysis.requests.files import Step, moved
from tracefast.analysis.requests.records import BLK, COMPLETE, ISSUE, REQUESTS
from tracefast.arguments import integer
from tracefast.columns.events import JOINED
from tracefast.columns.tables import names_of

NAMES: Final = tuple(names_of(JOINED))
_MORE: Final = {"offset": pl.Int64(), "bytes": pl.Int64()}


def join(
    strace_events: Events,
    ftrace_events: Events,
    *,
    page_bytes: int = 4096,
    recorded: Collection[str] = (),
    report: Callable[[JoinReport], object] | None = None,
) -> pl.LazyFrame:
    """Give strace's events with what the kernel did in each system call, from ftrace's log.

    Both logs must be of one run. The clocks are aligned by the calls that both show, thread by
    thread, whatever their process ids are; a call is matched if ftrace's has the same name and
    result, and is inside that of strace. Both logs are read now, part by part; what is needed of
    them is in a temporary folder, which goes with the frame. Strace's rows are read when the frame
    is collected.

    Parameters
    ----------
    strace_events
        The events of strace's log.
    ftrace_events
        The events of ftrace's log, with the events ``syscalls:*`` or ``raw_syscalls:*``; and, for
        more than `kernel_ns` and `tracer_ns`, ``sched_switch`` and ``sched_waking``,
        ``filemap:*`` and ``readahead:*``, ``block_rq_issue`` and ``block_rq_complete``.
    page_bytes
        Size of a page on the machine of the logs.
    recorded
        Names of events that were recorded, as ``mm_filemap_add_to_page_cache``. If the log has none
        of them, they did not happen; of others nobody can say.
    report
        Called with how well the logs match.

    Returns
    -------
    polars.LazyFrame
        All of strace's events in their order, with the columns of :func:`tracefast.schema` and
        after them `kernel_ns`, `tracer_ns`, `cpu_ns`, `off_cpu_ns`, `run_delay_ns`,
        `cached_pages`, `missed_pages`, `readahead_bytes`, `disk_requests`, `disk_bytes` and
        `disk_ns`. These are null for rows that are no matched call, and where ftrace's log lacks
        the events.

    Raises
    ------
    Error
        The logs are not of one run, or one has no calls with times.
    ValueError
        `page_bytes` is less than 1.
    TypeError
        An argument has the wrong type.

    Examples
    --------
    >>> import tracefast as tf
    >>> try:
    ...     tf.join(tf.scan("demo.strace"), tf.scan("demo.ftrace"))
    ... except tf.Error as error:
    ...     print(error)
    the log of ftrace has no system calls, so strace's calls cannot be found in it
    """
    folder = _Folder()
    joined, found = join_in(
        folder.path,
        strace_events,
        ftrace_events,
        page_bytes=page_bytes,
        recorded=recorded,
        owner=folder,
    )
    if report is not None:
        report(found)
    return joined


def join_in(
    folder: Path,
    strace_events: Events,
    ftrace_events: Events,
    *,
    page_bytes: int = 4096,
    recorded: Collection[str] = (),
    owner: object = None,
) -> tuple[pl.LazyFrame, JoinReport]:
    """Join as :func:`join` does, with files in a folder that the result needs.

    The result keeps the owner of the folder.
    """
    page_bytes = integer("page_bytes", page_bytes, low=1, high=1 << 30)
    strace = Rows(calls_of(strace_events, more=_MORE), folder / "strace.parquet")
    calls = Rows(calls_of(ftrace_events), folder / "ftrace.parquet")
    check_calls(strace, calls)
    matches = matched(strace, calls, folder, more=_MORE)
    ftrace = FtraceLog(
        calls,
        Rows(kernel_events(ftrace_events, page_bytes, "tracefast.join"), folder / "log.parquet"),
        Rows(scheduler_events(ftrace_events, "tracefast.join"), folder / "scheduled.parquet"),
    )
    values = _Values(ftrace, matches, page_bytes, recorded)
    parts = list(values.write(folder))
    rows = rows_of(strace_events, ["kind"], "tracefast.join").drop(NAMES, strict=False)
    schema = pl.Schema({**rows.collect_schema(), **dict.fromkeys(NAMES, pl.Int64())})
    with_values = _WithValues(parts, owner)
    joined = map_rows(rows.with_row_index(ROW), with_values, schema, by_batch=True)
    return joined, _report(strace, ftrace, matches, values.missing)


class _Folder:
    """A folder that is removed with the last object that needs it."""

    def __init__(self) -> None:
        self.path = Path(mkdtemp(prefix="tracefast-join-"))
        finalize(self, rmtree, self.path, ignore_errors=True)


class _WithValues:
    """Adds the columns of the join to a part of strace's rows; keeps the owner of their files."""

    def __init__(self, parts: list[Path], owner: object) -> None:
        self._values = pl.scan_parquet(parts, glob=False)
        self._owner = owner

    def __call__(self, rows: pl.DataFrame) -> pl.DataFrame:
        inside = pl.col(ROW).is_between(rows[ROW].min(), rows[ROW].max())
        values = self._values.filter(inside).collect()
        return rows.join(values, on=ROW, how="left", maintain_order="left").drop(ROW)


def _report(
    strace: Rows, ftrace: FtraceLog, matches: Matches, missing: tuple[str, ...]
) -> JoinReport:
    mine = pl.col("tid").is_in(matches.threads["ftid"].implode())
    apart = pl.col("residual").abs()
    middle, most = (
        matches.pairs.all.select(apart.median(), apart.max().alias("most")).collect().row(0)
    )
    return JoinReport(
        calls=strace.height,
        matched=matches.pairs.height,
        tasks=strace.all.select(pl.col("who").n_unique()).collect().item(),
        matched_tasks=matches.threads["who"].n_unique(),
        only_ftrace=ftrace.calls.all.filter(mine).select(pl.len()).collect().item()
        - matches.pairs.height,
        offset_ns=matches.clock.offset_ns,
        drift_ppm=matches.clock.drift_ppm,
        residual_p50_ns=int(middle or 0),
        residual_max_ns=int(most or 0),
        missing=missing,
        lost=ftrace.log.all.filter(pl.col("name") == LOST).select(pl.len()).collect().item(),
    )


class _Values:
    """The columns of matched calls."""

    def __init__(
        self, ftrace: FtraceLog, matches: Matches, page: int, recorded: Collection[str]
    ) -> None:
        self._ftrace, self._pairs, self._page = ftrace, matches.pairs, page
        names = pl.concat(
            file.all.select(pl.col("name").unique()) for file in (ftrace.log, ftrace.scheduled)
        )
        has = {*recorded, *names.collect()["name"]}
        self._known = _known(has)
        self.missing = tuple(name for name, shown in self._known.items() if not shown)
        self._gaps = lost_times(ftrace) if LOST in has else None
        self._disk = self._disk_counts()

    def write(self, folder: Path) -> Iterator[Path]:
        """Write them in parts, by ftrace's calls."""
        for number, window in enumerate(self._ftrace.windows()):
            paired = self._paired(window)
            calls = window.calls.join(
                paired.select(pl.col("frow").alias("row"), "last"), on="row", how="left"
            )
            parts = (
                (
                    cpu_times(window.scheduled, window.log, calls),
                    ("off_cpu_ns", "run_delay_ns", "stopped_ns"),
                ),
                (
                    page_counts(window.log, calls, self._page),
                    ("cached_pages", "missed_pages", "readahead_bytes"),
                ),
                (self._disk, ("disk_requests", "disk_bytes", "disk_ns")),
            )
            table = paired
            for part, counted in parts:
                table = _with_counts(table, part, counted)
            table = self._finished(table)
            file = folder / f"values-{number}.parquet"
            table.write_parquet(file, compression="lz4")
            yield file

    def _paired(self, window: Window) -> pl.DataFrame:
        """Give the pairs with the times of both calls, and the last page that a read touched."""
        end, page = pl.col("offset") + pl.col("bytes"), self._page
        kernel = (pl.col("exit") - pl.col("enter")).alias("kernel_ns")
        times = window.calls.select(pl.col("row").alias("frow"), "enter", "exit", kernel)
        pairs = self._pairs.between("frow", window.first, window.end)
        last = ((end + page - 1) // page * page).alias("last")
        return pairs.select("row", "frow", "dur", last).join(times, on="frow").sort("row")

    def _disk_counts(self) -> pl.DataFrame:
        """Give what the device moved for calls."""
        log = self._ftrace.log.all
        records = log.filter(pl.col("name").is_in([*REQUESTS, BLK, LOST])).collect()
        whole = records if self._gaps is None else log.select("row", "name", "cpu").collect()
        issued = issued_requests(records, whole)
        devices = issued["dev"].unique()

        def steps() -> Iterator[Step]:
            for window in self._ftrace.windows():
                mine = pl.col("row").is_between(window.first, window.end, closed="left")
                part = window.log.filter(mine), window.calls, issued.filter(mine)
                yield from request_steps(*part, devices, self._page)

        use = DiskUse(issued, moved(steps()))
        for window in self._ftrace.windows() if issued.height else ():
            ends = self._paired(window).select(pl.col("frow").alias("row"), "last")
            use.add(window.log, window.calls.join(ends, on="row", how="left"), window.end)
        return use.counts()

    def _finished(self, table: pl.DataFrame) -> pl.DataFrame:
        table = table.with_columns(
            (pl.col("kernel_ns") - pl.col("stopped_ns").fill_null(0)).alias("kernel_ns")
        )
        table = table.with_columns(
            # Both clocks are rounded.
            (pl.col("dur") - pl.col("kernel_ns")).clip(0).alias("tracer_ns"),
            (pl.col("kernel_ns") - pl.col("off_cpu_ns")).alias("cpu_ns"),
        ).with_columns(pl.when(shown).then(name).alias(name) for name, shown in self._known.items())
        if self._gaps is not None:
            table = _without_lost(table, self._gaps, list(self._known))
        return table.select(ROW, *(pl.col(name).cast(pl.Int64) for name in NAMES)).sort(ROW)


def _known(has: set[str]) -> dict[str, bool]:
    """Say which columns a log with these events shows."""
    lookups, ahead = page_cache.LOOKUP in has, bool(has.intersection(page_cache.AHEAD))
    added, asked = page_cache.ADD in has, bool(has & {ISSUE, BLK})
    switches = "sched_switch" in has
    return {
        "cpu_ns": switches,
        "off_cpu_ns": switches,
        "run_delay_ns": switches and bool(has & {"sched_waking", "sched_wakeup"}),
        "cached_pages": lookups and added,
        "missed_pages": lookups and added,
        "readahead_bytes": ahead and added,
        "disk_requests": asked,
        "disk_bytes": asked,
        "disk_ns": asked and bool(has & {COMPLETE, BLK}),
    }


def _with_counts(table: pl.DataFrame, part: pl.DataFrame, counted: tuple[str, ...]) -> pl.DataFrame:
    """Add columns; what is not in the log at all did not happen in a call."""
    found = part.with_columns(pl.lit(value=True).alias("found"))
    return (
        table.join(found, left_on="frow", right_on="call", how="left")
        .with_columns(
            pl.when(pl.col("found").is_null()).then(0).otherwise(name).alias(name)
            for name in counted
        )
        .drop("found")
    )


def lost_times(ftrace: FtraceLog) -> pl.DataFrame:
    """Give the times in which records were lost: `before` and `after`.

    Records of a processor were lost between its last record and the note.
    """
    schema = {"cpu": pl.UInt16, "at": pl.Int64}
    last, gaps = pl.DataFrame(schema=schema), []
    for window in ftrace.windows():
        parts = (window.log, window.scheduled)
        log = pl.concat(part.select("row", "name", "cpu", "at") for part in parts)
        log = log.filter(pl.col("row") >= window.first).sort("row")
        noted = pl.col("name") == LOST
        earlier = last.select(
            pl.lit(0, pl.UInt32).alias("row"), pl.lit("").alias("name"), "cpu", "at"
        )
        both = pl.concat([earlier, log]).with_columns(
            pl.when(~noted).then("at").forward_fill().over("cpu").alias("before"),
            pl.col("at").fill_null(strategy="backward").alias("after"),
        )
        gaps.append(both.filter(noted).select(pl.col("before").fill_null(0), "after"))
        last = both.group_by("cpu").agg(pl.col("before").last().alias("at")).select(schema)
    return pl.concat(gaps).sort("after").with_columns(pl.col("before").cum_min(reverse=True))


def _without_lost(table: pl.DataFrame, gaps: pl.DataFrame, names: list[str]) -> pl.DataFrame:
    """Leave out what calls did during which records were lost."""
    hit = (
        table.sort("enter")
        .join_asof(
            gaps, left_on="enter", right_on="after", strategy="forward", check_sortedness=False
        )
        .with_columns((pl.col("before") <= pl.col("exit")).fill_null(value=False).alias("hit"))
    )
    return hit.with_columns(pl.when(~pl.col("hit")).then(name).alias(name) for name in names)
