"""Timers that a process has set for itself, which may end what it waits for."""

import re
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import polars as pl

from tracefast._polars.map_rows import map_rows

# The length of a timer that may end the wait: 0 if the log does not say.
OWN_TIMER: Final = "own_timer_ns"
_SETS: Final = ("alarm", "setitimer", "timer_settime", "timer_settime64")
_CALLS: Final = (*_SETS, "timer_delete")
_KEYS: Final = ("source", "pid")
_MEMBER: Final = r"{}=\{{tv_sec=(\d+), tv_([un])sec=(\d+)\}}"
_VALUE: Final = re.compile(_MEMBER.format("it_value"))
_INTERVAL: Final = re.compile(_MEMBER.format("it_interval"))


class _Timer(NamedTuple):
    begun: int | None
    length: int
    again: bool


def with_own_timers(
    events: pl.LazyFrame, waits: Callable[[pl.LazyFrame], pl.LazyFrame]
) -> pl.LazyFrame:
    """Give waits with the timers that may end those for a signal: what `timeout` waits for.

    The events are read again only if somebody waits for a signal at the end of the log.

    Parameters
    ----------
    events
        The events.
    waits
        Gives their rows of `waits`.
    """
    rows_of_waits = waits(events)

    def add(rows: pl.DataFrame) -> pl.DataFrame:
        lengths = pl.repeat(None, rows.height, dtype=pl.Int64, eager=True).alias(OWN_TIMER)
        waiting = (pl.col("on") == "signal") & (pl.col("verdict") == "waiting")
        at = rows.select(waiting.fill_null(value=False)).to_series().arg_true()
        if not at.is_empty():
            chosen = rows[at]
            timers = _timers(events, chosen)
            of_them = [
                _pending(timers.get((row["source"], row["pid"]), {}), row)
                for row in chosen.select(
                    *_KEYS, pl.col("ts").cast(pl.Int64), "open_ns", "dur_ns"
                ).iter_rows(named=True)
            ]
            lengths = lengths.scatter(at, pl.Series(of_them, dtype=pl.Int64))
        return rows.with_columns(lengths)

    return map_rows(rows_of_waits, add, {**rows_of_waits.collect_schema(), OWN_TIMER: pl.Int64()})


def _timers(events: pl.LazyFrame, waiting: pl.DataFrame) -> dict[Any, dict[str, _Timer]]:
    """Give the timers that processes have at the end of the log."""
    name, source = (pl.col(each).cast(pl.String) for each in ("name", "source"))
    calls = (
        events.filter(
            pl.col("kind").cast(pl.String) == "syscall",
            name.is_in(_CALLS),
            pl.col("pid").is_in(waiting["pid"].drop_nulls().unique().to_list()),
            pl.col("errno").is_null(),
        )
        .select(source, "pid", name, pl.col("ts").cast(pl.Int64), pl.col("args").cast(pl.String))
        .collect()
    )
    timers: dict[Any, dict[str, _Timer]] = {}
    for log, pid, call, ts, args in calls.iter_rows():
        of_process = timers.setdefault((log, pid), {})
        first = (args or "").split(",")[0].strip()
        # alarm and setitimer(ITIMER_REAL) set the same timer.
        which = "ITIMER_REAL" if call == "alarm" else first
        timer = None if call == "timer_delete" else _timer(call, ts, args or "")
        of_process.pop(which, None)
        if timer is not None:
            of_process[which] = timer
    return timers


def _timer(call: str, ts: int | None, args: str) -> _Timer | None:
    """Read what a call sets; None if it stops the timer, or the log does not show the value."""
    if call == "alarm":
        seconds = args.strip()
        number = int(seconds) if seconds.isdecimal() else 0
        return _Timer(ts, number * 1_000_000_000, again=False) if number else None
    length = _nanoseconds(_VALUE.search(args))
    if not length:
        return None
    again = bool(_nanoseconds(_INTERVAL.search(args)))
    return _Timer(ts, 0 if "TIMER_ABSTIME" in args else length, again)


def _nanoseconds(found: re.Match[str] | None) -> int:
    if found is None:
        return 0
    return int(found[1]) * 1_000_000_000 + int(found[3]) * (1000 if found[2] == "u" else 1)


def _pending(timers: dict[str, _Timer], row: dict[str, Any]) -> int | None:
    """Give the length of a timer that had not ended when the log says last that the wait did."""
    waited = row["open_ns"] if row["open_ns"] is not None else row["dur_ns"]
    until = None if row["ts"] is None else row["ts"] + (waited or 0)
    for timer in timers.values():
        if timer.begun is None or until is None or not timer.length or timer.again:
            return timer.length
        if timer.begun + timer.length > until:
            return timer.length
    return None
