"""Windows of time, as people write them."""

import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Final, TypeAlias

from tracefast._core import Error
from tracefast.error_hints import error_with_hint
from tracefast.quantities import nanoseconds, parse_duration

Time: TypeAlias = str | float | date | timedelta

_S: Final = 1_000_000_000
_DAY: Final = 86_400
# A larger number cannot be seconds since the start of a log: it counts from 1970.
MIN_EPOCH_S: Final = 315_532_800  # 1980
_MOST: Final = 2**63 - 1

# Patterns are compiled when they are first used: most commands need none of them.
_NUMBER: Final = r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)"
_CLOCK: Final = rf"@({_NUMBER})"
_TIME: Final = r"([0-9]{1,2}):([0-9]{2})(?::([0-9]{2})(\.[0-9]{1,9})?)?"
_DATE: Final = rf"([0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}})(?:[T ]{_TIME}(Z|[+-][0-9]{{2}}:?[0-9]{{2}})?)?"
_HINT: Final = (
    "seconds since the start of the log (12.5, 90s, 2m), a time of day (14:05:30), a date and time "
    "(2026-01-31T14:05:30), or seconds on the log's own clock (@1700000000.5)"
)


class Since(StrEnum):
    """What a moment counts from."""

    START = "start"  # The first event of the log.
    MIDNIGHT = "midnight"  # Of the day on which the log starts.
    EPOCH = "epoch"  # 1970; for logs with dates only.
    CLOCK = "clock"  # The log's own clock.


@dataclass(frozen=True)
class Moment:
    """A moment as people write it.

    Attributes
    ----------
    text
        As it was written, after its name.
    ns
        Nanoseconds.
    since
        What they count from.
    """

    text: str
    ns: int
    since: Since


@dataclass(frozen=True)
class Window:
    """A half-open interval; None for no limit."""

    start: Moment | None = None
    end: Moment | None = None

    @classmethod
    def parse(
        cls, start: Time | None, end: Time | None, names: tuple[str, str] = ("from_=", "to=")
    ) -> "Window":
        """Parse the limits.

        Parameters
        ----------
        start, end
            What :func:`parse_moment` takes.
        names
            What is in front of each of them in messages.

        Raises
        ------
        Error
            One of them is not a valid time, or the end is not after the start.

        Examples
        --------
        >>> Window.parse("14:05", None).start
        Moment(text='from_=14:05', ns=50700000000000, since=<Since.MIDNIGHT: 'midnight'>)
        """
        window = cls(parse_moment(names[0], start), parse_moment(names[1], end))
        first, last = window.start, window.end
        if first and last and first.since == last.since and last.ns <= first.ns:
            if first.since is Since.MIDNIGHT and last.ns < first.ns:
                return window  # The end may be on the next day.
            raise not_possible(
                f"{last.text}: not after {first.text}",
                "give a later time: both count from the same moment",
            )
        return window

    def __bool__(self) -> bool:
        return self != Window()

    @property
    def moments(self) -> list[Moment]:
        """The limits that are set."""
        return [moment for moment in (self.start, self.end) if moment is not None]


def not_possible(what: str, hint: str) -> Error:
    """Make the error for a window that no log has, or not this one.

    Examples
    --------
    >>> not_possible("to=5: not after from_=5", "give a later time").kind
    'window'
    """
    return error_with_hint(what, hint, kind="window")


def parse_moment(name: str, time: Time | None) -> Moment | None:
    """Parse a moment.

    Parameters
    ----------
    name
        What is in front of it in messages.
    time
        Seconds since the start of the log, alone or with units; ``@`` and seconds on its own
        clock; a time of day; a date, with a time or without. Numbers are as their text, a
        ``timedelta`` counts from the start of the log. None gives None.

    Raises
    ------
    Error
        The text has another form.

    Examples
    --------
    >>> for time in ("12.5", "+1m30s", 1700000000, "@12.000000001", "14:05", "1970-01-02"):
    ...     print(parse_moment("--from ", time))
    Moment(text='--from 12.5', ns=12500000000, since=<Since.START: 'start'>)
    Moment(text='--from +1m30s', ns=90000000000, since=<Since.START: 'start'>)
    Moment(text='--from 1700000000', ns=1700000000000000000, since=<Since.EPOCH: 'epoch'>)
    Moment(text='--from @12.000000001', ns=12000000001, since=<Since.CLOCK: 'clock'>)
    Moment(text='--from 14:05', ns=50700000000000, since=<Since.MIDNIGHT: 'midnight'>)
    Moment(text='--from 1970-01-02', ns=86400000000000, since=<Since.EPOCH: 'epoch'>)
    """
    if time is None:
        return None
    text = _text(time)
    found = _parse(text.strip())
    if found is None or not 0 <= found[0] <= _MOST:
        raise not_possible(f"{name}{text}: not a valid time", _HINT)
    return Moment(f"{name}{text}", *found)


def _text(time: Time) -> str:
    """Write a time as people do.

    Examples
    --------
    >>> _text(1e-05), _text(datetime(2026, 1, 31, 14, 5)), _text(timedelta(minutes=2))
    ('0.00001', '2026-01-31T14:05:00', '+120000000us')
    """
    if isinstance(time, datetime):
        return time.isoformat()
    if isinstance(time, timedelta):
        return f"+{time // timedelta(microseconds=1)}us"
    return f"{Decimal(repr(float(time))):f}" if isinstance(time, float) else str(time)


def _parse(text: str) -> tuple[int, Since] | None:
    if match := re.fullmatch(_CLOCK, text, re.ASCII):
        return nanoseconds(match[1]), Since.CLOCK
    with suppress(ValueError):
        ns = parse_duration(text)
        bare = text[0] != "+" and text[-1] in "0123456789."
        return ns, Since.EPOCH if bare and ns >= MIN_EPOCH_S * _S else Since.START
    if match := re.fullmatch(_TIME, text, re.ASCII):
        time = _of_day(*match.groups())
        return None if time is None else (time, Since.MIDNIGHT)
    if match := re.fullmatch(_DATE, text, re.ASCII):
        day, hours, minutes, seconds, fraction, zone = match.groups()
        time = _of_day(hours, minutes, seconds, fraction) if hours else 0
        return None if time is None else _of_date(day, time, zone)
    return None


def _of_day(hours: str, minutes: str, seconds: str | None, fraction: str | None) -> int | None:
    whole = int(hours) * 3600 + int(minutes) * 60 + int(seconds or 0)
    # 60 is a leap second.
    if int(hours) > 23 or int(minutes) > 59 or int(seconds or 0) > 60:  # noqa: PLR2004
        return None
    return whole * _S + (nanoseconds(f"0{fraction}") if fraction else 0)


def _of_date(day: str, ns: int, zone: str | None) -> tuple[int, Since] | None:
    try:
        days = (date.fromisoformat(day) - date(1970, 1, 1)).days
        # As in tables, times without a zone are UTC.
        east = datetime.fromisoformat(f"{day}T00:00:00{zone}").astimezone(UTC) if zone else None
    except ValueError:
        return None
    offset = 0 if east is None else int(east.timestamp()) - days * _DAY
    return (days * _DAY + offset) * _S + ns, Since.EPOCH
