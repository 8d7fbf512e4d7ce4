"""What the kernel did in each system call, by the other events of ftrace's log."""

from collections.abc import Iterator
from typing import Final

import polars as pl

from tracefast._polars.given_events import Events, rows_of
from tracefast.analysis.decoded_fields import Dtypes, decoded
from tracefast.analysis.files import page_cache
from tracefast.analysis.requests import files as request_files
from tracefast.analysis.requests.records import (
    BLK,
    ISSUE,
    REQUEST_FIELDS,
    REQUESTS,
    completions,
    request_records,
    without_requeues,
)

_SWITCH: Final = "sched_switch"
# Kernels print the first since 4.3; both say that a task may run again.
_WAKE: Final = ("sched_waking", "sched_wakeup", "sched_wakeup_new")
# A tracing stop: sched_switch in include/trace/events/sched.h.
_TRACED: Final = "t"
PLACE: Final = "place"
_NO_CALLS: Final = pl.DataFrame(schema={"row": pl.UInt32, "tid": pl.Int32})
_NAMES: Final = (
    *(*page_cache.EVENTS, *REQUESTS, BLK),
    *(*request_files.WRITE_BACK, request_files.QUEUED),
)
_RECORD: Final[Dtypes] = {
    PLACE: pl.UInt32,
    "source": pl.Categorical(),
    "ts": pl.Datetime("ns"),
    "cpu": pl.UInt16,
    "comm": pl.Categorical(),
    "tid": pl.Int32,
    "line": pl.UInt64,
}
_FIELDS: Final[Dtypes] = {
    **page_cache.FIELDS,
    **REQUEST_FIELDS,
    "bdi": pl.String,
    "wrote": pl.Int64,
    "pages_written": pl.Int64,
}
_SCHEDULED: Final[Dtypes] = {
    "prev_pid": pl.Int32,
    "next_pid": pl.Int32,
    "prev_state": pl.String,
    "event_pid": pl.Int32,
}


def kernel_events(events: Events, page_bytes: int, question: str) -> pl.LazyFrame:
    """Give the events that say what calls did, in the order of one log.

    `row` is the place among all rows, as in the table of calls; `start` and `end` are the bytes of
    a file that an event of the page cache is about.
    """
    placed = rows_of(events, ["kind"], question).with_row_index(PLACE)
    return (
        decoded(placed, _NAMES, record=_RECORD, fields=_FIELDS, question=question, lost=True)
        .rename({PLACE: "row"})
        .with_columns(page_cache.ranges(page_bytes))
        .with_columns(pl.col("ts").dt.epoch("ns").alias("at"))
    )


def scheduler_events(events: Events, question: str) -> pl.LazyFrame:
    """Give the events that say which task runs, or may run, in the order of one log.

    There are far more of them than of others, below strace most of all.
    """
    placed = rows_of(events, ["kind"], question).with_row_index(PLACE)
    record = {name: _RECORD[name] for name in (PLACE, "ts", "cpu", "tid", "line")}
    names = (_SWITCH, *_WAKE)
    return decoded(placed, names, record=record, fields=_SCHEDULED, question=question).select(
        pl.col(PLACE).alias("row"), "name", pl.col("ts").dt.epoch("ns").alias("at"), "cpu", "tid",
        "line", *_SCHEDULED,
    )  # fmt: skip


def in_calls(events: pl.DataFrame, calls: pl.DataFrame) -> pl.DataFrame:
    """Say in which call each event of a task is: `call` is the row of the call.

    Calls are rows at their end, and have the line of their start.
    """
    ends = calls.select(
        "tid", "row", pl.col("row").alias("call"), pl.col("line").alias("call_line")
    ).sort("row")
    return (
        events.sort("row")
        .join_asof(ends, on="row", by="tid", strategy="forward", check_sortedness=False)
        .with_columns(
            pl.when(pl.col("line") > pl.col("call_line")).then(pl.col("call")).alias("call")
        )
        .drop("call_line")
    )


