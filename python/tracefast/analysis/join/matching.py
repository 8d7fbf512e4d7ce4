"""Which call of ftrace's log is which of strace's."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple

import polars as pl

from tracefast.analysis.join.clock import Clock, anchors, clock_of
from tracefast.analysis.join.rows import PART, Rows
from tracefast.error_hints import error_with_hint

# Their results are numbers of tasks, which differ between namespaces.
_RETURN_TASKS: Final = (
    *("fork", "vfork", "clone", "clone3", "wait4", "waitid", "set_tid_address"),
    *("getpid", "gettid", "getppid", "getpgrp", "getpgid", "getsid", "setsid"),
)
# Both logs print microseconds at least.
_ROUNDING_NS: Final = 2_000
# What a call of strace takes without the time of the call itself, where the log does not say.
_SLACK_NS: Final = 100_000
# Of the calls that both logs could show, this share at least must be the same.
_LEAST_SHARE: Final = 0.5
# How far the clocks of two processors may be apart.
_SKEW_NS: Final = 50_000_000
# A thread of ftrace is that of a task if this share of the task's calls is its own.
_VOTES: Final = 0.6


@dataclass(frozen=True)
class Matches:
    """Calls that both logs show.

    Attributes
    ----------
    pairs
        One row per pair: `row` and `frow`, the rows of both; `residual`, by how much the middles
        of the two are apart, in nanoseconds; `dur`, what strace's call took; and the columns of
        strace's calls that were asked for.
    threads
        `who` and `ftid`, strace's tasks and ftrace's threads; only those of pairs.
    clock
        How strace's clock is read on ftrace's.
    """

    pairs: Rows
    threads: pl.DataFrame
    clock: Clock


def matched(strace: Rows, ftrace: Rows, folder: Path, more: Iterable[str] = ()) -> Matches:
    """Match calls.

    strace is told of a call before the kernel starts it and after it has ended, so the call of
    ftrace is inside that of strace, has its name and its result, and is in the same thread. Threads
    are those that share sequences of calls, as process ids differ between namespaces.

    Parameters
    ----------
    strace, ftrace
        The calls of both logs.
    folder
        For files that are needed as long as the result.
    more
        Columns of strace's calls to keep.

    Raises
    ------
    Error
        The logs are not of one run.
    """
    found = anchors(strace, ftrace)
    if found.is_empty():
        raise _unrelated("no sequence of calls with the same names and results is in both")
    clock = clock_of(found)
    tolerance = max(int(found["slack"].median() or 0), _SLACK_NS)  # type: ignore[arg-type]
    threads = _threads(found, strace, ftrace, clock, tolerance)
    times = pl.col("enter").min().alias("begin"), pl.col("enter").max().alias("end")
    shown = ftrace.all.group_by("tid").agg(times).collect()
    names = ftrace.all.select(pl.col("name").unique()).collect()["name"]
    near = possible = 0
    parts: list[Path] = []
    before: _Before | None = None
    of_tasks = pl.DataFrame(schema=threads.schema)
    for timed, other in _windows(strace, ftrace, clock, tolerance):
        known = timed.join(threads, on="who")
        possible += _shown_by_both(known, shown, names)
        before = before or _Before.nothing(known, other)
        pairs, fitting = _pairs_of(known, other, before, tolerance)
        near += fitting
        before = before.then(known, other, pairs)
        kept = known.select("row", (pl.col("exit") - pl.col("enter")).alias("dur"), *more)
        file = folder / f"pairs-{len(parts)}.parquet"
        pairs.select("row", "frow", "residual").join(kept, on="row").write_parquet(
            file, compression="lz4"
        )
        parts.append(file)
        of_tasks = pl.concat([of_tasks, known.join(pairs, on="row").select(threads.columns)])
        of_tasks = of_tasks.unique()
    if near < _LEAST_SHARE * possible or not near:
        raise _unrelated(
            f"of {possible:,} calls that both could show, {near:,} have the same name and"
            " result at the same time"
        )
    return Matches(
        Rows(pl.scan_parquet(parts, glob=False), folder / "pairs.parquet"), of_tasks, clock
    )


def _windows(
    strace: Rows, ftrace: Rows, clock: Clock, tolerance: int
) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
    """Give strace's calls part by part, on ftrace's clock, and ftrace's calls of the same time."""
    enter = strace.all.select("enter").collect()["enter"].sort()
    bounds = [*enter.gather_every(PART).unique(maintain_order=True), enter[-1] + 1]
    margin = 2 * _SKEW_NS + tolerance
    for first, end in pairwise(bounds):
        timed = _timed(strace.between("enter", first, end), clock)
        times = timed["enter"].sort()
        yield timed, ftrace.between("enter", times[0] - margin, times[-1] + margin)


