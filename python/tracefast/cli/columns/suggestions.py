"""Which column was meant: by what its name resembles, or by a heading that a table shows."""

from collections.abc import Iterable, Iterator
from typing import Final

from tracefast.cli.columns.event_columns import WORDS
from tracefast.cli.columns.table_columns import TABLES, table
from tracefast.cli.messages.errors import resembling

# Headings of what a command makes of a table's columns, and these columns.
_HEADINGS: Final[dict[str, dict[str, tuple[str, ...]]]] = {
    "files": {
        "bytes": ("read_bytes", "write_bytes"),
        "calls": ("reads", "writes"),
        "err": ("read_errors", "write_errors"),
        "how": ("read_random_share", "write_random_share"),
        "re-read": ("read_reread_factor", "write_reread_factor"),
        "covered": ("read_coverage_share", "write_coverage_share"),
        "time": ("read_ns", "write_ns"),
    },
    "fork_summary": {
        "times": ("count",),
        "how": ("kind",),
        "per s": ("rate_per_s",),
        "at once": ("in_flight_max",),
        "cost": ("tax_ns",),
        "of time": ("wall_share",),
        "who started what": ("parent_image", "image"),
    },
    "processes": {
        "process": ("image",),
        "read": ("read_bytes",),
        "written": ("write_bytes",),
        "end": ("exit_status", "exit_signal"),
    },
    "syscalls": {"moved": ("bytes",), "moved bytes": ("bytes",)},
}


def meant(wanted: str, columns: Iterable[str]) -> str:
    """Say in a hint which column of a table may have been meant, or where all of them are listed.

    Parameters
    ----------
    wanted
        What is no column.
    columns
        Those that there are.

    Examples
    --------
    >>> import tracefast as tf
    >>> columns = tf.files(tf.scan("demo.strace")).collect_schema()
    >>> meant("time", columns)
    "the heading 'time' is read_ns or write_ns"
    >>> meant("read_byte", columns)
    "did you mean 'read_bytes' or 'read_eof' or 'write_bytes'?"
    >>> meant("colour", columns)
    'tracefast schema files lists all of them'
    """
    known = list(columns)
    name = _table(set(known))
    under = [column for column in _under(wanted, name, known) if column in known]
    if under and not any(_same(column, wanted) for column in under):
        return f"the heading {wanted!r} is {' or '.join(under)}"
    hint = resembling(wanted, known)
    return f"tracefast schema {name} lists all of them" if name and "did you" not in hint else hint


def _table(columns: set[str]) -> str | None:
    """Find the table that has these columns: more may be described, as some come by options."""
    if columns <= set(WORDS):
        return "events"
    return next((name for name in TABLES if columns <= set(table(name))), None)


def _under(wanted: str, name: str | None, columns: list[str]) -> Iterator[str]:
    """Give the columns that are shown under a heading."""
    from tracefast.cli.text.table_text import header

    own = _HEADINGS.get(name or "", {})
    made = next((made for heading, made in own.items() if _same(heading, wanted)), None)
    if made is not None:
        yield from made
        return
    for column in columns:
        if any(_same(header(column, terminal=terminal), wanted) for terminal in (True, False)):
            yield column


def _same(heading: str, wanted: str) -> bool:
    return _plain(heading) == _plain(wanted)


def _plain(text: str) -> str:
    return text.lower().replace("_", " ").replace("-", " ")
