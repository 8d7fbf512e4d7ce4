"""Print the table of `tracefast errors`: a line for each row, searches in words."""

from collections import Counter
from dataclasses import replace
from typing import Any, Final

from tracefast.cli.command_line.request import Request
from tracefast.cli.output.form import Format
from tracefast.cli.output.terminal import is_terminal_table
from tracefast.cli.screen.matching import filtered_rows
from tracefast.cli.screen.print_rows import print_rows
from tracefast.cli.text import units
from tracefast.cli.text.layout import GAP
from tracefast.cli.text.rows import ListRows, Rows, where
from tracefast.cli.text.table_text import render_table
from tracefast.cli.text.width import cells
from tracefast.quantities import plural

# What --wide shows.
_SHARE: Final = "failed_share"
_MAIN: Final = ("count", _SHARE, "total_ns", "first_line", "errno", "name", "search", "pattern")
# What narrow terminals do without, the first one first.
_SPARE: Final = ("total_ns",)
# The share has its column on terminals as wide as this. The least that is left for words.
_WIDE: Final = 110
_LEAST: Final = 24
# What a search looks for, one and several.
_WANTED: Final = {
    "PATH": ("command", "commands"),
    "ld.so": ("library", "libraries"),
    "import": ("module", "modules"),
    "include": ("header", "headers"),
    "locale": ("locale file", "locale files"),
    "prefixes": ("name", "names"),
}
# Lists of the table end here.
_LONGEST: Final = 1_000
_MOST_ERRORS: Final = 3


def print_errors_table(rows: Rows, request: Request, *, match: str | None) -> None:
    """Print the table, and on a terminal a line below that sums it up.

    Parameters
    ----------
    rows
        What :func:`tracefast.errors` gives.
    request
        What was asked for.
    match
        A pattern for programs, calls, errors and paths.
    """
    rows = filtered_rows(rows, request, match, "image", "name", "errno", "pattern")
    shown = rows
    if request.form is Format.TABLE and request.wide:
        # The heading of `share` speaks of events.
        renamed = {name: _SHARE if name == "share" else name for name in rows.names}
        shown = ListRows(
            {new: (rows.kind(name), rows.values(name)) for name, new in renamed.items()}
        )
        if request.sort == "share":
            request = replace(request, sort=_SHARE)
    print_rows(
        shown, request, main=_MAIN, as_text=error_lines, spare=_SPARE, noun=("kind", "kinds")
    )
    if is_terminal_table(request.form, request.output):
        request.note(summary(rows))


def error_lines(rows: Rows, width: int | None) -> Rows:
    """Give the lines of the table as text: the program by its name, what failed in words.

    Of the folders of a search, a terminal has room for the first ones.
    """
    with_share = width is None or width >= _WIDE
    described = ("search", "pattern", "wanted", "folders")
    records = (dict(zip(described, values, strict=True)) for values in rows.records(*described))
    programs = [image and image.rpartition("/")[2] for image in rows.values("image")]
    kept = [*(("source",) if "source" in rows.names else ()), "count", "total_ns"]
    others = {
        **{name: (rows.kind(name), rows.values(name)) for name in kept},
        **({_SHARE: ("number", rows.values("share"))} if with_share else {}),
        "errno": ("text", rows.values("errno")),
        "call": ("text", rows.values("name")),
        "program": ("text", programs),
    }
    limit = None
    if width is not None:
        text = render_table(ListRows(others), list(others), width)
        limit = max(width - max(map(cells, text.splitlines())) - len(GAP), _LEAST)
    return ListRows({**others, "what": ("text", [in_words(record, limit) for record in records])})


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
    >>> row = {"search": "import", "wanted": [], "folders": ["/usr/bin", "/usr"]}
    >>> print(in_words(row | {"pattern": "*/pyvenv.cfg"}))
    pyvenv.cfg in 2 folders: /usr/bin, /usr
    >>> print(in_words({"search": "prefixes", "wanted": [".git"], "folders": ["/srv/a", "/srv"]}))
    .git in 2 folders: /srv/a, /srv
    >>> print(in_words({"search": "prefixes", "wanted": ["/srv/a/b"], "folders": ["/srv/a"]}))
    each prefix of /srv/a/b
    """
    search = row["search"]
    if search is None:
        pattern: str | None = row["pattern"]
        return pattern
    wanted, folders = row["wanted"], row["folders"]
    paths = [path for path in wanted if "/" in path] if search == "prefixes" else []
    if paths:
        names = len(wanted) - len(paths)
        more = f", and {plural(names, 'name')} in the folders above" if names else ""
        return f"each prefix of {_one_or_number(paths, 'path', 'paths')}{more}"
    what = _one_or_number(wanted, *_WANTED[search]) if wanted else _not_wanted(row)
    if len(folders) == 1:
        return f"{what} in {folders[0]}"
    text = f"{what} in {_number(folders, 'folder', 'folders')}: {', '.join(folders)}"
    return text if limit is None or len(text) <= limit else text[: limit - 1].rstrip(" ,:") + "…"


def _not_wanted(row: dict[str, Any]) -> str:
    """Say what a search looked for that is no module: what Python reads as it starts."""
    name = (row.get("pattern") or "").removeprefix("*/")
    return name if name and "*" not in name else "files of Python itself"


def _one_or_number(names: list[str], one: str, several: str) -> str:
    return names[0] if len(names) == 1 else _number(names, one, several)


def _number(names: list[str], one: str, several: str) -> str:
    many = "more than " if len(names) >= _LONGEST else ""
    return many + plural(len(names), one, several)


def summary(rows: Rows) -> str:
    """Sum up all rows of the table in a line.

    Examples
    --------
    >>> columns = {"errno": "ENOENT", "search": "PATH"}
    >>> numbers = {"count": 40, "total_ns": 2_000_000}
    >>> rows = {name: ("text", [value]) for name, value in columns.items()}
    >>> summary(ListRows(rows | {name: ("number", [value]) for name, value in numbers.items()}))
    '40 calls failed, 2.0 ms: 40 ENOENT; 40 in searches'
    """
    if not len(rows):
        return "no call failed"
    text = f"{plural(sum(rows.values('count')), 'call')} failed"
    if ns := sum(total or 0 for total in rows.values("total_ns")):
        text += f", {units.duration(ns)}"
    by_errno: Counter[str] = Counter()
    for errno, count in rows.records("errno", "count"):
        by_errno[errno] += count
    most_first = sorted(by_errno.items(), key=lambda item: (item[1], item[0]), reverse=True)
    shown = [f"{units.count(count)} {errno}" for errno, count in most_first[:_MOST_ERRORS]]
    if others := most_first[_MOST_ERRORS:]:
        kinds = plural(len(others), "other error")
        shown.append(f"{units.count(sum(count for _, count in others))} of {kinds}")
    text += ": " + ", ".join(shown)
    of_searches = where(search is not None for search in rows.values("search"))
    searched = sum(rows.take(of_searches).values("count"))
    return text + (f"; {units.count(searched)} in searches" if searched else "")