class _Before(NamedTuple):
    """The end of the windows before: the last pair of each task, and what came after it."""

    known: pl.DataFrame
    """Strace's calls of these pairs."""
    other: pl.DataFrame
    """Ftrace's calls of their threads from these pairs on."""
    pairs: pl.DataFrame
    """`who`, `ftid`, `row` and `frow`."""
    taken: pl.DataFrame
    """`frow` of all pairs of the window, which the next one may have, too."""

    @classmethod
    def nothing(cls, known: pl.DataFrame, other: pl.DataFrame) -> "_Before":
        """Give what is before the first window."""
        pairs = known.clear().select("who", "ftid", "row", pl.col("row").alias("frow"))
        return cls(known.clear(), other.clear(), pairs, pairs.select("frow"))

    def then(self, known: pl.DataFrame, other: pl.DataFrame, pairs: pl.DataFrame) -> "_Before":
        """Take the end of a window, and what is older of tasks that have no pair in it."""
        ends = known.join(pairs.select("row", "frow"), on="row").sort("who", "strace_enter", "row")
        known, other = self.with_window(known, other)
        last = pl.concat([self.pairs, ends.select(self.pairs.columns)]).unique(
            "who", keep="last", maintain_order=True
        )
        start = other.select(pl.col("row").alias("frow"), pl.col("enter").alias("since"))
        since = last.join(start, on="frow").select(pl.col("ftid").alias("tid"), "since")
        left = other.join(since, on="tid").filter(pl.col("enter") >= pl.col("since"))
        again = self.taken.join(other, left_on="frow", right_on="row", how="semi")
        return _Before(
            known.join(last, on="row", how="semi"),
            left.select(other.columns),
            last,
            pl.concat([again, pairs.select("frow")]),
        )

    def with_window(
        self, known: pl.DataFrame, other: pl.DataFrame
    ) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Put the calls of a window after those before it."""
        whole = pl.concat([self.other, other]).unique("row", maintain_order=True)
        return pl.concat([self.known, known]), whole

    def new(self, pairs: pl.DataFrame) -> pl.DataFrame:
        """Leave out pairs of calls that are in a window before."""
        return pairs.join(self.pairs, on="row", how="anti").join(self.taken, on="frow", how="anti")


def _pairs_of(
    known: pl.DataFrame, other: pl.DataFrame, before: _Before, tolerance: int
) -> tuple[pl.DataFrame, int]:
    """Pair the calls of a window; and count those that are paired by their time alone."""
    free = other.join(before.taken, left_on="row", right_on="frow", how="anti")
    pairs = _pairs(known, free, tolerance, by_tid=True)
    if known.is_empty() or other.is_empty():
        return pairs, 0
    found = anchors([known], [other]).filter(pl.col("offset").abs() < _SKEW_NS)
    found = pl.concat([before.pairs, found.select(before.pairs.columns)])
    known, other = before.with_window(known, other)
    ordered = before.new(_in_order(known, other, found))
    others = pairs.join(ordered, on="row", how="anti").join(ordered, on="frow", how="anti")
    both = pl.concat([ordered, others])
    between = _between(known, other, pl.concat([both, before.pairs], how="diagonal"))
    return pl.concat([both, before.new(between)]).sort("row"), pairs.height


def _unrelated(why: str) -> Exception:
    return error_with_hint(
        f"the logs do not match: {why}",
        "give the logs of one run, recorded at the same time: tracefast join A.strace T.ftrace",
    )


def _timed(strace: pl.DataFrame, clock: Clock) -> pl.DataFrame:
    """Add the times on ftrace's clock, and the end of calls whose duration is not in the log."""
    timed = (
        strace.sort("enter")
        .join_asof(
            clock.table.select("enter", pl.col("enter").alias("known_at"), apart="offset"),
            on="enter",
            strategy="nearest",
        )
        .with_columns(
            pl.col("apart")
            + ((pl.col("enter") - pl.col("known_at")).cast(pl.Float64) * clock.slope).cast(pl.Int64)
        )
    )
    last = pl.col("enter").shift(-1).over("who")
    return timed.with_columns(
        pl.col("enter").alias("strace_enter"),
        (pl.col("enter") - pl.col("apart")).alias("enter"),
        (pl.coalesce("exit", last) - pl.col("apart")).alias("limit"),
        (pl.col("exit") - pl.col("apart")).alias("exit"),
    )


