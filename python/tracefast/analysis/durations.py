"""Whether a log says how long calls took. Without polars, as some commands start without it."""

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Final

from tracefast import _core

if TYPE_CHECKING:
    import polars as pl

# If less of the calls have a duration, sums are partial. Without -T, a log of strace has those of
# the calls that it splits over two lines: in a busy one, of more than half of all.
LEAST_TIMED: Final = 0.9
# Tables whose times are made up of durations of calls, but for those columns that come from the
# times of events.
OF_DURATIONS: Final = ("errors", "files", "forks", "processes", "syscalls", "waits")
FROM_EVENTS: Final = ("lifetime_ns", "exec_gap_ns", "wall_ns")


def timed_calls(rows: Iterable[tuple[str, int, int, int]]) -> tuple[int, int]:
    """Count the calls that have a duration, and those that should.

    Calls that end their task have none, and neither have those that the log ends in.

    Parameters
    ----------
    rows
        Of rows of `tracefast.syscalls`: `name`, `calls`, `unfinished`, `timed`.

    Examples
    --------
    >>> timed_calls([("read", 5, 1, 3), ("exit_group", 2, 0, 0)])
    (3, 4)
    """
    ends = set(_core.syscalls_that("ends"))
    calls = timed = 0
    for name, each, unfinished, known in rows:
        if name not in ends:
            calls += each - unfinished
            timed += known
    return timed, calls


def timed_share(have: Collection[str]) -> "pl.Expr":
    """Give the share of the calls that returned, among events, which have a duration.

    Null where there is no such call, or the events lack a column that says so.

    Parameters
    ----------
    have
        The columns of the events.
    """
    import polars as pl

    if not {"kind", "ret", "dur_ns"} <= set(have):
        return pl.lit(None, pl.Float64)
    returned = (pl.col("kind").cast(pl.String) == "syscall") & pl.col("ret").is_not_null()
    return pl.col("dur_ns").is_not_null().filter(returned).mean()
