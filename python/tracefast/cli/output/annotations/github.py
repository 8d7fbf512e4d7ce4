"""Annotations of GitHub Actions: lines that a step prints, and that GitHub shows with the change.

https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands
"""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from tracefast.cli.output.annotations.cases import Case, Level
from tracefast.cli.text.escaping import printable

# GitHub shows ten of a kind for each step, and drops the others without a word.
MOST: Final = 10
_ALL_RULES: Final = "tracefast"
_KINDS: Final = {Level.ERROR: "error", Level.WARNING: "warning", Level.NOTE: "notice"}


def to_github(cases: Iterable[Case]) -> str:
    """Write results as annotations, at most ten of each level: nine and how many more there are.

    Parameters
    ----------
    cases
        What was judged, the worst first.

    Examples
    --------
    >>> from tracefast.cli.output.annotations.cases import Result, Rule
    >>> rule = Rule(name="few-opens", title="Few opens")
    >>> result = Result(message="12 opens, limit 10", line=3)
    >>> print(to_github([Case(rule=rule, file="a,b.strace", results=(result,))]), end="")
    ::error file=a%2Cb.strace,line=3,title=few-opens::a,b.strace: 12 opens, limit 10
    """
    lines: dict[Level, list[str]] = {level: [] for level in Level}
    judged = list(cases)
    # A log that no rule can judge is named once.
    errors = Counter((case.file, case.error) for case in judged if case.error is not None)
    for case in judged:
        found = [(result.level, result.message, result.line) for result in case.results]
        title = case.rule.name
        if case.error is not None and (rules := errors.pop((case.file, case.error), 0)):
            found.append((Level.ERROR, case.error, None))
            title = title if rules == 1 else _ALL_RULES
        for level, message, line in found:
            place = f"file={_property(case.file)}"
            if line is not None:
                place += f",line={line}"
            text = _data(f"{case.file}: {message}")
            lines[level].append(f"::{_KINDS[level]} {place},title={_property(title)}::{text}")
    return "".join(f"{line}\n" for level in Level for line in _shown(lines[level], level))


def _shown(lines: list[str], level: Level) -> list[str]:
    if len(lines) <= MOST:
        return lines
    more = len(lines) - MOST + 1
    return [*lines[: MOST - 1], f"::{_KINDS[level]} title={_ALL_RULES}::{more:,} more"]


def _data(text: str) -> str:
    """Escape a message, as `escapeData` of GitHub's toolkit does."""
    # There is no line break left: `printable` has written them as strace does.
    return printable(text).replace("%", "%25")


def _property(text: str) -> str:
    """Escape the value of a property, as `escapeProperty` of GitHub's toolkit does."""
    return _data(text).replace(":", "%3A").replace(",", "%2C")
