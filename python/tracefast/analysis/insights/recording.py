"""Rules about the log itself: what it lacks, and what that makes of the other findings."""

from collections.abc import Iterator
from typing import Final

import polars as pl

from tracefast import _core
from tracefast.analysis.insights.files.data import total
from tracefast.analysis.insights.finding import Finding, Rule, Severity, Threshold, Weight
from tracefast.analysis.insights.lines import MOST
from tracefast.analysis.insights.log import FETCHES, WRITES, Log
from tracefast.analysis.insights.tables import Tables
from tracefast.quantities import Range, duration, percent, plural, size

TIMED: Final = Threshold(
    "share of the calls that have a duration", 0.5, "share", "the rest is not enough to sum up"
)
NAMELESS: Final = Threshold(
    "share of the bytes on descriptors without a name", 0.2, "share", "as for high"
)
STEADY: Final = Threshold(
    "share of the log's time that the tracer took at least", 0.5, "share", "more than the program"
)
FEW: Final = Threshold("calls that show its cost", 100, "", "fewer are a matter of chance")
# As for `tracefast.forks`.
_FARTHEST_NS: Final = 100_000
COARSE: Final = Threshold("events that all have a whole second", 10, "", "fewer may do by chance")
_FORKS: Final = frozenset(_core.syscalls_that("forks"))
_LOW: Final = Weight(Severity.LOW, 0.0)
_MEDIUM: Final = Weight(Severity.MEDIUM, 0.0)


def _untimed(tables: Tables) -> pl.DataFrame:
    sums = pl.col("calls", "timed").sum().cast(pl.Int64)
    return (
        tables.table("syscalls")
        .group_by("source")
        .agg(sums)
        .filter(pl.col("calls") > 0, pl.col("timed") < TIMED.value * pl.col("calls"))
    )


def no_durations(log: Log) -> Iterator[Finding]:
    """Find logs that do not say how long calls took."""
    rows = log.chosen(_untimed)
    if rows.is_empty():
        return
    calls, timed = total(rows, "calls"), total(rows, "timed")
    yield Finding(
        weight=_LOW,
        evidence=f"{timed:,} of {plural(calls, 'call')} have a duration",
        numbers={"calls": calls, "timed": timed},
        lines=log.lines_where(
            pl.col("kind").cast(pl.String) == "syscall",
            pl.col("ret").is_not_null(),
            pl.col("dur_ns").is_null(),
        ),
        advice=NO_DURATIONS.advice,
    )


NO_DURATIONS: Final = Rule(
    code="no-durations",
    title="The log does not say how long calls took.",
    looks_for="Logs of which less than half of the calls have a duration. Nothing can be said"
    " about time then, and severity is by bytes alone.",
    advice="Record with strace -f -ttt -T -y.",
    find=no_durations,
    thresholds=(TIMED,),
)


def _creating(tables: Tables) -> pl.DataFrame:
    with_tids = tables.kinds.filter("has_tids")
    rows = tables.calls.filter(pl.col("name").is_in(sorted(_FORKS)))
    return rows.join(with_tids, on="source", how="anti").sort(
        "line", nulls_last=True, maintain_order=True
    )


def no_children(log: Log) -> Iterator[Finding]:
    """Find logs that lack the processes which the traced one created."""
    rows = log.chosen(_creating)
    made = total(rows, "calls") - total(rows, "errors")
    if made <= 0 or not log.from_strace:
        return
    yield Finding(
        weight=_MEDIUM,
        evidence=f"{plural(made, 'call')} created processes or threads, of which the log has none",
        numbers={"created": made},
        lines=rows["line"].drop_nulls()[:1].to_list(),
        advice=NO_CHILDREN.advice,
    )


NO_CHILDREN: Final = Rule(
    code="no-children",
    title="The log lacks the processes and threads that were created.",
    looks_for="Calls of fork, clone and the like in a log without thread ids. What the children"
    " read and wait for is not in it.",
    advice="Record with strace -f.",
    find=no_children,
)


def _hidden(tables: Tables) -> pl.DataFrame:
    """Sum up the bytes that were moved, by log: of all files, and of those without a name."""
    kept = pl.col("type").is_null() | pl.col("type").is_in(["regular", "unknown", "block"])
    moved = (pl.col("read_bytes").fill_null(0) + pl.col("write_bytes").fill_null(0)).cast(pl.Int64)
    nameless = pl.col("path").is_null()
    return (
        tables.files.filter(kept)
        .group_by("source")
        .agg(
            moved=moved.sum(),
            hidden=moved.filter(nameless).sum(),
            descriptors=nameless.sum().cast(pl.Int64),
        )
        .filter(pl.col("hidden") > 0, pl.col("hidden") >= NAMELESS.value * pl.col("moved"))
    )


