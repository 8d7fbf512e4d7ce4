"""Text of a log on its way to people: it cannot move the cursor, hide, or become a formula.

What stands in a log was chosen by whoever ran the program: paths and names of commands hold any
bytes. A terminal obeys some of them, a spreadsheet others.
"""

import re
from typing import Final

# Controls of C0 and C1; what has no width or turns the direction of text; halves of pairs, which
# stand for bytes that are not UTF-8 in what the user typed.
_CONTROLS: Final = r"\x00-\x1f\x7f-\x9f"
_INVISIBLE: Final = (
    r"\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    r"\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U00013430-\U0001345f"
    r"\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    r"\U000e0000-\U000e0fff"
)
_UNPRINTABLE: Final = re.compile(rf"[{_CONTROLS}{_INVISIBLE}\ud800-\udfff]")
# In text that was made of lines, these end by line feeds.
_UNPRINTABLE_IN_LINES: Final = re.compile(rf"[\x00-\x09\x0b-\x1f\x7f-\x9f{_INVISIBLE}]")
# The same as the engine of polars writes it, which knows no halves of pairs.
SUSPECT: Final = re.sub(r"\\[uU]([0-9a-f]{4,8})", r"\\x{\1}", f"[{_CONTROLS}{_INVISIBLE}]")

# As strace names them.
_NAMED: Final = {"\t": r"\t", "\n": r"\n", "\v": r"\v", "\f": r"\f", "\r": r"\r"}
_DIGITS: Final = frozenset("01234567")
_BMP: Final = 0xFFFF
# Where Python puts bytes that are not UTF-8.
_BYTES: Final = range(0xDC80, 0xDD00)

# What spreadsheets take for the begin of a formula, however many quotes already stand before it:
# so it can be told which quote was put there.
FORMULA: Final = "^'*[-=+@\uff1d\uff0b\uff0d\uff20]"


def printable(text: str) -> str:
    r"""Write text so that it cannot move the cursor, colour the terminal, hide or break the line.

    Controls are written as strace writes them, other characters that one does not see by their
    number, and bytes that are not UTF-8 as they are in the columns of events. Backslashes stay as
    they are: this is for reading, not for reading back.

    Examples
    --------
    >>> printable("a\x1b[31mb\x1b7\n\u202e\x9b\udcff")
    'a\\33[31mb\\0337\\n\\u202e\\u009b\\xff'
    """
    return _UNPRINTABLE.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    code = ord(character)
    if character in _NAMED:
        return _NAMED[character]
    if code <= 0x7F:  # noqa: PLR2004 - the last one of ASCII
        # A digit behind it would belong to a short number.
        digits = 3 if match.string[match.end() : match.end() + 1] in _DIGITS else 1
        return f"\\{code:0{digits}o}"
    if code in _BYTES:
        return f"\\x{code - 0xDC00:02x}"
    return f"\\u{code:04x}" if code <= _BMP else f"\\U{code:08x}"


def spreadsheet_cell(text: str) -> str:
    """Write one cell of text so that no spreadsheet takes it for a formula.

    What :func:`printable` makes of it gets a single quote in front if it begins with ``=``,
    ``+``, ``-`` or ``@``, be it behind single quotes: to read it back, take one away from cells
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
    r"""Write the characters of JSON that one does not see as JSON's own escapes: it stays the same.

    Examples
    --------
    >>> print(plain_json('{"path":"a\u202eb\U000e0041"}\n'), end="")
    {"path":"a\u202eb\udb40\udc41"}
    """
    return _UNPRINTABLE_IN_LINES.sub(_json_escape, text)


def _json_escape(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be")
    return "".join(f"\\u{units[i : i + 2].hex()}" for i in range(0, len(units), 2))
