"""Print the summary that strace -c -w would have printed."""

from typing import Final

import polars as pl

from tracefast.cli.command_line.request import Request
from tracefast.cli.messages.hints import RECORD_DURATIONS
from tracefast.cli.output.form import Format
from tracefast.cli.output.write import write_bytes, write_table
from tracefast.cli.screen.result_table import filter_matching
from tracefast.cli.text.escaped_columns import printable_column

_HEAD: Final = ("% time", "seconds", "usecs/call", "calls", "errors", "syscall")
# The smallest width of each column.
_MIN_WIDTHS: Final = (6, 11, 11, 9, 9, 16)
_NS: Final = 1_000_000_000


def print_strace_summary(counts: pl.DataFrame, request: Request, *, match: str | None) -> None:
    """Print the summary.

    Parameters
    ----------
    counts
        Number of calls and errors and sum of times, by name and number of the system call.
    request
        What was asked for.
    match
        A pattern for names.
    """
    # Each log has rows of its own.
    counts = (
        counts.group_by("name", "number")
        .agg(pl.col("calls", "errors", "timed", "total_ns").sum())
        .sort("total_ns", "number", "name", descending=[True, False, False], nulls_last=True)
    )
    counts = filter_matching(counts, request, match, "name")
    if counts.is_empty():
        request.warn("no system call that returned")
    elif not counts["timed"].sum():
        request.warn(f"the log has no durations of calls: {RECORD_DURATIONS}")
    if request.form is Format.TABLE:
        text = render_summary(counts)
        write_bytes(text.encode(), request.output, clobber=request.clobber)
    else:
        table = summary_table(counts)
        write_table(table, request.form, request.output, [], clobber=request.clobber)


def summary_table(counts: pl.DataFrame) -> pl.DataFrame:
    """Give the columns of the summary, as numbers.

    Examples
    --------
    >>> counts = {"name": ["read"], "calls": [2], "errors": [0], "total_ns": [50_000]}
    >>> summary_table(pl.DataFrame(counts)).rows()
    [(100.0, 5e-05, 25, 2, 0, 'read')]
    """
    whole = _seconds(int(counts["total_ns"].sum()))
    rows = [
        (_percent(ns, whole), _seconds(ns), _usecs(ns, calls), calls, errors, name)
        for name, calls, errors, ns in counts.select("name", "calls", "errors", "total_ns").rows()
    ]
    schema = {
        "time_percent": pl.Float64,
        "seconds": pl.Float64,
        "usecs_per_call": pl.Int64,
        "calls": pl.UInt64,
        "errors": pl.UInt64,
        "syscall": pl.String,
    }
    return pl.DataFrame(rows, schema=schema, orient="row")


def render_summary(counts: pl.DataFrame) -> str:
    """Lay out the summary as strace does since version 5.7: the same widths, rounding and total.

    Empty where no call returned.

    Examples
    --------
    >>> counts = {
    ...     "name": ["read", "close"],
    ...     "calls": [2, 1],
    ...     "errors": [1, 0],
    ...     "total_ns": [50_000, 7_000],
    ... }
    >>> print(render_summary(pl.DataFrame(counts)), end="")
    % time     seconds  usecs/call     calls    errors syscall
    ------ ----------- ----------- --------- --------- ----------------
     87.72    0.000050          25         2         1 read
     12.28    0.000007           7         1           close
    ------ ----------- ----------- --------- --------- ----------------
    100.00    0.000057          19         3         1 total
    """
    if counts.is_empty():
        return ""
    rows = summary_table(
        counts.with_columns(printable_column(counts["name"].cast(pl.String)))
    ).rows()
    whole = _seconds(int(counts["total_ns"].sum()))
    calls, errors = (int(counts[name].sum()) for name in ("calls", "errors"))
    total = (100.0, whole, int(whole / calls * 1e6), calls, errors, "total")
    lines = [_cells(*row) for row in (*rows, total)]
    # strace makes the column of names one wider than they need.
    longest = [max(map(len, column)) for column in zip(*lines, strict=True)]
    longest[-1] = max(len(row[-1]) for row in rows) + 1
    widths = [max(least, found) for least, found in zip(_MIN_WIDTHS, longest, strict=True)]
    rule = " ".join("-" * width for width in widths)
    texts = [_line(_HEAD, widths), rule, *(_line(cells, widths) for cells in lines[:-1])]
    return "\n".join([*texts, rule, _line(lines[-1], widths)]) + "\n"


def _cells(
    percent: float, seconds: float, usecs: int, calls: int, errors: int, name: str
) -> tuple[str, ...]:
    return (
        f"{percent:.2f}",
        f"{seconds:.6f}",
        str(usecs),
        str(calls),
        str(errors or ""),
        name,
    )


def _line(cells: tuple[str, ...], widths: list[int]) -> str:
    numbers = (cell.rjust(width) for cell, width in zip(cells[:-1], widths, strict=False))
    return " ".join([*numbers, cells[-1]])


# strace computes with seconds and nanoseconds, and converts them to double for printing: the order
# of these steps decides the last digit.


def _seconds(ns: int) -> float:
    return ns // _NS + ns % _NS / 1e9


def _percent(ns: int, whole: float) -> float:
    percent = 100.0 * _seconds(ns)
    return percent / whole if percent else percent


def _usecs(ns: int, calls: int) -> int:
    """Give the mean, rounded to nanoseconds, then down to microseconds."""
    return int(_seconds((ns + calls // 2) // calls) * 1e6)
