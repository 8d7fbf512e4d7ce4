"""Rules about waits: deadlock, lock-at-fork, contended-futex, busy-polling."""

from collections.abc import Iterator
from typing import Any, Final

import polars as pl

from tracefast.analysis.insights.finding import Finding, Rule, Severity, Threshold, Weight
from tracefast.analysis.insights.lines import MOST
from tracefast.analysis.insights.log import Log
from tracefast.analysis.insights.tables import Tables
from tracefast.quantities import Range, duration, percent, plural

MANY_WAITS: Final = Threshold(
    "waits of 1 ms or more for one lock", 10, "", "fewer are a start or an end"
)
TAKERS: Final = Threshold(
    "threads that both wait for it and let others have it",
    2,
    "",
    "who only waits, or only wakes, has a queue and no lock",
)
POLLS: Final = Threshold("calls that ask and get nothing", 1000, "", "fewer cost a millisecond")
POLL_SHARE: Final = Threshold(
    "share of them among the calls of the thread, from the first to the last",
    0.8,
    "share",
    "then it does little else",
)
POLL_RATE: Final = Threshold(
    "of them per second", 200, "", "an answer within 5 ms is what a timer would give"
)


def _stuck(tables: Tables) -> pl.DataFrame:
    rows = tables.table("waits").filter(pl.col("verdict") == "deadlock")
    return rows.sort("ts", nulls_last=True, maintain_order=True)


def _stuck_by_fork(tables: Tables) -> pl.DataFrame:
    return (rows := _stuck(tables)).filter(_by_fork(rows))


def _stuck_otherwise(tables: Tables) -> pl.DataFrame:
    return (rows := _stuck(tables)).filter(~_by_fork(rows))


def _by_fork(rows: pl.DataFrame) -> pl.Series:
    """Say which a fork explains: the child has the lock, and not the thread that used it."""
    return rows.select(
        (
            (pl.col("proof") == "private-futex")
            & pl.col("because_line").is_not_null()
            & (pl.col("because_pid") != pl.col("pid"))
        ).fill_null(value=False)
    ).to_series()


def _hang(log: Log, rows: pl.DataFrame, advice: str) -> Iterator[Finding]:
    if rows.is_empty():
        return
    first = rows.row(0, named=True)
    waiting = log.waits.filter(pl.col("verdict") == "stalled").height
    longest = int(rows["open_ns"].fill_null(0).top_k(1).sum())
    follow = f", {plural(waiting, 'waits', 'wait')} for them" if waiting else ""
    because = _because(first)
    shown = [*rows["because_line"].drop_nulls(), *rows["line"].drop_nulls()]
    yield Finding(
        # It never ends: whatever the log's length, this is all that comes.
        weight=Weight(Severity.HIGH, 1.0),
        evidence=f"{plural(rows.height, 'task')} can never go on, for at least"
        f" {duration(longest)}{follow}: {_program(first)} waits in {first['name']} for"
        f" {str(first['object']).removeprefix(first['name'] + ' ')}{because}",
        numbers={"tasks": rows.height, "stalled": waiting, "open_ns": longest},
        object=_program(first),
        lines=list(dict.fromkeys(shown))[:MOST],
        advice=advice,
    )


def _because(row: dict[str, Any]) -> str:
    if row["because_line"] is None:
        return ""
    if row["proof"] == "private-futex" and row["because_pid"] != row["pid"]:
        return (
            f", which thread {row['because_tid']} of {row['because_pid']} used before line"
            f" {row['because_line']} forked: the child has the lock, and not the thread"
        )
    return f", as line {row['because_line']} explains ({row['proof']})"


def _program(row: dict[str, Any]) -> str:
    name = (row["image"] or "?").rpartition("/")[2]
    number = row["tid"] if row["tid"] is not None else row["pid"]
    return name if number is None else f"{name} {number}"


def deadlock(log: Log) -> Iterator[Finding]:
    """Find tasks of which the log proves that they never go on."""
    yield from _hang(log, log.chosen(_stuck_otherwise), DEADLOCK.advice)


DEADLOCK: Final = Rule(
    code="deadlock",
    title="Tasks wait for each other, and can never go on.",
    looks_for="Waits with the verdict deadlock of tracefast waits: the log proves that nobody can"
    " end them. What is likely, but not proved, is no finding; tracefast waits shows it.",
    advice="tracefast waits shows who waits for whom, and what to do for each kind of proof:"
    " docs/hangs.md.",
    find=deadlock,
    tables=frozenset({"waits"}),
)


def lock_at_fork(log: Log) -> Iterator[Finding]:
    """Find children that wait for a lock which a thread used when they were forked."""
    yield from _hang(log, log.chosen(_stuck_by_fork), LOCK_AT_FORK.advice)


LOCK_AT_FORK: Final = Rule(
    code="lock-at-fork",
    title="A child waits for a lock that another thread used at the fork, and never gets it.",
    looks_for="Deadlocks of all threads of a process, on a lock that another thread of its parent"
    " used before the fork. A fork copies memory with all locks, but only the thread that forks.",
    advice="Start workers before threads, or use multiprocessing's start method forkserver or"
    " spawn; OpenMP, OpenCV (cv2.setNumThreads(0)), tokenizers and logging have such threads.",
    find=lock_at_fork,
    tables=frozenset({"waits"}),
)


