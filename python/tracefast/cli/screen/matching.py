"""Choose rows of a table by a pattern, and note what the choice leaves out."""

from fnmatch import fnmatchcase
from typing import Final

from tracefast.cli.command_line.request import Request
from tracefast.cli.messages.hints import NO_PHASE
from tracefast.cli.text.escaping import printable
from tracefast.cli.text.rows import Rows, where

# What a report prints that the choice of rows has left empty.
NOTHING_MATCHES: Final = "Nothing matches.\n"
# Rows among which what was meant by a pattern is looked for.
_COMPARED: Final = 10_000


def filtered_rows(rows: Rows, request: Request, match: str | None, *columns: str) -> Rows:
    """Keep the rows that match a pattern and a condition.

    Parameters
    ----------
    rows
        The rows; those of a frame of polars where there is a condition.
    request
        What was asked for: the condition.
    match
        A pattern that one of the columns has to match; None for all rows.
    columns
        The columns to match.
    """
    kept = matching_rows(rows, request, match, *columns)
    if request.where is None:
        return kept
    from tracefast.cli.screen.result_table import rows_where

    return rows_where(kept, request.where)


def matching_rows(rows: Rows, request: Request, match: str | None, *columns: str) -> Rows:
    """Keep the rows in which one of the columns matches a pattern; note it if none does.

    Parameters
    ----------
    rows, request, match, columns
        As for `filtered_rows`.
    """
    kept = take_matching(rows, match, *columns)
    if match is not None and len(rows) and not len(kept):
        near = _nearest(rows, match, *columns)
        text = f"note: nothing matches --match {printable(match)}"
        request.note(text if near is None else f"{text}; the nearest is {printable(near)}")
    return kept


def without_mentioned(rows: Rows) -> tuple[Rows, int]:
    """Leave out tasks that are only mentioned, and say how many; where all are, they stay.

    As :func:`tracefast.analysis.processes.only_mentioned`, which needs polars.
    """
    names = ("calls", "children", "image", "ppid", "kind", "ts_end")
    own = [
        row
        for row, (calls, children, *known) in enumerate(rows.records(*names))
        if calls or children or any(value is not None for value in known)
    ]
    return (rows.take(own), len(rows) - len(own)) if own else (rows, 0)


def take_matching(rows: Rows, pattern: str | None, *columns: str) -> Rows:
    """Keep the rows in which one of the columns matches a pattern: whole, or its last component."""
    if pattern is None:
        return rows
    hits = [[matches(value, pattern) for value in rows.values(column)] for column in columns]
    return rows.take(where(any(row) for row in zip(*hits, strict=True)))


def _nearest(rows: Rows, pattern: str, *columns: str) -> str | None:
    """Give the value that is most like a pattern; None if nothing is."""
    from difflib import get_close_matches

    values = [value for name in columns for value in rows.values(name)[:_COMPARED] if value]
    by_name = {value.rpartition("/")[2]: value for value in reversed(values)}
    wanted = pattern.rpartition("/")[2]
    found = get_close_matches(wanted, by_name, n=1) or get_close_matches(
        wanted.replace("*", ""), by_name, n=1
    )
    return by_name[found[0]] if found else None


def matches(name: str | None, pattern: str) -> bool:
    """Say whether a name matches a pattern: whole, or its last component."""
    if name is None:
        return False
    return fnmatchcase(name, pattern) or fnmatchcase(name.rpartition("/")[2], pattern)


def note_without_phases(rows: Rows, request: Request) -> None:
    """Say what to do if a table by phase has none.

    Parameters
    ----------
    rows
        The table, before rows are filtered.
    request
        What was asked for: outside of a time window, there may be phases.
    """
    if not request.in_part and all(name is None for name in rows.values("phase")):
        request.note(NO_PHASE)
