"""Print what a rule looks for, what it compares with and why, and what to do."""

from typing import Final

from tracefast.analysis.insights.finding import Rule, Threshold
from tracefast.cli.text.paragraph import wrap
from tracefast.quantities import duration, percent, size

_WIDTH: Final = 100


def explained(rule: Rule) -> str:
    """Write what is known about a rule.

    Parameters
    ----------
    rule
        The rule.
    """
    parts = [f"{rule.code}: {rule.title}", rule.looks_for]
    if rule.thresholds:
        parts.append("\n".join(f"  {threshold_text(each)}" for each in rule.thresholds))
    parts += [f"What to do: {rule.advice}", f"See {rule.where}"]
    return "\n\n".join(_filled(part) for part in parts) + "\n"


def threshold_text(threshold: Threshold) -> str:
    """Write a threshold with its reason.

    Examples
    --------
    >>> threshold_text(Threshold("bytes of a read", 4096, "B", "a page"))
    'bytes of a read: 4.0 KiB (a page)'
    """
    return f"{threshold.what}: {_number(threshold)} ({threshold.why})"


def _number(threshold: Threshold) -> str:
    match threshold.unit:
        case "B":
            return size(int(threshold.value))
        case "ns":
            return duration(int(threshold.value))
        case "share":
            return percent(threshold.value)
        case _:
            return f"{threshold.value:,g}"


def _filled(part: str) -> str:
    lines: list[str] = []
    for line in part.splitlines():
        lines += wrap(line, _WIDTH, rest=" " * (4 if line.startswith("  ") else 0))
    return "\n".join(lines)
