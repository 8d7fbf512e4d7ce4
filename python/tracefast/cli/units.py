"""Numbers and text for people."""

import re

_BYTES = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_TIMES = ((1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs"), (1, "ns"))
_UNPRINTABLE = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def count(number: int) -> str:
    """Write a whole number.

    Examples
    --------
    >>> count(43290)
    '43,290'
    """
    return f"{number:,}"


def size(number: int) -> str:
    """Write a number of bytes in the unit that fits.

    Examples
    --------
    >>> size(22), size(43290), size(124239509)
    ('22 B', '42.3 KiB', '118.5 MiB')
    """
    value = float(number)
    for unit in _BYTES[:-1]:
        if abs(value) < 1024:  # noqa: PLR2004
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} {_BYTES[-1]}"


def duration(nanoseconds: int) -> str:
    """Write a time in the unit that fits.

    Examples
    --------
    >>> duration(40_000), duration(1_863_000), duration(12_500_000_000)
    ('40.0 µs', '1.9 ms', '12.5 s')
    """
    for length, unit in _TIMES:
        if abs(nanoseconds) >= length:
            digits = 0 if length == 1 else 1
            return f"{nanoseconds / length:.{digits}f} {unit}"
    return "0 s"


def milliseconds(nanoseconds: int) -> str:
    """Write a time in milliseconds, to the microsecond.

    Examples
    --------
    >>> milliseconds(1_863_000)
    '1.863'
    """
    return f"{nanoseconds / 1_000_000:,.3f}"


def percentage(share: float) -> str:
    """Write a part of a whole.

    Examples
    --------
    >>> percentage(0.1234), percentage(1)
    ('12.34%', '100.00%')
    """
    return f"{share:.2%}"


def rate(amount: int, seconds: float) -> str:
    """Write a speed in bytes per second.

    Examples
    --------
    >>> rate(43290, 2)
    '21.1 KiB/s'
    """
    return f"{size(round(amount / seconds))}/s" if seconds > 0 else "-"


def printable(text: str) -> str:
    r"""Write text so that it cannot move the cursor, colour the terminal or break the line.

    Examples
    --------
    >>> printable("a\x1b[31mb\n")
    'a\\x1b[31mb\\x0a'
    """
    return _UNPRINTABLE.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"  # noqa: PLR2004
