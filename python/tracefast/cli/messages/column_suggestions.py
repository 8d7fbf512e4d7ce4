"""Suggestions for the name of a column: by what it resembles, or by the heading of a table."""

from collections.abc import Iterable, Iterator
from typing import Final

from tracefast.columns.tables import EVENTS, TABLES, names_of
from tracefast.error_hints import suggest

# Headings that do not follow from the name of one column.
_HEADINGS: Final[dict[str, dict[str, tuple[str, ...]]]] = {
    "files": {
        "bytes": ("read_bytes", "write_bytes"),
        "calls": ("reads", "writes"),
        "err": ("read_errors", "write_errors"),
        "pattern": ("read_random_share", "write_random_share"),
        "re-read": ("read_reread_factor", "write_reread_factor"),
        "covered": ("read_coverage_share", "write_coverage_share"),
        "time": ("read_ns", "write_ns"),
    },
    "fork_summary": {
        "per s": ("rate_per_s",),
        "max parallel": ("in_flight_max",),
        "cost": ("tax_ns",),
        "% time": ("wall_share",),
        "parent → program": ("parent_image", "image"),
    },
    "processes": {
        "process": ("image",),
        "read": ("read_bytes",),
        "written": ("write_bytes",),
        "end": ("exit_status", "exit_signal"),
    },
    "syscalls": {"moved": ("bytes",), "moved bytes": ("bytes",)},
}


def suggest_column(wanted: str, columns: Iterable[str]) -> str:
    """Suggest in a hint which column of a table to use, or where all of them are listed.

    Parameters
    ----------
    wanted
        The name that is not a column.
    columns
        The columns of the table.

    Examples
    --------
    >>> import tracefast as tf
    >>> columns = tf.files(tf.scan("demo.strace")).collect_schema()
    >>> suggest_column("time", columns)
    "the heading 'time' is read_ns or write_ns"
    >>> suggest_column("read_byte", columns)
    "did you mean 'read_bytes' or 'read_eof' or 'write_bytes'?"
    >>> suggest_column("colour", columns)
    'tracefast schema files lists all of them'
    """
    known = list(columns)
    name = _table(set(known))
    under = [column for column in _under(wanted, name, known) if column in known]
    if under and not any(_same(column, wanted) for column in under):
        return f"the heading {wanted!r} is {' or '.join(under)}"
    hint = suggest(wanted, known)
    return f"tracefast schema {name} lists all of them" if name and "did you" not in hint else hint


def _table(columns: set[str]) -> str | None:
    """Find the table that has these columns; it may have more, which some options add."""
    if columns <= set(names_of(EVENTS)):
        return "events"
    return next((name for name, groups in TABLES.items() if columns <= set(names_of(groups))), None)


def _under(wanted: str, name: str | None, columns: list[str]) -> Iterator[str]:
    """Give the columns that are shown under a heading."""
    from tracefast.cli.text.table_text import heading

    own = _HEADINGS.get(name or "", {})
    made = next((made for heading, made in own.items() if _same(heading, wanted)), None)
    if made is not None:
        yield from made
        return
    for column in columns:
        if any(_same(heading(column, terminal=terminal), wanted) for terminal in (True, False)):
            yield column


def _same(heading: str, wanted: str) -> bool:
    return _plain(heading) == _plain(wanted)


def _plain(text: str) -> str:
    return text.lower().replace("_", " ").replace("-", " ")
