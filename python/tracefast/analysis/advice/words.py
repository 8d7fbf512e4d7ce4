"""Numbers in sentences: three digits, and the unit that fits."""

from typing import Final

_UNITS: Final = ((1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs"), (1, "ns"))
# Two numbers that differ by less are one.
_SAME: Final = 0.05
_MIB: Final = 1 << 20


def duration(nanoseconds: int) -> str:
    """Write a time.

    Examples
    --------
    >>> duration(24_161_500), duration(5_355_000_000), duration(0)
    ('24.2 ms', '5.36 s', '0 s')
    """
    for i, (length, unit) in enumerate(_UNITS):
        if nanoseconds >= length:
            text = _digits(nanoseconds / length)
            # What rounds up to a thousand is one of the next unit.
            return f"1 {_UNITS[i - 1][1]}" if text == "1000" and i else f"{text} {unit}"
    return "0 s"


def span(low: int, high: int) -> str:
    """Write a time that is known as a range.

    Examples
    --------
    >>> span(110_000_000, 480_000_000), span(480_000_000, 481_000_000), span(0, 2_000_000)
    ('110 to 480 ms', '481 ms', 'at most 2 ms')
    """
    low, high = sorted((max(low, 0), max(high, 0)))
    if high - low <= _SAME * high:
        return duration(high)
    if low == 0:
        return f"at most {duration(high)}"
    first, unit = duration(low).split()
    return (
        f"{first} to {duration(high)}"
        if duration(high).endswith(f" {unit}")
        else (f"{first} {unit} to {duration(high)}")
    )


def _digits(value: float) -> str:
    """Write a number of at least one with three digits, or all before the point.

    Examples
    --------
    >>> _digits(24.16), _digits(5.0), _digits(312.4)
    ('24.2', '5', '312')
    """
    places = 2 if value < 9.995 else 1 if value < 99.95 else 0  # noqa: PLR2004 - where digits end
    text = f"{value:.{places}f}"
    return text.rstrip("0").rstrip(".") if places else text


def memory(low: int, high: int) -> str:
    """Write amounts of memory, in MiB.

    Examples
    --------
    >>> memory(828_375_040, 851_443_712), memory(1 << 20, 1 << 20), memory(100_000, 100_000)
    ('790 to 812 MiB', '1 MiB', '0.1 MiB')
    """
    texts = [
        f"{value / _MIB:,.0f}" if value >= _MIB else f"{value / _MIB:.1f}" for value in (low, high)
    ]
    return f"{texts[1]} MiB" if texts[0] == texts[1] else f"{texts[0]} to {texts[1]} MiB"


def times(number: int, one: str = "once") -> str:
    """Write how often.

    Examples
    --------
    >>> times(1), times(28092)
    ('once', '28,092 times')
    """
    return one if number == 1 else f"{number:,} times"


def plural(number: int, noun: str, several: str | None = None) -> str:
    """Write a number of things.

    Examples
    --------
    >>> plural(1, "process", "processes"), plural(1000, "call")
    ('1 process', '1,000 calls')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {several or noun + 's'}"


def percent(share: float) -> str:
    """Write a part of a whole.

    Examples
    --------
    >>> percent(0.3912), percent(0.0041), percent(0.0), percent(0.0001)
    ('39 %', '0.4 %', '0 %', '<0.1 %')
    """
    number = share * 100
    if number and number < 0.1:  # noqa: PLR2004 - one digit behind the point
        return "<0.1 %"
    return f"{number:.0f} %" if number >= 1 or not number else f"{number:.1f} %"