def _woken(tables: Tables) -> pl.DataFrame:
    """Give the waits for a lock that ended, of locks that are waited for often."""
    woken = tables.table("waits").filter(
        pl.col("on") == "futex", pl.col("end") == "woken", pl.col("object").is_not_null()
    )
    return woken.filter(pl.len().over("source", "object") >= MANY_WAITS.value)


def contended_futex(log: Log) -> Iterator[Finding]:
    """Find locks that several threads take from each other, and wait for."""
    waits = log.chosen(_woken)
    if waits.is_empty():
        return
    waiters = waits.select("object", pl.col("task").alias("both")).unique()
    wakers = waits.select("object", pl.col("waker_task").alias("both")).drop_nulls().unique()
    takers = waiters.join(wakers, on=["object", "both"]).group_by("object").agg(takers=pl.len())
    locks = (
        waits.join(takers.filter(pl.col("takers") >= TAKERS.value), on="object")
        .group_by("object", "takers")
        .agg(pl.len().alias("waits"), pl.col("dur_ns").sum(), pl.col("line"), pl.col("pid").first())
        .filter(pl.col("waits") >= MANY_WAITS.value)
        .sort("dur_ns", descending=True, nulls_last=True)
    )
    if locks.is_empty():
        return
    lock = locks.row(0, named=True)
    own = waits.filter(pl.col("object") == lock["object"])
    covered = _covered(own)
    # At the end of a wait, the tracer stops the task once.
    time = Range(max(covered - lock["waits"] * log.stop_ns, 0), covered)
    weight = log.weight(time)
    if weight is None:
        return
    yield Finding(
        weight=weight,
        evidence=f"{plural(lock['waits'], 'wait')} of 1 ms or more for {lock['object']}, of"
        f" {plural(own['task'].n_unique(), 'thread')}, took {duration(lock['dur_ns'])} in total;"
        f" during {duration(covered)} at least one of them waited",
        numbers={
            "waits": lock["waits"],
            "threads": own["task"].n_unique(),
            "total_ns": lock["dur_ns"],
            "covered_ns": covered,
            "locks": locks.height,
        },
        object=lock["object"],
        lines=own["line"].drop_nulls().head(MOST).to_list(),
        advice=CONTENDED_FUTEX.advice,
    )


def _covered(waits: pl.DataFrame) -> int:
    """Give the time in which at least one of some waits was under way."""
    start = pl.col("ts").cast(pl.Int64)
    end = start + pl.col("dur_ns")
    before = pl.col("end").cum_max().shift(1)
    spans = waits.select(start.alias("start"), end.alias("end")).drop_nulls().sort("start")
    new = pl.col("end") - pl.max_horizontal("start", before)
    return int(spans.select(new.clip(0).sum()).item() or 0)


CONTENDED_FUTEX: Final = Rule(
    code="contended-futex",
    title="Threads wait for a lock that others of them hold.",
    looks_for="A futex for which threads wait, and which the same threads let others have: a lock,"
    " not a queue. Only waits of 1 ms and more count. Python's own lock (the GIL) is one, too.",
    advice="Hold the lock for less, split it, or let each thread work on its own part; for Python's"
    " own lock, use processes, or libraries that release it.",
    find=contended_futex,
    thresholds=(MANY_WAITS, TAKERS),
    tables=frozenset({"waits"}),
)


def _polling(tables: Tables) -> pl.DataFrame:
    return (
        tables.polls.with_columns(
            (pl.col("last") - pl.col("first")).cast(pl.Int64).alias("span_ns")
        )
        .filter(
            pl.col("polls") >= POLLS.value,
            pl.col("polls") >= POLL_SHARE.value * pl.col("calls"),
            pl.col("polls") * 1_000_000_000 >= POLL_RATE.value * pl.col("span_ns"),
        )
        .sort("span_ns", "polls", descending=True, nulls_last=True, maintain_order=True)
    )


def busy_polling(log: Log) -> Iterator[Finding]:
    """Find threads that ask again and again for what is not there."""
    polls = log.chosen(_polling)
    if polls.is_empty():
        return
    worst = polls.row(0, named=True)
    # Of the thread that does so the longest; others do it at the same time.
    span = worst["span_ns"] or 0
    weight = log.weight(Range(span, span))
    if weight is None:
        return
    number = int(polls["polls"].sum())
    yield Finding(
        weight=weight,
        evidence=f"{plural(polls.height, 'thread')} asked {number:,} times and got nothing, by"
        f" {worst['name']}; one of them {worst['polls']:,} times within {duration(span)},"
        f" {percent(worst['polls'] / worst['calls'])} of its calls in that time",
        numbers={"threads": polls.height, "calls": number, "span_ns": span},
        object=worst["name"],
        lines=[worst["line"]] if worst["line"] is not None else [],
        advice=BUSY_POLLING.advice,
    )


BUSY_POLLING: Final = Rule(
    code="busy-polling",
    title="A thread asks again and again for what is not there, instead of waiting.",
    looks_for="Calls of poll, select and epoll that return at once with nothing, reads and receives"
    " that fail with EAGAIN, and sched_yield, many per second and little else. The thread keeps a"
    " processor busy, and under strace the tracer as well.",
    advice="Wait with a timeout or without one (poll, epoll_wait), block on an eventfd, a condition"
    " or a futex; for OpenMP, OMP_WAIT_POLICY=passive.",
    find=busy_polling,
    thresholds=(POLLS, POLL_SHARE, POLL_RATE),
)
