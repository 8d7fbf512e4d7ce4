"""What the documents are made of: rules, and what each of them found in a log."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class Level(StrEnum):
    """How bad a result is, in the words of SARIF."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, kw_only=True)
class Rule:
    """A rule that logs were judged by.

    Attributes
    ----------
    name
        The word that identifies it, the same in each run.
    title
        What it is about, in a few words.
    level
        The level of its results, unless they say otherwise.
    help
        What to do about its results.
    """

    name: str
    title: str
    level: Level = Level.ERROR
    help: str | None = None


@dataclass(frozen=True, kw_only=True)
class Result:
    """What a rule found in a log.

    Attributes
    ----------
    message
        One sentence, with its numbers.
    level
        How bad it is.
    about
        The path, process, or whatever else it is about. With the rule and the log it identifies
        the result in later runs, in which lines and numbers differ.
    line
        A line of the log that shows it.
    """

    message: str
    level: Level = Level.ERROR
    about: str | None = None
    line: int | None = None


@dataclass(frozen=True, kw_only=True)
class Case:
    """A rule and a log that it was applied to.

    Attributes
    ----------
    rule
        The rule.
    file
        The log.
    results
        What was found, the worst first; nothing if the log passes.
    error
        Why the log cannot be judged by this rule; None if it can.
    """

    rule: Rule
    file: str
    results: tuple[Result, ...] = ()
    error: str | None = None


class Unjudged(NamedTuple):
    """Logs of which no rule can be judged."""

    unread: tuple[str, ...] = ()
    """Those that cannot be read."""
    empty: tuple[str, ...] = ()
    """Those without an event."""

    def reasons(self) -> Iterator[tuple[str, str]]:
        """Give each log, and why."""
        for name in self.unread:
            yield name, "the log cannot be read"
        for name in self.empty:
            yield name, "the log has no event"

    def cases(self, rules: Iterable[Rule]) -> Iterator[Case]:
        """Give a case of each log and rule."""
        rules = list(rules)
        for log, reason in self.reasons():
            for rule in rules:
                yield Case(rule=rule, file=log, error=reason)
