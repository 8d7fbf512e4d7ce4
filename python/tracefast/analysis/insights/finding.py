"""What a rule finds, and what is known about a rule."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from tracefast.quantities import Range

if TYPE_CHECKING:
    from tracefast.analysis.insights.log import Log


class Severity(StrEnum):
    """How much a finding touches, the most first."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class Weight(NamedTuple):
    """How much a finding matters."""

    severity: Severity
    share: float
    """The largest share that it touches, to sort by."""


@dataclass(frozen=True, kw_only=True)
class Calls:
    """Which calls of a log show a finding, to name some of their lines."""

    names: Collection[str]
    """The system calls."""
    files: Collection[int] = ()
    """Identities of the files that they act on; empty for any."""
    paths: Collection[str] = ()
    """The names that they are given, where no file has this name; empty for any."""
    access: Collection[str] = ()
    """Their classes of access; empty for any."""
    errno: Collection[str] = ()
    """Their errors; empty for any, or none."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing that was found in one log."""

    weight: Weight
    evidence: str
    """What in the log shows it, in one sentence with numbers."""
    advice: str
    """What to do."""
    numbers: Mapping[str, float] = field(default_factory=dict)
    """What the sentence says, for machines."""
    title: str | None = None
    """What was found; None for the title of the rule."""
    object: str | None = None
    """The path, the process or what else it is about."""
    lines: Sequence[int] = ()
    """Lines of the log that show it, if the rule knows them."""
    calls: Calls | None = None
    """What shows it, if the rule does not know the lines."""
    saving: Range | None = None
    """The time that the advice saves; None where nobody can say."""


class Threshold(NamedTuple):
    """A number that a rule compares with, and why it is this one."""

    what: str
    """What is compared with it."""
    value: float
    """The number."""
    unit: str
    """Its unit: `B`, `ns`, `share`, or empty."""
    why: str
    """The reason."""


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One kind of finding."""

    code: str
    """Its name, for people and machines."""
    title: str
    """What it finds, in one sentence."""
    looks_for: str
    """What it looks for in the log, and why that is worth a change."""
    advice: str
    """What to do."""
    find: "Callable[[Log], Iterable[Finding]]"
    """Finds it in a log."""
    thresholds: tuple[Threshold, ...] = ()
    """What it compares with."""
    tables: frozenset[str] = frozenset()
    """The tables of `tables.FOLDS` that it reads."""
    page: str = ""
    """Where the documentation says more; empty for the section of the code on its page."""

    @property
    def where(self) -> str:
        """Name the page and section of the documentation."""
        return self.page or f"docs/insights.md#{self.code}"
