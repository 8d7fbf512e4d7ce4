"""Numbers for people."""

import math

_BYTES = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_TIMES = ((1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs"), (1, "ns"))


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
    ('22 B', '42.3 KiB', '118 MiB')
    """
    value = float(number)
    for unit in _BYTES[:-1]:
        if abs(value) < 1024:  # noqa: PLR2004
            return f"{value:.0f} {unit}" if unit == "B" else f"{_short(value)} {unit}"
        value /= 1024
    return f"{_short(value)} {_BYTES[-1]}"


def _short(value: float) -> str:
    """Write a number with one digit after the point, or none where there are three before it."""
    return f"{value:.0f}" if abs(value) >= 99.95 else f"{value:.1f}"  # noqa: PLR2004 - as 100.0


def duration(nanoseconds: int) -> str:
    """Write a time in the unit that fits.

    Examples
    --------
    >>> duration(40_000), duration(1_863_000), duration(12_500_000_000)
    ('40.0 µs', '1.9 ms', '12.5 s')
    >>> duration(1_845_000_000_000), duration(7_500_000_000_000), duration(183_600_000_000_000)
    ('30 min 45 s', '2 h 5 min', '2 d 3 h')
    """
    if abs(nanoseconds) >= 59_950_000_000:  # noqa: PLR2004 - as 60.0 s
        sign = "-" if nanoseconds < 0 else ""
        return sign + _long_duration((abs(nanoseconds) + 500_000_000) // 1_000_000_000)
    for length, unit in _TIMES:
        if abs(nanoseconds) >= length:
            value = nanoseconds / length
            return f"{value:.0f} {unit}" if length == 1 else f"{_short(value)} {unit}"
    return "0 s"


def _long_duration(seconds: int) -> str:
    """Write a time of a minute or more in its two largest units, rounded to the smaller one."""
    minutes = (seconds + 30) // 60
    hours = (seconds + 1800) // 3600
    if seconds < 3600:  # noqa: PLR2004
        large, small, names = *divmod(seconds, 60), ("min", "s")
    elif minutes < 24 * 60:
        large, small, names = *divmod(minutes, 60), ("h", "min")
    else:
        large, small, names = *divmod(hours, 24), ("d", "h")
    return f"{large:,} {names[0]} {small} {names[1]}" if small else f"{large:,} {names[0]}"


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


def share(part: float) -> str:
    """Write a part of a whole for people: rounded down, as only the whole is 100 %.

    Examples
    --------
    >>> share(1), share(0.9999), share(8 / 9), share(0.1), share(0.0123), share(0.000217), share(0)
    ('100 %', '99 %', '88 %', '10 %', '1.2 %', '0.02 %', '0 %')
    >>> share(0.00001)
    '<0.01 %'
    """
    if 0 < part < 0.0001:  # noqa: PLR2004 - a hundredth of a percent
        return "<0.01 %"
    # A float that falls short of a number by its last bit counts as that number.
    hundredths = math.floor(part * 10_000 + 1e-6)
    digits = 0 if hundredths >= 1000 or not hundredths else 1 if hundredths >= 100 else 2  # noqa: PLR2004
    step = 10 ** (2 - digits)
    return f"{hundredths // step * step / 100:.{digits}f} %"


def factor(times: float) -> str:
    """Write a factor.

    Examples
    --------
    >>> factor(1.0), factor(1.605), factor(12.0), factor(2000.4)
    ('1x', '1.60x', '12x', '2,000x')
    >>> factor(0.0), factor(0.004)
    ('0x', '<0.01x')
    """
    if 0 < times < 0.01:  # noqa: PLR2004 - a hundredth
        return "<0.01x"
    if times == int(times) or times >= 1000:  # noqa: PLR2004
        return f"{times:,.0f}x"
    return f"{times:.2f}x"


def rate(amount: int, seconds: float) -> str:
    """Write a speed in bytes per second.

    Examples
    --------
    >>> rate(43290, 2)
    '21.1 KiB/s'
    """
    return f"{size(round(amount / seconds))}/s" if seconds > 0 else "-"