def cpu_times(scheduled: pl.DataFrame, log: pl.DataFrame, calls: pl.DataFrame) -> pl.DataFrame:
    """Give the time that each call was off the CPU, ready but not running, and stopped for strace.

    Parameters
    ----------
    scheduled, log
        The events of ftrace's log: `scheduler_events` and `kernel_events`.
    calls
        Its calls.

    Returns
    -------
    polars.DataFrame
        `call`, `off_cpu_ns`, `run_delay_ns`, `stopped_ns` of the calls in which the task was
        switched away; the second is null where the log has no wake-up. What creates a task or
        executes a program stops inside of the call for the tracer (``PTRACE_EVENT_FORK`` in
        ptrace(2)): this is in the third, and not in the others.
    """
    switch = scheduled.filter(pl.col("name") == _SWITCH)
    wake = scheduled.filter(pl.col("name").is_in(_WAKE))
    out = in_calls(_steps(switch, "prev_pid", "out"), calls).drop_nulls("call")
    away = calls.filter(pl.col("row").is_in(out["call"].unique().implode()))
    others = (
        _steps(switch, "next_pid", "in"),
        # A task makes records only where it runs. Kernels leave out the switch from the idle
        # task at times, so its next record shows when it ran again at the latest.
        _steps(wake, "tid", "in"),
        _steps(log, "tid", "in"),
        _steps(wake, "event_pid", "wake"),
    )
    ends = _steps(away.with_columns(pl.col("exit").alias("at")), "tid", "in").with_columns(
        pl.col("row").alias("call")
    )
    inside = [in_calls(part, away).drop_nulls("call") for part in others]
    steps = pl.concat([out, *inside, ends.select(out.columns)]).sort("call", "row")
    what = pl.col("what")

    def after(kind: str, value: str) -> pl.Expr:
        return pl.when(what == kind).then(value).backward_fill().over("call")

    left = steps.with_columns(
        after("in", "at").alias("on_at"),
        after("in", "row").alias("on_row"),
        after("wake", "at").alias("woken_at"),
        after("wake", "row").alias("woken_row"),
    ).filter(what == "out")
    off = pl.col("on_at") - pl.col("at")
    # A task that is switched away while it could run waits for a CPU all the time.
    ready = (
        pl.when(pl.col("prev_state").str.starts_with("R"))
        .then(off)
        .otherwise(
            pl.when(pl.col("woken_row") < pl.col("on_row")).then(
                pl.col("on_at") - pl.col("woken_at")
            )
        )
    )
    stopped = pl.col("prev_state").str.starts_with(_TRACED)
    times = {"off_cpu_ns": (off, ~stopped), "run_delay_ns": (ready, ~stopped)}
    times["stopped_ns"] = (off, stopped)
    return (
        left.with_columns(
            pl.when(counted).then(time).otherwise(0).alias(name)
            for name, (time, counted) in times.items()
        )
        .group_by("call")
        .agg(
            pl.when(pl.col(name).null_count() == 0).then(pl.col(name).sum()).alias(name)
            for name in times
        )
    )


def _steps(events: pl.DataFrame, tid: str, what: str) -> pl.DataFrame:
    return events.select(
        "row",
        "line",
        "at",
        pl.col(tid).alias("tid"),
        pl.col("prev_state") if what == "out" else pl.lit(None, pl.String).alias("prev_state"),
        pl.lit(what).alias("what"),
    )