def _threads(
    found: pl.DataFrame, strace: Rows, ftrace: Rows, clock: Clock, tolerance: int
) -> pl.DataFrame:
    """Find ftrace's thread of each task of strace."""
    by_sequence = _most(found.group_by("who", "ftid").len("votes"))
    calls = strace.all.group_by("who").agg(pl.len().alias("calls"), pl.col("tid").first()).collect()
    left = calls.join(by_sequence, on="who", how="anti")
    if left.is_empty():
        return by_sequence.select("who", "ftid")
    named = by_sequence.join(calls, on="who")
    if (named["tid"] == named["ftid"]).all() and not named.is_empty():
        # Both logs are of one namespace.
        threads = ftrace.all.select(pl.col("tid").unique()).collect()
        same = left.join(threads, on="tid", how="semi")
        return pl.concat(
            [by_sequence.select("who", "ftid"), same.select("who", pl.col("tid").alias("ftid"))]
        )
    # Short ones, by the time of their calls.
    taken = by_sequence["ftid"].unique()
    votes = pl.DataFrame(schema={"who": pl.UInt64, "ftid": pl.Int32, "votes": pl.UInt32})
    for timed, other in _windows(strace, ftrace, clock, tolerance):
        rows = timed.join(left.select("who"), on="who", how="semi")
        others = other.filter(~pl.col("tid").is_in(taken.implode()))
        voted = _pairs(rows, others, tolerance, by_tid=False).join(
            other.select(pl.col("row").alias("frow"), pl.col("tid").alias("ftid")), on="frow"
        )
        votes = pl.concat([votes, voted.group_by("who", "ftid").len("votes")])
    summed = votes.group_by("who", "ftid").agg(pl.col("votes").sum())
    by_time = _most(summed).join(left, on="who").filter(pl.col("votes") >= _VOTES * pl.col("calls"))
    return pl.concat([by_sequence.select("who", "ftid"), by_time.select("who", "ftid")])


def _most(votes: pl.DataFrame) -> pl.DataFrame:
    return votes.sort("votes", "ftid", descending=[True, False]).unique(
        "who", keep="first", maintain_order=True
    )


def _pairs(
    timed: pl.DataFrame, ftrace: pl.DataFrame, tolerance: int, *, by_tid: bool
) -> pl.DataFrame:
    """Pair each call with the one of the same name that is nearest in time, if it fits."""
    # Of calls without an end the entries are compared.
    ends = pl.col("exit").is_not_null()
    other = ftrace.select(
        pl.col("tid").alias("ftid"),
        "name",
        pl.col("row").alias("frow"),
        pl.col("ret").alias("fret"),
        pl.col("errno").alias("ferrno"),
        pl.col("enter").alias("fenter"),
        pl.col("exit").alias("fexit"),
    )
    keys = ["ftid", "name"] if by_tid else ["name"]
    halves = []
    for whole in (True, False):
        rows = timed.filter(ends if whole else ~ends)
        middle = _middle("enter", "exit") if whole else pl.col("enter")
        fmiddle = _middle("fenter", pl.coalesce("fexit", "fenter")) if whole else pl.col("fenter")
        halves.append(
            rows.with_columns(middle.alias("at"))
            .sort("at")
            .join_asof(
                other.with_columns(fmiddle.alias("fat")).sort("fat"),
                left_on="at",
                right_on="fat",
                by=keys,
                strategy="nearest",
                check_sortedness=False,
            )
        )
    rows = pl.concat([half.select(sorted(half.columns)) for half in halves])
    return (
        rows.filter(_fits(tolerance))
        .with_columns((pl.col("at") - pl.col("fat")).alias("residual"))
        .sort(pl.col("residual").abs(), "row")
        .unique("frow", keep="first", maintain_order=True)
        .sort("row")
        .select("row", "frow", "who", "residual")
    )


