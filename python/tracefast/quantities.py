"""Numbers in sentences: three digits, and the unit that fits; sizes as people write them."""

import re
from typing import Final, NamedTuple

_UNITS: Final = ((1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs"), (1, "ns"))
# Numbers that differ by less than this are written as one.
_SAME: Final = 0.05
_MIB: Final = 1 << 20
# Patterns are compiled when they are first used: most commands need none of them.
_SIZE: Final = r"([0-9]+(?:\.[0-9]+)?) ?(?:([KMGT])(iB|B)?|B)?"
_MOST: Final = 2**63 - 1
_NUMBER: Final = r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)"
_SECONDS: Final = {"d": "86400", "h": "3600", "m": "60", "min": "60", "s": "1"} | {
    "ms": "0.001",
    "us": "0.000001",
    "µs": "0.000001",
    "ns": "0.000000001",
}
_UNIT: Final = "|".join(sorted(_SECONDS, key=len, reverse=True))
_PART: Final = rf"({_NUMBER})({_UNIT})"
_SPAN: Final = rf"\+?(?:{_NUMBER}|(?:{_NUMBER}(?:{_UNIT}))+)"
_SIZES: Final = ((1 << 30, "GiB"), (_MIB, "MiB"), (1 << 10, "KiB"))


class Range(NamedTuple):
    """Nanoseconds: at least, at most."""

    low: int
    high: int

    def per(self, count: int) -> "Range":
        """Divide by a number of things.

        Examples
        --------
        >>> Range(100, 300).per(10)
        Range(low=10, high=30)
        """
        return Range(self.low // max(count, 1), self.high // max(count, 1))

    def __str__(self) -> str:
        return span(self.low, self.high)


def duration(nanoseconds: int) -> str:
    """Write a time.

    Examples
    --------
    >>> duration(24_161_500), duration(5_300_000_000), duration(999_999), duration(120), duration(0)
    ('24.2 ms', '5.30 s', '1.00 ms', '120 ns', '0 s')
    """
    for length, unit in _UNITS:
        # What rounds up to a thousand of a unit is one of the next.
        if nanoseconds >= 0.9995 * length:
            return f"{_digits(nanoseconds / length)} {unit}" if length > 1 else f"{nanoseconds} ns"
    return "0 s"


def span(low: int, high: int) -> str:
    """Write a time that is known as a range.

    Examples
    --------
    >>> span(110_000_000, 480_000_000), span(480_000_000, 481_000_000), span(0, 2_000_000)
    ('110 to 480 ms', '481 ms', 'at most 2.00 ms')
    """
    low, high = sorted((max(low, 0), max(high, 0)))
    if high - low <= _SAME * high:
        return duration(high)
    if low == 0:
        return f"at most {duration(high)}"
    (first, unit), last = duration(low).split(), duration(high)
    return f"{first} to {last}" if last.endswith(f" {unit}") else f"{first} {unit} to {last}"


def _digits(value: float) -> str:
    """Write a number with three digits, or all before the point.

    Examples
    --------
    >>> _digits(24.16), _digits(5.0), _digits(312.4)
    ('24.2', '5.00', '312')
    """
    places = 2 if value < 9.995 else 1 if value < 99.95 else 0  # noqa: PLR2004 - where digits end
    return f"{value:,.{places}f}"


def memory(low: int, high: int) -> str:
    """Write amounts of memory, in MiB.

    Examples
    --------
    >>> memory(828_375_040, 1_851_443_712), memory(1 << 20, 1 << 20), memory(100_000, 100_000)
    ('790 to 1,766 MiB', '1 MiB', '0.1 MiB')
    """
    low, high = sorted((low, high))
    last = f"{_mebibytes(high)} MiB"
    return last if high - low <= _SAME * high else f"{_mebibytes(low)} to {last}"


def size(number: int) -> str:
    """Write a number of bytes.

    Examples
    --------
    >>> size(16_318), size(124_239_509), size(512)
    ('15.9 KiB', '118 MiB', '512 B')
    """
    for unit, name in _SIZES:
        if number >= unit:
            value = number / unit
            return f"{value:,.{1 if value < 99.95 else 0}f} {name}"  # noqa: PLR2004 - three digits
    return f"{number:,} B"


def _mebibytes(number: int) -> str:
    return f"{number / _MIB:,.0f}" if number >= _MIB else f"{number / _MIB:.1f}"


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
    if number and number < 0.1:  # noqa: PLR2004 - one digit after the point
        return "<0.1 %"
    return f"{number:.0f} %" if number >= 1 or not number else f"{number:.1f} %"


def percent_span(low: float, high: float) -> str:
    """Write a part of a whole that is known as a range.

    Examples
    --------
    >>> percent_span(0.24, 0.39), percent_span(0.39, 0.39), percent_span(0.0, 0.18)
    ('24 to 39 %', '39 %', 'at most 18 %')
    >>> percent_span(0.0, 0.0005), percent_span(0.0005, 0.02)
    ('<0.1 %', '<0.1 to 2 %')
    """
    first, last = percent(low), percent(high)
    if first == last or last.startswith("<") or high - low <= _SAME * high:
        return last
    return f"{first.removesuffix(' %')} to {last}" if low > 0 else f"at most {last}"


def parse_size(text: str) -> int:
    """Read a size in bytes, as people write it.

    K, M, G, T and KiB … are powers of 1,024, KB … are powers of 1,000.

    Raises
    ------
    ValueError
        The text is not a size.

    Examples
    --------
    >>> parse_size("131072"), parse_size("128K"), parse_size("128 KiB"), parse_size("1.5MB")
    (131072, 131072, 131072, 1500000)
    """
    from fractions import Fraction

    match = re.fullmatch(_SIZE, text.strip(), re.ASCII | re.IGNORECASE)
    if match is not None:
        number, unit, kind = match.groups()
        base = 1000 if kind in {"B", "b"} else 1024
        value = Fraction(number) * base ** (" KMGT".index(unit.upper()) if unit else 0)
        if value.denominator == 1 and value <= _MOST:
            return int(value)
    raise ValueError(f"{text!r} is not a byte count such as 131072, 128K, 128KiB or 1M")


def parse_duration(text: str) -> int:
    """Read a span of time as people write it; give nanoseconds.

    Raises
    ------
    ValueError
        The text is not a span of time, or longer than 292 years.

    Examples
    --------
    >>> [parse_duration(text) for text in ("1ms", "0", "1m30s", "2.5")]
    [1000000, 0, 90000000000, 2500000000]
    """
    text = text.strip()
    if re.fullmatch(_SPAN, text, re.ASCII):
        parts = re.findall(_PART, text, re.ASCII) or [(text.removeprefix("+"), "s")]
        ns = sum(nanoseconds(number, _SECONDS[unit]) for number, unit in parts)
        if ns <= _MOST:
            return ns
    raise ValueError(f"not a span of time: {text!r}")


def nanoseconds(number: str, unit: str = "1") -> int:
    """Multiply a decimal number with a unit in seconds, without rounding.

    Examples
    --------
    >>> nanoseconds("1700000000.000000001"), nanoseconds("2", "0.001")
    (1700000000000000001, 2000000)
    """
    from decimal import Decimal

    return int(Decimal(number) * Decimal(unit) * 1_000_000_000)
