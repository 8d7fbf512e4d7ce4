"""`join`: one row per event of strace, with what the kernel did in each call."""

from collections.abc import Callable, Collection
from typing import Final

import polars as pl

from tracefast._polars.given_events import Events, rows_of
from tracefast.analysis.files import page_cache
from tracefast.analysis.join.calls import ROW, calls_of, check_calls
from tracefast.analysis.join.disk import disk_counts
from tracefast.analysis.join.kernel import (
    cpu_times,
    kernel_events,
    lost_rows,
    page_counts,
    requests_with_files,
    scheduler_events,
)
from tracefast.analysis.join.matching import matched
from tracefast.analysis.join.report import JoinReport
from tracefast.analysis.requests.records import BLK, COMPLETE, ISSUE
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
    result, and is inside that of strace. The calls are read now, the other columns when the frame
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
    page_bytes = integer("page_bytes", page_bytes, low=1, high=1 << 30)
    strace = calls_of(strace_events, more=_MORE)
    ftrace = calls_of(ftrace_events)
    check_calls(strace, ftrace)
    pairs, clock = matched(strace, ftrace)
    log = kernel_events(ftrace_events, page_bytes, "tracefast.join").collect()
    scheduled = scheduler_events(ftrace_events, "tracefast.join").collect()
    paired = _paired(strace, ftrace, pairs, page_bytes)
    values, missing = _values(paired, ftrace, (log, scheduled), page_bytes, recorded)
    if report is not None:
        threads = ftrace.filter(pl.col("row").is_in(pairs["frow"].implode()))["tid"].unique()
        mine = ftrace.filter(pl.col("tid").is_in(threads.implode())).height
        apart = pairs["residual"].abs()
        report(
            JoinReport(
                calls=strace.height,
                matched=pairs.height,
                tasks=strace["who"].n_unique(),
                matched_tasks=pairs["who"].n_unique(),
                only_ftrace=mine - pairs.height,
                offset_ns=clock.offset_ns,
                drift_ppm=clock.drift_ppm,
                residual_p50_ns=int(apart.median() or 0),  # type: ignore[arg-type]
                residual_max_ns=int(apart.max() or 0),  # type: ignore[arg-type]
                missing=missing,
                lost=lost_rows(log).len(),
            )
        )
    rows = rows_of(strace_events, ["kind"], "tracefast.join").drop(NAMES, strict=False)
    return (
        rows.with_row_index(ROW)
        .join(values.lazy(), on=ROW, how="left", maintain_order="left")
        .drop(ROW)
    )


def _paired(
    strace: pl.DataFrame, ftrace: pl.DataFrame, pairs: pl.DataFrame, page: int
) -> pl.DataFrame:
    """Give the pairs with the times of both calls, and the last page that a read touched."""
    end = pl.col("offset") + pl.col("bytes")
    return (
        pairs.select("row", "frow")
        .join(
            strace.select(
                "row",
                (pl.col("exit") - pl.col("enter")).alias("dur"),
                ((end + page - 1) // page * page).alias("last"),
            ),
            on="row",
        )
        .join(
            ftrace.select(
                pl.col("row").alias("frow"), (pl.col("exit") - pl.col("enter")).alias("kernel_ns")
            ),
            on="frow",
        )
    )


def _values(
    paired: pl.DataFrame,
    ftrace: pl.DataFrame,
    events: tuple[pl.DataFrame, pl.DataFrame],
    page: int,
    recorded: Collection[str],
) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Give the columns of matched calls, and those of them that are null everywhere."""
    log, scheduled = events
    calls = ftrace.join(
        paired.select(pl.col("frow").alias("row"), "last"), on="row", how="left"
    ).sort("row")
    issued, moved = requests_with_files(log, calls, page)
    has = {*recorded, *log["name"].unique(), *scheduled["name"].unique()}
    lookups, ahead = page_cache.LOOKUP in has, bool(has.intersection(page_cache.AHEAD))
    added, asked = page_cache.ADD in has, bool(has & {ISSUE, BLK})
    switches = "sched_switch" in has
    known = {
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
    table = paired
    parts = (
        (cpu_times(scheduled, log, calls), ("off_cpu_ns", "run_delay_ns", "stopped_ns")),
        (page_counts(log, calls, page), ("cached_pages", "missed_pages", "readahead_bytes")),
        (disk_counts(log, calls, issued, moved), ("disk_requests", "disk_bytes", "disk_ns")),
    )
    for part, counted in parts:
        found = part.with_columns(pl.lit(value=True).alias("found"))
        table = table.join(found, left_on="frow", right_on="call", how="left").with_columns(
            # What is not in the log at all did not happen in this call.
            pl.when(pl.col("found").is_null()).then(0).otherwise(name).alias(name)
            for name in counted
        )
        table = table.drop("found")
    table = table.with_columns(
        (pl.col("kernel_ns") - pl.col("stopped_ns").fill_null(0)).alias("kernel_ns")
    )
    table = table.with_columns(
        # Both clocks are rounded.
        (pl.col("dur") - pl.col("kernel_ns")).clip(0).alias("tracer_ns"),
        (pl.col("kernel_ns") - pl.col("off_cpu_ns")).alias("cpu_ns"),
    ).with_columns(pl.when(shown).then(name).alias(name) for name, shown in known.items())
    table = _without_lost(table, ftrace, events, list(known))
    return (
        table.select("row", *(pl.col(name).cast(pl.Int64) for name in NAMES)),
        tuple(name for name, shown in known.items() if not shown),
    )


def _without_lost(
    table: pl.DataFrame,
    ftrace: pl.DataFrame,
    events: tuple[pl.DataFrame, pl.DataFrame],
    names: list[str],
) -> pl.DataFrame:
    """Leave out what calls did during which records were lost.

    Records of a processor were lost between its last record and the note.
    """
    noted = lost_rows(events[0])
    if noted.is_empty():
        return table
    log = pl.concat(part.select("row", "cpu", "at") for part in events).sort("row")
    gap = log.filter(pl.col("row").is_in(noted.implode()))
    last = (
        log.with_columns(
            pl.when(~pl.col("row").is_in(noted.implode()))
            .then("at")
            .forward_fill()
            .over("cpu")
            .alias("before"),
            pl.col("at").fill_null(strategy="backward").alias("after"),
        )
        .filter(pl.col("row").is_in(gap["row"].implode()))
        .select(pl.col("before").fill_null(0), "after")
        .sort("after")
        .with_columns(pl.col("before").cum_min(reverse=True))
    )
    times = table.join(ftrace.select(pl.col("row").alias("frow"), "enter", "exit"), on="frow").sort(
        "enter"
    )
    hit = times.join_asof(
        last, left_on="enter", right_on="after", strategy="forward", check_sortedness=False
    ).with_columns((pl.col("before") <= pl.col("exit")).fill_null(value=False).alias("hit"))
    return hit.with_columns(pl.when(~pl.col("hit")).then(name).alias(name) for name in names)
