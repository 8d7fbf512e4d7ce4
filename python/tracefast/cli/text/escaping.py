"""Escape text of a log, so that it cannot move the cursor, hide, or become a formula.

Whoever ran the program chose what is in the log: paths and names of commands hold any bytes. A
terminal obeys some of them, a spreadsheet others.
"""

import re
from typing import Final

# C0 and C1 controls; characters without width or that change the direction of text; surrogates,
# which Python uses for bytes that are not UTF-8 in what the user typed.
_CONTROLS: Final = r"\x00-\x1f\x7f-\x9f"
_INVISIBLE: Final = (
    r"\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    r"\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U00013430-\U0001345f"
    r"\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    r"\U000e0000-\U000e0fff"
)
# Patterns are compiled when they are first used: most text needs none.
_UNPRINTABLE: Final = rf"[{_CONTROLS}{_INVISIBLE}\ud800-\udfff]"
# In text that consists of lines, line feeds are kept.
_UNPRINTABLE_IN_LINES: Final = rf"[\x00-\x09\x0b-\x1f\x7f-\x9f{_INVISIBLE}]"
# The same without surrogates.
SUSPECT: Final = f"[{_CONTROLS}{_INVISIBLE}]"

# As strace names them.
_NAMED: Final = {"\t": r"\t", "\n": r"\n", "\v": r"\v", "\f": r"\f", "\r": r"\r"}
_DIGITS: Final = frozenset("01234567")
_BMP: Final = 0xFFFF
# Python's surrogates for bytes that are not UTF-8 (PEP 383).
_BYTES: Final = range(0xDC80, 0xDD00)

# What spreadsheets take for the start of a formula, after any number of quotes: so that the quote
# that is added can be removed again.
FORMULA: Final = "^'*[-=+@\uff1d\uff0b\uff0d\uff20]"


def printable(text: str) -> str:
    r"""Write text so that it cannot move the cursor, colour the terminal, hide or break the line.

    Controls are written as strace writes them, other invisible characters by their number, and
    bytes that are not UTF-8 as in the columns of events. Backslashes are kept: the result is for
    people, and cannot be parsed back.

    Examples
    --------
    >>> printable("a\x1b[31mb\x1b7\n\u202e\x9b\udcff")
    'a\\33[31mb\\0337\\n\\u202e\\u009b\\xff'
    """
    if text.isascii() and text.isprintable():
        return text
    return re.sub(_UNPRINTABLE, _escape, text)


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    code = ord(character)
    if character in _NAMED:
        return _NAMED[character]
    if code <= 0x7F:  # noqa: PLR2004 - the last one of ASCII
        # A digit after it would be read as part of a shorter number.
        digits = 3 if match.string[match.end() : match.end() + 1] in _DIGITS else 1
        return f"\\{code:0{digits}o}"
    if code in _BYTES:
        return f"\\x{code - 0xDC00:02x}"
    return f"\\u{code:04x}" if code <= _BMP else f"\\U{code:08x}"


def spreadsheet_cell(text: str) -> str:
    """Write one cell of text so that no spreadsheet takes it for a formula.

    The result of :func:`printable` gets a leading single quote if it starts with ``=``, ``+``,
    ``-`` or ``@``, even after other single quotes. To read it back, remove one quote from cells
    that have some before such a character.

    Examples
    --------
    >>> for text in ("=1+1", "'-x", "'quoted'", "a=b"):
    ...     print(spreadsheet_cell(text))
    '=1+1
    ''-x
    'quoted'
    a=b
    """
    shown = printable(text)
    return f"'{shown}" if re.match(FORMULA, shown) else shown


def plain_json(text: str) -> str:
    r"""Write invisible characters as JSON's own escapes: the value stays the same.

    Examples
    --------
    >>> print(plain_json('{"path":"a\u202eb\U000e0041"}\n'), end="")
    {"path":"a\u202eb\udb40\udc41"}
    """
    return re.sub(_UNPRINTABLE_IN_LINES, _json_escape, text)


def _json_escape(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be")
    return "".join(f"\\u{units[i : i + 2].hex()}" for i in range(0, len(units), 2))
