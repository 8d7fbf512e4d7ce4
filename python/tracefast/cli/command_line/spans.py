"""Parse spans of time that options give."""

from tracefast.cli.messages.errors import CommandError
from tracefast.quantities import parse_duration


def parse_span(option: str, text: str) -> int:
    """Parse a span of time; give nanoseconds.

    Raises
    ------
    CommandError
        The text is not a span of time.

    Examples
    --------
    >>> [parse_span("--min", text) for text in ("1ms", "0", "1m30s", "2.5")]
    [1000000, 0, 90000000000, 2500000000]
    """
    try:
        return parse_duration(text)
    except ValueError as error:
        raise CommandError(
            f"{option} {text}: not a span of time", "write 1ms, 500us, 2s or 1m30s"
        ) from error