def _in_order(known: pl.DataFrame, ftrace: pl.DataFrame, found: pl.DataFrame) -> pl.DataFrame:
    """Pair calls by their order before and after those that must be the same.

    The clocks of processors may differ for a moment, by more than a call takes.
    """
    key = ["ftid", "name"]
    calls = known.sort("who", "strace_enter", "row").with_columns(
        pl.int_range(pl.len()).over("who").alias("nth")
    )
    other = ftrace.sort("tid", "enter", "row").select(
        pl.col("tid").alias("ftid"), "name", pl.col("ret").alias("fret"),
        pl.col("errno").alias("ferrno"), pl.col("row").alias("frow"),
        pl.col("enter").alias("fenter"), pl.col("exit").alias("fexit"),
        pl.int_range(pl.len()).over("tid").alias("fnth"),
    )  # fmt: skip
    moved = (
        found.select("who", "ftid", "row", "frow")
        .join(other.select("frow", "fnth"), on="frow")
        .join(calls.select("row", "ftid", "nth"), on=["row", "ftid"])
        .select("row", (pl.col("fnth") - pl.col("nth")).alias("moved"))
    )
    placed = calls.join(moved, on="row", how="left", maintain_order="left")
    near = [pl.col("moved").forward_fill().over("who"), pl.col("moved").backward_fill().over("who")]
    possible = pl.concat(
        placed.with_columns((pl.col("nth") + by).alias("fnth")).join(other, on=[*key, "fnth"])
        for by in near
    )
    residual = _middle("enter", "limit") - _middle("fenter", pl.coalesce("fexit", "fenter"))
    return (
        possible.filter(_same_result())
        .with_columns(pl.coalesce(residual, pl.col("enter") - pl.col("fenter")).alias("residual"))
        .filter(pl.col("residual").abs() < _SKEW_NS)
        .unique("row", keep="first", maintain_order=True)
        .unique("frow", keep="first", maintain_order=True)
        .select("row", "frow", "who", "residual")
    )


def _between(known: pl.DataFrame, ftrace: pl.DataFrame, pairs: pl.DataFrame) -> pl.DataFrame:
    """Pair calls that are left after the same pair in both logs, in their order.

    The clocks of processors may differ for a moment, so that a call of ftrace is not inside that of
    strace.
    """
    left = (
        known.sort("who", "strace_enter", "row")
        .join(pairs.select("row", pl.col("row").alias("pair")), on="row", how="left")
        .with_columns(pl.col("pair").forward_fill().over("who").alias("after"))
        .filter(pl.col("pair").is_null())
    )
    other = (
        ftrace.sort("row")
        .join(
            pairs.select("frow", pl.col("row").alias("pair")),
            left_on="row",
            right_on="frow",
            how="left",
        )
        .with_columns(pl.col("pair").forward_fill().over("tid").alias("after"))
        .filter(pl.col("pair").is_null())
        .select(
            pl.col("tid").alias("ftid"), "after", "name", "ret", "errno",
            pl.col("row").alias("frow"), pl.col("enter").alias("fenter"),
        )
    )  # fmt: skip
    key = ["ftid", "after", "name", "ret", "errno"]
    nth = pl.int_range(pl.len()).over(key).alias("nth")
    both = (
        left.drop_nulls("after")
        .with_columns(nth)
        .join(other.drop_nulls("after").with_columns(nth), on=[*key, "nth"], nulls_equal=True)
    )
    residual = (pl.col("enter") - pl.col("fenter")).alias("residual")
    rows = both.select("row", "frow", "who", residual)
    return rows.filter(pl.col("residual").abs() < _SKEW_NS)


def _middle(enter: str, exit_: str | pl.Expr) -> pl.Expr:
    end = pl.col(exit_) if isinstance(exit_, str) else exit_
    return pl.col(enter) + (end - pl.col(enter)) // 2


def _fits(tolerance: int) -> pl.Expr:
    """Say whether a call of ftrace can be that of strace beside it."""
    fexit = pl.coalesce("fexit", "fenter")
    inside = (fexit >= pl.col("enter") - tolerance) & (
        pl.col("fenter") <= pl.coalesce("limit", "fenter") + tolerance
    )
    shorter = (pl.col("fexit") - pl.col("fenter")) <= (
        pl.col("exit") - pl.col("enter") + _ROUNDING_NS
    )
    return pl.col("frow").is_not_null() & inside & shorter.fill_null(value=True) & _same_result()


def _same_result() -> pl.Expr:
    """Say whether both logs show the same result, as far as they show it."""
    same = pl.col("ret").eq_missing(pl.col("fret")) & pl.col("errno").eq_missing(pl.col("ferrno"))
    unknown = pl.col("ret").is_null() | pl.col("fret").is_null()
    return same | unknown | pl.col("name").is_in(_RETURN_TASKS)


def _shown_by_both(known: pl.DataFrame, shown: pl.DataFrame, names: pl.Series) -> int:
    """Count the calls of known threads in the time that both logs cover.

    ftrace's log may start later in a thread, and have no call of a name that was not recorded.
    """
    return (
        known.join(shown, left_on="ftid", right_on="tid")
        .filter(
            pl.col("enter").is_between(pl.col("begin"), pl.col("end")),
            pl.col("name").is_in(names.implode()),
        )
        .height
    )
