"""The table of `tracefast syscalls`: asked for, filtered, summed up in a line."""

import textwrap

import polars as pl

from tracefast import _core
from tracefast.analysis.syscalls import By, columns
from tracefast.analysis.syscalls import syscalls as question
from tracefast.cli.command_line.options import Format
from tracefast.cli.command_line.request import Request
from tracefast.cli.inputs.event_sources import answer
from tracefast.cli.output.write import on_terminal, terminal_width
from tracefast.cli.screen.result_table import check_columns, chosen, finish
from tracefast.cli.text import units

# What a table in text shows; text last, as it may be long.
_MAIN = (
    "total_ns",
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
    "name",
    "image",
)
_USUALLY_TIMED = 0.9
# What narrow terminals do without, the first one first.
_SPARE = ("wall_ns", "p50_ns", "unfinished", "moved_bytes", "p99_ns", "work_ns", "max_ns")


def show(
    request: Request,
    *,
    by: By | None,
    match: str | None,
) -> bool:
    """Write the table; say whether all inputs could be read."""
    check_columns(request, columns(by))
    table, complete = answer(request, lambda events: question(events, by=by))
    if table is None:
        return complete
    # Inputs that were asked one by one are in order each, not together.
    table = table.sort("total_ns", descending=True, nulls_last=True, maintain_order=True)
    if untold := _untold(table):
        request.warn(untold)
    table = chosen(table, request, match, "name")
    shown = table
    if request.form is Format.TABLE and not request.wide:
        work = (pl.col("total_ns") - pl.col("wait_ns")).alias("work_ns")
        shown = table.with_columns(work, moved_bytes="bytes")
    finish(shown, request, main=_MAIN, spare=() if request.wide else _SPARE)
    if on_terminal(request.form, request.output):
        request.note(textwrap.fill(summary(table), terminal_width()))
    return complete


def _untold(table: pl.DataFrame) -> str | None:
    """Say how many calls have no duration, if that is more than a few.

    Those that end their task have none, nor have those that a log ends with. Without -T a log of
    strace has the durations of calls that it split over two lines, which are those that waited.
    """
    ended = table.filter(~pl.col("name").is_in(_core.syscalls_that("ends")))
    calls = int(ended["calls"].sum()) - int(ended["unfinished"].sum())
    timed = int(ended["timed"].sum())
    if timed >= calls * _USUALLY_TIMED:
        return None
    if not timed:
        return "the log has no times of calls: record with strace -T"
    return (
        f"the log has times of {units.count(timed)} calls only, of {units.count(calls)}: "
        "record with strace -T"
    )


def summary(table: pl.DataFrame) -> str:
    """Say in a line what all rows of the table amount to.

    Examples
    --------
    >>> schema = columns()
    >>> counts = {"calls": 3, "timed": 3, "errors": 1, "unfinished": 0}
    >>> row = {"name": "read", "total_ns": 4_000_000, "wait_ns": 1_000_000} | counts
    >>> summary(pl.DataFrame([dict.fromkeys(schema) | row], schema=schema))
    '3 calls took 4.0 ms: 25 % waiting, 75 % working; 1 error'
    >>> summary(pl.DataFrame([dict.fromkeys(schema) | row | {"timed": 1}], schema=schema))
    '3 calls, of which 1 took 4.0 ms: 25 % waiting, 75 % working; 1 error'
    """

    def total(name: str) -> int:
        return int(table[name].sum() or 0)

    def several(number: int, what: str) -> str:
        return f"{units.count(number)} {what}{'' if number == 1 else 's'}"

    text = several(total("calls"), "call")
    if ns := total("total_ns"):
        if total("timed") < total("calls") * _USUALLY_TIMED:
            text += f", of which {units.count(total('timed'))}"
        text += f" took {units.duration(ns)}"
        waited = total("wait_ns")
        # What cannot be told from one another is in neither part.
        known = total_of(table.filter(pl.col("wait_ns").is_not_null()))
        parts = [(waited, "waiting"), (known - waited, "working"), (ns - known, "unknown")]
        text += ": " + ", ".join(
            f"{units.share(part / ns)} {what}" for part, what in parts if part > 0
        )
    text += f"; {several(total('errors'), 'error')}"
    if unfinished := total("unfinished"):
        text += f"; {units.count(unfinished)} unfinished"
    return text


def total_of(table: pl.DataFrame) -> int:
    """Give the sum of all times of a table, in nanoseconds."""
    return int(table["total_ns"].sum() or 0)
