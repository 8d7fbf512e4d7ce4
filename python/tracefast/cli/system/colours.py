"""Whether output has colours, and text in bold."""

import os
import sys
from collections.abc import Iterable
from enum import StrEnum
from typing import Final, TextIO

# Tables in pipes are for programs: only the option of the command colours them.
_TABLES: Final = "TRACEFAST_COLOR_TABLES"


class Color(StrEnum):
    """When output has colours."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


def choose_colours(when: Color | None) -> Color | None:
    """Take an option for what the environment would say: https://no-color.org, force-color.org."""
    if when is None:
        return when
    for name in ("NO_COLOR", "FORCE_COLOR", _TABLES):
        os.environ.pop(name, None)
    if when is Color.NEVER:
        os.environ["NO_COLOR"] = "1"
    elif when is Color.ALWAYS:
        os.environ["FORCE_COLOR"] = os.environ[_TABLES] = "1"
    return when


def has_colours(stream: TextIO) -> bool:
    """Say whether what is written to a stream has colours."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM", "dumb") != "dumb"


def has_coloured_tables() -> bool:
    """Say whether tables on standard output have colours."""
    if not sys.stdout.isatty():
        return bool(os.environ.get(_TABLES))
    return has_colours(sys.stdout)


def bold_heading(text: str) -> str:
    r"""Write the first line of a table in bold.

    Examples
    --------
    >>> bold_heading("calls  name\n   12  read\n")
    '\x1b[1mcalls  name\x1b[0m\n   12  read\n'
    """
    heading, end, rest = text.partition("\n")
    return f"\x1b[1m{heading}\x1b[0m{end}{rest}"


def with_bold_heading(lines: Iterable[str], width: int | None) -> list[str]:
    """Write the first line of a table that a report prints on a terminal in bold.

    Parameters
    ----------
    lines
        The lines of the table.
    width
        The width of the terminal; None where the report goes elsewhere.

    Examples
    --------
    >>> with_bold_heading(["calls  name", "   12  read"], None)
    ['calls  name', '   12  read']
    """
    if width is None or not has_coloured_tables():
        return list(lines)
    return [bold_heading(line) if at == 0 else line for at, line in enumerate(lines)]
