"""Print the table of `tracefast syscalls`, and a line that sums it up."""

import textwrap

import polars as pl

from tracefast import _core
from tracefast.cli.command_line.request import Request
from tracefast.cli.output.form import Format
from tracefast.cli.output.terminal import is_terminal_table, terminal_width
from tracefast.cli.screen.result_table import filter_rows, print_table
from tracefast.cli.text import units
from tracefast.quantities import plural

# What a table in text shows; text last, as it may be long.
_MAIN = (
    "total_ns",
    "open_ns",
    "total_share",
    "wait_ns",
    "work_ns",
    "wall_ns",
    "calls",
    "errors",
    "unfinished",
    "p50_ns",
    "p99_ns",
    "max_ns",
    "moved_bytes",
    "pid",
    "phase",
    "name",
    "image",
)
# With fewer calls that have a duration, sums are said to be partial.
_MOST = 0.9
# What narrow terminals do without, the first one first.
_SPARE = ("wall_ns", "p50_ns", "moved_bytes", "p99_ns", "work_ns", "max_ns")


def print_syscalls_table(table: pl.DataFrame, request: Request, *, match: str | None) -> None:
    """Print the table, and on a terminal a line below that sums it up.

    Parameters
    ----------
    table
        What :func:`tracefast.syscalls` gives.
    request
        What was asked for.
    match
        A pattern for names.
    """
    if missing := _missing_times(table):
        request.warn(missing)
    table = filter_rows(table, request, match, "name")
    shown = table
    if request.form is Format.TABLE and not request.wide:
        work = (pl.col("total_ns") - pl.col("wait_ns")).alias("work_ns")
        shown = table.with_columns(work, moved_bytes="bytes")
    print_table(shown, request, main=_MAIN, spare=() if request.wide else _SPARE)
    if is_terminal_table(request.form, request.output):
        request.note(textwrap.fill(summary(table), terminal_width()))


def _missing_times(table: pl.DataFrame) -> str | None:
    """Say how many calls have a duration, if many have none.

    Calls that end their task have none, and neither have those that the log ends in. Without -T a
    log of strace has the durations of the calls that it splits over two lines: those that waited.
    """
    ended = table.filter(~pl.col("name").is_in(_core.syscalls_that("ends")))
    calls = int(ended["calls"].sum()) - int(ended["unfinished"].sum())
    timed = int(ended["timed"].sum())
    if timed >= calls * _MOST:
        return None
    if not timed:
        return "the log has no durations of calls: record with strace -T"
    return (
        f"the log has durations of only {units.count(timed)} of {units.count(calls)} calls: "
        "record with strace -T"
    )


def summary(table: pl.DataFrame) -> str:
    """Sum up all rows of the table in a line.

    Examples
    --------
    >>> from tracefast.analysis.syscalls import columns
    >>> schema = columns()
    >>> counts = {"calls": 3, "timed": 3, "errors": 1, "unfinished": 0}
    >>> row = {"name": "read", "total_ns": 4_000_000, "wait_ns": 1_000_000} | counts
    >>> summary(pl.DataFrame([dict.fromkeys(schema) | row], schema=schema))
    '3 calls took 4.0 ms: 25 % waiting, 75 % working; 1 error'
    >>> summary(pl.DataFrame([dict.fromkeys(schema) | row | {"timed": 1}], schema=schema))
    '3 calls (1 timed) took 4.0 ms: 25 % waiting, 75 % working; 1 error'
    """

    def total(name: str) -> int:
        return int(table[name].sum() or 0)

    text = plural(total("calls"), "call")
    if ns := total("total_ns"):
        if total("timed") < total("calls") * _MOST:
            text += f" ({units.count(total('timed'))} timed)"
        text += f" took {units.duration(ns)}"
        waited = total("wait_ns")
        # A call that may have done either is in neither part.
        known = _total_ns(table.filter(pl.col("wait_ns").is_not_null()))
        parts = [(waited, "waiting"), (known - waited, "working"), (ns - known, "unknown")]
        text += ": " + ", ".join(
            f"{units.share(part / ns)} {what}" for part, what in parts if part > 0
        )
    text += f"; {plural(total('errors'), 'error')}"
    if unfinished := total("unfinished"):
        text += f"; {units.count(unfinished)} unfinished"
        if open_ns := total("open_ns"):
            text += f", at least {units.duration(open_ns)}"
    return text


def _total_ns(table: pl.DataFrame) -> int:
    """Give the sum of all times of a table, in nanoseconds."""
    return int(table["total_ns"].sum() or 0)
