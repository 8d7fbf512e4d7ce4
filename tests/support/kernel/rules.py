"""Reads the rules of the model, `tests/data/kernel-rules`, and holds rows against them.

The README in that folder describes the form of the files. The Rust tests read them as well.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

Row = dict[str, Any]

# Columns whose values are ids, by what they number.
IDS = {
    "task": "task",
    "child": "task",
    "ofd": "ofd",
    "ofd2": "ofd",
    "file": "file",
    "file2": "file",
}


@dataclass
class Expected:
    """What is expected of one row."""

    at: int
    """Line in the file of rules."""
    line: int
    """The line of the log at which the row begins."""
    added: bool
    """The model adds the row."""
    alternatives: list[dict[str, str]]
    """One of these must hold."""


@dataclass
class Rule:
    """A log and what is expected of its rows."""

    name: str
    lines: list[str] = field(default_factory=list)
    expected: list[Expected] = field(default_factory=list)


def parse(text: str) -> list[Rule]:
    """Give the rules of a file; lines before the first one begin every log."""
    start = Rule("")
    rules: list[Rule] = []
    for at, line in enumerate(text.splitlines(), 1):
        rule = rules[-1] if rules else start
        if line.startswith("== "):
            rules.append(Rule(line[3:], [*start.lines], [*start.expected]))
        elif line.startswith(("    ^ ", "    + ")):
            alternatives = [
                dict(pair.split("=", 1) for pair in columns.split())
                for columns in line[6:].split(" or ")
            ]
            rule.expected.append(Expected(at, len(rule.lines), line[4] == "+", alternatives))
        elif line and not line.startswith("//"):
            rule.lines.append(line)
    return rules


def fit(columns: dict[str, str], row: Row, letters: dict[tuple[str, str], Any]) -> bool:
    """Whether the row has these values; letters of ids are added to `letters` if so."""
    trial = dict(letters)
    for column, expected in columns.items():
        found = row[column]
        if column not in IDS or expected == "null" or found is None:
            if ("null" if found is None else str(found)) != expected:
                return False
            continue
        space = IDS[column]
        # A letter is one id, and an id one letter.
        if trial.setdefault((space, expected), found) != found:
            return False
        if trial.setdefault((space, f"of {found}"), expected) != expected:
            return False
    letters |= trial
    return True


def is_added(row: Row) -> bool:
    return row["kind"] in {"notice", "aio"}


def differences(rule: Rule, rows: list[Row]) -> Iterator[str]:
    """Say what is wrong of the rows of the rule's log."""
    letters: dict[tuple[str, str], Any] = {}
    added = [row for row in rows if is_added(row)]
    for expected in rule.expected:
        own = [row for row in rows if row["line"] == expected.line and not is_added(row)]
        row = next(iter(added if expected.added else own), None)
        if expected.added:
            added = added[1:]
        if row is None or row["line"] != expected.line:
            yield f"line {expected.at}: there is no row"
        elif not any(fit(columns, row, letters) for columns in expected.alternatives):
            yield f"line {expected.at}: the row is {row}"
    for row in added:
        yield f"unexpected row {row}"
    damaged = [one.line for one in rule.expected if one.alternatives[0].get("kind") == "unparsed"]
    for row in rows:
        if row["kind"] == "unparsed" and row["line"] not in damaged:
            yield f"not understood: {row}"
