"""Print the table of `tracefast syscalls`, and a line that sums it up."""

from tracefast.analysis.durations import LEAST_TIMED, timed_calls
from tracefast.cli.command_line.request import Request
from tracefast.cli.messages.hints import RECORD_DURATIONS
from tracefast.cli.output.form import Format
from tracefast.cli.output.terminal import is_terminal_table
from tracefast.cli.screen.matching import filtered_rows
from tracefast.cli.screen.print_rows import print_rows
from tracefast.cli.text import units
from tracefast.cli.text.rows import ListRows, Rows, Table, rows_of
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
# What narrow terminals do without, the first one first.
_SPARE = (
    "wall_ns",
    "p50_ns",
    "moved_bytes",
    "p99_ns",
    "work_ns",
    "max_ns",
    "total_share",
    "unfinished",
    "wait_ns",
)


def print_syscalls_table(rows: Rows, request: Request, *, match: str | None) -> None:
    """Print the table, and on a terminal a line below that sums it up.

    Parameters
    ----------
    rows
        What :func:`tracefast.syscalls` gives.
    request
        What was asked for.
    match
        A pattern for names.
    """
    # Each log is in order, but not all together.
    rows = rows.ordered([_longest_first(*times) for times in rows.records("total_ns", "open_ns")])
    if missing := _missing_times(rows):
        request.warn(missing)
    rows = filtered_rows(rows, request, match, "name")
    shown = rows
    if request.form is Format.TABLE and not request.wide:
        times = rows.records("total_ns", "wait_ns")
        work = [None if None in (total, wait) else total - wait for total, wait in times]
        columns = {name: (rows.kind(name), rows.values(name)) for name in rows.names}
        shown = ListRows(columns | {"work_ns": ("number", work), "moved_bytes": columns["bytes"]})
    print_rows(shown, request, main=_MAIN, spare=() if request.wide else _SPARE)
    if is_terminal_table(request.form, request.output):
        request.note(summary(rows))


def _longest_first(total_ns: int | None, open_ns: int | None) -> tuple[bool, int]:
    """Give the key to sort by: what has no end took at least so long."""
    return total_ns is None and open_ns is None, -(total_ns or 0) - (open_ns or 0)


def _missing_times(rows: Rows) -> str | None:
    """Say how many calls have a duration, if many have none.

    Without -T a log of strace has the durations of the calls that it splits over two lines: those
    that waited.
    """
    timed, calls = timed_calls(rows.records("name", "calls", "unfinished", "timed"))
    if timed >= calls * LEAST_TIMED:
        return None
    if not timed:
        return f"the log has no durations of calls: {RECORD_DURATIONS}"
    some = f"{units.count(timed)} of {units.count(calls)} calls"
    return f"the log has durations of only {some}: {RECORD_DURATIONS}"


def summary(table: Table) -> str:
    """Sum up all rows of the table in a line.

    Examples
    --------
    >>> import polars as pl
    >>> from tracefast.analysis.syscalls import columns
    >>> schema = columns()
    >>> counts = {"calls": 3, "timed": 3, "errors": 1, "unfinished": 0}
    >>> row = {"name": "read", "total_ns": 4_000_000, "wait_ns": 1_000_000} | counts
    >>> summary(pl.DataFrame([dict.fromkeys(schema) | row], schema=schema))
    '3 calls took 4.0 ms: 25 % waiting, 75 % working; 1 error'
    >>> summary(pl.DataFrame([dict.fromkeys(schema) | row | {"timed": 1}], schema=schema))
    '3 calls (1 timed) took 4.0 ms: 25 % waiting, 75 % working; 1 error'
    """
    rows = rows_of(table)

    def total(name: str) -> int:
        return sum(value for value in rows.values(name) if value is not None)

    text = plural(total("calls"), "call")
    if ns := total("total_ns"):
        if total("timed") < total("calls") * LEAST_TIMED:
            text += f" ({units.count(total('timed'))} timed)"
        text += f" took {units.duration(ns)}"
        waited = total("wait_ns")
        # A call that may have done either is in neither part.
        times = rows.records("total_ns", "wait_ns")
        known = sum(total or 0 for total, wait in times if wait is not None)
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
