"""Print the table of `tracefast errors`: a line for each row, searches in words."""

import textwrap
from dataclasses import replace
from typing import Any, Final

import polars as pl

from tracefast.cli.command_line.request import Request
from tracefast.cli.output.form import Format
from tracefast.cli.output.terminal import is_terminal_table, terminal_width
from tracefast.cli.screen.result_table import filter_rows, print_table
from tracefast.cli.text import units
from tracefast.quantities import plural

# What --wide shows.
_SHARE: Final = "failed_share"
_MAIN: Final = ("count", _SHARE, "total_ns", "first_line", "errno", "name", "search", "pattern")
# What narrow terminals do without, the first one first.
_SPARE: Final = ("total_ns",)
# The share has its column on terminals as wide as this. What the columns before the words take
# without it, and with it; the least that is left for words.
_WIDE: Final = 110
_OTHERS: Final = 54
_ALL_OTHERS: Final = 68
_LEAST: Final = 24
# What a search looks for, one and several.
_WANTED: Final = {
    "PATH": ("command", "commands"),
    "ld.so": ("library", "libraries"),
    "import": ("module", "modules"),
    "include": ("header", "headers"),
    "locale": ("locale file", "locale files"),
}
# Lists of the table end here.
_LONGEST: Final = 1_000
_MOST_ERRORS: Final = 3


def print_errors_table(table: pl.DataFrame, request: Request, *, match: str | None) -> None:
    """Print the table, and on a terminal a line below that sums it up.

    Parameters
    ----------
    table
        What :func:`tracefast.errors` gives.
    request
        What was asked for.
    match
        A pattern for programs, calls, errors and paths.
    """
    table = filter_rows(table, request, match, "image", "name", "errno", "pattern")
    if request.form is Format.TABLE and request.wide:
        # The heading of `share` speaks of events.
        table = table.rename({"share": _SHARE})
        if request.sort == "share":
            request = replace(request, sort=_SHARE)
    print_table(
        table, request, main=_MAIN, as_text=error_lines, spare=_SPARE, noun=("kind", "kinds")
    )
    if is_terminal_table(request.form, request.output):
        request.note(textwrap.fill(summary(table), terminal_width()))


def error_lines(rows: pl.DataFrame, width: int | None) -> pl.DataFrame:
    """Give the lines of the table as text: the program by its name, what failed in words.

    Of the folders of a search, a terminal has room for the first ones.
    """
    with_share = width is None or width >= _WIDE
    others = _ALL_OTHERS if with_share else _OTHERS
    limit = None if width is None else max(width - others, _LEAST)
    words = [in_words(row, limit) for row in rows.rows(named=True)]
    kept = [name for name in ("source",) if name in rows.columns]
    return rows.select(
        *kept,
        "count",
        "total_ns",
        *([pl.col("share").alias(_SHARE)] if with_share else []),
        "errno",
        pl.col("name").alias("call"),
        pl.col("image").str.split("/").list.last().alias("program"),
        pl.Series("what", words, dtype=pl.String),
    )


def in_words(row: dict[str, Any], limit: int | None = None) -> str | None:
    """Say what the calls of a row were about.

    Parameters
    ----------
    row
        A row of the table.
    limit
        How long a text about a search may be; None for no limit.

    Examples
    --------
    >>> print(in_words({"search": None, "pattern": "/tmp/*.bin"}))
    /tmp/*.bin
    >>> row = {"search": "import", "wanted": ["a", "b"], "folders": ["/srv", "/usr/lib/python3"]}
    >>> print(in_words(row))
    2 modules in 2 folders: /srv, /usr/lib/python3
    >>> print(in_words(row, 30))
    2 modules in 2 folders: /srv…
    """
    search = row["search"]
    if search is None:
        pattern: str | None = row["pattern"]
        return pattern
    wanted, folders = row["wanted"], row["folders"]
    if search == "prefixes":
        what = wanted[0] if len(wanted) == 1 else _number(wanted, "path", "paths")
        return f"each prefix of {what}"
    one, several = _WANTED[search]
    what = wanted[0] if len(wanted) == 1 else _number(wanted, one, several) if wanted else several
    if len(folders) == 1:
        return f"{what} in {folders[0]}"
    text = f"{what} in {_number(folders, 'folder', 'folders')}: {', '.join(folders)}"
    return text if limit is None or len(text) <= limit else text[: limit - 1].rstrip(" ,:") + "…"


def _number(names: list[str], one: str, several: str) -> str:
    many = "more than " if len(names) >= _LONGEST else ""
    return many + plural(len(names), one, several)


def summary(table: pl.DataFrame) -> str:
    """Sum up all rows of the table in a line.

    Examples
    --------
    >>> from tracefast.analysis.errors.rows import SCHEMA
    >>> row = {"errno": "ENOENT", "count": 40, "total_ns": 2_000_000, "search": "PATH"}
    >>> summary(pl.DataFrame([dict.fromkeys(SCHEMA) | row], schema=SCHEMA))
    '40 calls failed, 2.0 ms: 40 ENOENT; 40 in searches'
    """
    if table.is_empty():
        return "no call failed"
    text = f"{plural(int(table['count'].sum()), 'call')} failed"
    if ns := int(table["total_ns"].sum() or 0):
        text += f", {units.duration(ns)}"
    by_errno = (
        table.group_by("errno").agg(pl.col("count").sum()).sort(["count", "errno"], descending=True)
    )
    shown = [f"{units.count(count)} {errno}" for errno, count in by_errno.iter_rows()]
    rest = len(shown) - _MOST_ERRORS
    text += ": " + ", ".join(shown[:_MOST_ERRORS]) + (f", {rest} other errors" * (rest > 0))
    searched = int(table.filter(pl.col("search").is_not_null())["count"].sum())
    return text + (f"; {units.count(searched)} in searches" if searched else "")