def no_names(log: Log) -> Iterator[Finding]:
    """Find logs that do not say to which files descriptors lead."""
    rows = log.chosen(_hidden)
    # ftrace has no such option.
    if rows.is_empty() or not log.from_strace:
        return
    moved, hidden, descriptors = rows.select("moved", "hidden", "descriptors").row(0)
    weight = log.weight(data=hidden, most=Severity.MEDIUM)
    if weight is None:
        return
    yield Finding(
        weight=weight,
        evidence=f"{size(hidden)} of {size(moved)} ({percent(hidden / moved)}) were moved by"
        f" {plural(descriptors, 'descriptor')} whose file the log does not show",
        numbers={"bytes": hidden, "all_bytes": moved, "descriptors": descriptors},
        lines=log.lines_where(
            pl.col("name").cast(pl.String).is_in(sorted(FETCHES | WRITES)),
            pl.col("path").is_null(),
            pl.col("bytes") > 0,
        ),
        advice=NO_NAMES.advice,
    )


NO_NAMES: Final = Rule(
    code="no-names",
    title="The log does not say which files were read and written.",
    looks_for="Reads and writes on descriptors that were open before the log started, or whose"
    " opening was not traced, for a fifth of the bytes or more.",
    advice="Record with strace -y (or -yy), and from the start of the program.",
    find=no_names,
    thresholds=(NAMELESS,),
    tables=frozenset({"files", "roles"}),
)


def _lost(tables: Tables) -> pl.DataFrame:
    return tables.kinds.filter(pl.col("kind") == "lost")


def lost_events(log: Log) -> Iterator[Finding]:
    """Find logs in which the tracer lost events."""
    lost = log.chosen(_lost)
    if lost.is_empty():
        return
    notes = log.lost_notes
    places = total(lost, "rows")
    # The kernel does not always say how many.
    known = notes["events"].null_count() == 0
    number = total(notes, "events")
    missing = f"{number:,} events" if known else "events"
    yield Finding(
        weight=_MEDIUM,
        evidence=f"{missing} are missing at {plural(places, 'place')} of the log",
        numbers={"places": places, **({"events": number} if known else {})},
        lines=notes["line"].drop_nulls().head(MOST).to_list(),
        advice=LOST_EVENTS.advice,
    )


LOST_EVENTS: Final = Rule(
    code="lost-events",
    title="The tracer lost events.",
    looks_for="Notes of ftrace that its buffer was full. Counts are too low then, and what a"
    " descriptor leads to may be wrong.",
    advice="Make the buffer larger (buffer_size_kb, trace-cmd -b), or enable fewer events.",
    find=lost_events,
)


def tracer_dominates(log: Log) -> Iterator[Finding]:
    """Find logs most of whose time the tracer took."""
    calls = total(log.syscalls, "calls")
    if not log.from_strace or calls < FEW.value or not log.wall_ns:
        return
    # Further apart, there are calls between them that were not traced.
    each = min(log.line_ns, _FARTHEST_NS)
    time = min(each * calls, log.wall_ns)
    if time < STEADY.value * log.wall_ns:
        return
    weight = log.weight(Range(time, time), most=Severity.MEDIUM)
    if weight is None:
        return
    yield Finding(
        weight=weight,
        evidence=f"nine of ten calls start {duration(each)} or more after the one before of their"
        f" thread; at that rate, {plural(calls, 'call')} take {duration(time)} of"
        f" {duration(log.wall_ns)}",
        numbers={"calls": calls, "each_ns": each, "tracer_ns": time, "wall_ns": log.wall_ns},
        lines=log.steps.filter(pl.col("step_ns") <= each)["line"]
        .drop_nulls()
        .sort()[:MOST]
        .to_list(),
        saving=Range(time, log.wall_ns),
        advice=TRACER_DOMINATES.advice,
    )


TRACER_DOMINATES: Final = Rule(
    code="tracer-dominates",
    title="Most of the log's time is the tracer's.",
    looks_for="Logs of strace in which the shortest times between two calls of a thread (the tenth"
    " percentile), for all calls, make up half of the time or more: strace stops a task twice for"
    " each call. Times are those of a traced program then.",
    advice="Trace fewer calls, and let the others run freely: strace --seccomp-bpf -f -e"
    " trace=%file,%desc,%process; or record with ftrace.",
    find=tracer_dominates,
    thresholds=(STEADY, FEW),
)


def _coarse(tables: Tables) -> pl.DataFrame:
    return (
        tables.kinds.filter(pl.col("timed") > 0)
        .group_by("source")
        .agg(pl.col("timed").sum(), pl.col("whole_seconds").all())
        .filter(pl.col("whole_seconds"), pl.col("timed") >= COARSE.value)
    )


def wrong_clock(log: Log) -> Iterator[Finding]:
    """Find logs whose times are whole seconds."""
    rows = log.chosen(_coarse)
    if rows.is_empty():
        return
    events = total(rows, "timed")
    yield Finding(
        weight=_LOW,
        evidence=f"all {plural(events, 'event')} have times in whole seconds",
        numbers={"events": events},
        lines=log.lines_where(pl.col("ts").is_not_null()),
        advice=WRONG_CLOCK.advice,
    )


WRONG_CLOCK: Final = Rule(
    code="wrong-clock",
    title="The times of the log are too coarse.",
    looks_for="Logs whose times are all whole seconds, as strace -t writes them: what happened"
    " within one, and what waited for what, is not in the log.",
    advice="Record with strace -ttt (or -tt), and trace_clock mono or global of ftrace.",
    find=wrong_clock,
    thresholds=(COARSE,),
)