def page_counts(log: pl.DataFrame, calls: pl.DataFrame, page_bytes: int) -> pl.DataFrame:
    """Give the pages that each call found in the cache and that it had to add, and its read-ahead.

    A lookup names pages up to the end of what was asked for, also beyond the end of the file, so
    `calls` has `last`, the end of the page of the last byte that was read, where it is known.
    """
    name = pl.col("name")
    cause = pl.when(~name.is_in([page_cache.ADD, page_cache.DELETE])).then(
        name.is_in(page_cache.AHEAD)
    )
    events = (
        in_calls(log.filter(name.is_in(page_cache.EVENTS)), calls)
        .drop_nulls(("call", "dev", "ino"))
        .join(calls.select(pl.col("row").alias("call"), "last"), on="call", how="left")
        .with_columns(
            cause.forward_fill().over("call", "dev", "ino").fill_null(value=False).alias("ahead"),
            pl.min_horizontal("end", "last").alias("end"),
            pl.col("end").alias("whole"),
        )
    )
    key = ["call", "dev", "ino"]
    looked = events.filter(name == page_cache.LOOKUP, pl.col("start") < pl.col("end"))
    added = events.filter(name == page_cache.ADD)
    asked = _union(looked, key).rename({"bytes": "asked"})
    add = _union(added.with_columns(pl.col("whole").alias("end")), key).rename({"bytes": "added"})
    either = pl.concat([looked, added.with_columns(pl.col("whole").alias("end"))])
    both = asked.join(add, on=key, how="left").join(_union(either, key), on=key)
    missed = pl.col("asked") + pl.col("added").fill_null(0) - pl.col("bytes")
    pages = both.group_by("call").agg(
        ((pl.col("asked") - missed).sum() // page_bytes).alias("cached_pages"),
        (missed.sum() // page_bytes).alias("missed_pages"),
    )
    length = pl.col("whole") - pl.col("start")
    ahead = added.group_by("call").agg(length.filter("ahead").sum().alias("readahead_bytes"))
    return pages.join(ahead, on="call", how="full", coalesce=True).fill_null(0)


def _union(ranges: pl.DataFrame, key: list[str]) -> pl.DataFrame:
    """Give the bytes that ranges cover together."""
    reached = pl.col("end").cum_max().shift(1).over(key)
    begin = pl.max_horizontal("start", reached)
    return (
        ranges.sort(*key, "start", "end")
        .with_columns((pl.col("end") - begin).clip(0).alias("bytes"))
        .group_by(key)
        .agg(pl.col("bytes").sum())
    )


def requests_with_files(log: pl.DataFrame, page_bytes: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Give the requests, and what each moved of which file, without calls.

    Returns
    -------
    polars.DataFrame, polars.DataFrame
        As `issued_requests`; the parts, as `files.moved` gives them.
    """
    issued = issued_requests(log, log)
    devices = issued["dev"].unique()
    steps = request_steps(log, _NO_CALLS, issued, devices, page_bytes)
    return issued, request_files.moved(steps)


def issued_requests(records: pl.DataFrame, log: pl.DataFrame) -> pl.DataFrame:
    """Give the requests that were issued.

    Parameters
    ----------
    records
        The events about requests.
    log
        All events, if some were lost: the requests around these have no completion.

    Returns
    -------
    polars.DataFrame
        `row`, `tid`, `dev`, `op`, `size`, `at` and `done`, null where no completion is in the log.
    """
    rows = without_requeues(request_records(records))
    done = completions(rows, log).select("row", pl.col("latency").alias("took"))
    return (
        rows.filter(pl.col("name") == ISSUE)
        .with_columns(pl.col("ts").dt.epoch("ns").alias("at"))
        .join(done, on="row", how="left", maintain_order="left")
        .with_columns((pl.col("at") + pl.col("took")).alias("done"))
    )


def request_steps(
    log: pl.DataFrame,
    calls: pl.DataFrame,
    issued: pl.DataFrame,
    devices: pl.Series,
    page_bytes: int,
) -> Iterator[request_files.Step]:
    """Give what tasks added to the page cache, queued, requested and wrote, in order.

    Parameters
    ----------
    log, calls, issued
        Events, calls and requests of a part of a log.
    devices
        Those of all requests.
    page_bytes
        Size of a page.
    """
    null = pl.lit(None)
    shape = ("row", "tid", "name", "dev", "ino", "start", "size", "op", "meta")
    page = log.filter(pl.col("name").is_in(page_cache.EVENTS)).select(
        "row", "tid", "name", pl.col("dev").cast(pl.String), "ino", "start",
        (pl.col("end") - pl.col("start")).alias("size"),
        null.cast(pl.String).alias("op"), pl.lit(value=False).alias("meta"),
    )  # fmt: skip
    asked = issued.select(
        "row", "tid", "name", "dev", null.cast(pl.UInt64).alias("ino"),
        pl.col("sector").alias("start"), "size", "op", "meta",
    )  # fmt: skip
    ended = calls.select(
        "row", "tid", pl.lit(request_files.CALL).alias("name"),
        null.cast(pl.String).alias("dev"), null.cast(pl.UInt64).alias("ino"),
        pl.lit(0, pl.Int64).alias("start"), pl.lit(0, pl.Int64).alias("size"),
        null.cast(pl.String).alias("op"), pl.lit(value=False).alias("meta"),
    )  # fmt: skip
    # A volume that is mapped to disks queues for itself: its requests are those of the disks.
    own = pl.col("dev").is_in(devices.implode())
    queued = request_records(log, (request_files.QUEUED,)).filter(own).select(
        "row", "tid", "name", "dev", null.cast(pl.UInt64).alias("ino"),
        pl.col("sector").alias("start"), "size", "op", "meta",
    )  # fmt: skip
    written = log.filter(pl.col("name").is_in(request_files.WRITE_BACK)).select(
        "row", "tid", "name", pl.coalesce("bdi", pl.col("dev").cast(pl.String)).alias("dev"), "ino",
        pl.lit(0, pl.Int64).alias("start"),
        (pl.coalesce("wrote", "pages_written", 0) * page_bytes).alias("size"),
        null.cast(pl.String).alias("op"), pl.lit(value=False).alias("meta"),
    )  # fmt: skip
    parts = [
        part.select(shape).drop_nulls("size").cast({"name": pl.String})
        for part in (page, asked, ended, queued, written)
    ]
    steps = pl.concat(parts).sort("row")
    yield from map(request_files.Step._make, steps.iter_rows())
