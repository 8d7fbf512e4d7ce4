"""Print which logs break which rules: a line for each, as linters do."""

from collections.abc import Iterable, Iterator
from typing import Any

import polars as pl

from tracefast.analysis.compare.rules import Rule
from tracefast.cli.output.annotations import cases
from tracefast.cli.output.annotations.cases import Unjudged
from tracefast.cli.output.annotations.github import to_github
from tracefast.cli.output.annotations.junit import to_junit
from tracefast.cli.output.annotations.sarif import to_sarif
from tracefast.cli.output.form import Annotations
from tracefast.cli.text.escaping import printable
from tracefast.quantities import plural

Row = dict[str, Any]


def render(found: pl.DataFrame, unjudged: Unjudged) -> str:
    """Write what breaks a rule, or cannot be judged, and a line that counts them.

    Parameters
    ----------
    found
        What :func:`tracefast.check` gives.
    unjudged
        Logs of which no rule can be judged.
    """
    lines = [
        f"{_place(row)}: {printable(row['rule'])}: {_sentence(row)}"
        for row in found.filter(~pl.col("passed").fill_null(value=False)).rows(named=True)
    ]
    lines += [f"{printable(name)}: {reason}" for name, reason in unjudged.reasons()]
    return "".join(f"{line}\n" for line in [*lines, _total(found["passed"], unjudged)])


def _place(row: Row) -> str:
    log = printable(row["source"])
    return log if row["line"] is None else f"{log}:{row['line']}"


def _sentence(row: Row) -> str:
    text = str(row["message"])
    if row["passed"] is None:
        text = f"cannot be judged: {text}"
    if row["about"] is not None:
        text += f", first {row['about']}"
    return printable(text)


def _total(passed: pl.Series, unjudged: Unjudged) -> str:
    """Count what was found.

    Examples
    --------
    >>> _total(pl.Series([True, True]), Unjudged())
    'All checks passed: 2.'
    >>> _total(pl.Series([True, False, None]), Unjudged(unread=("a", "b")))
    '1 of 3 checks failed, 1 cannot be judged, 2 logs cannot be read.'
    >>> _total(pl.Series([], dtype=pl.Boolean), Unjudged(empty=("a",)))
    'No check was made, 1 log without an event.'
    """
    failed, unknown = int((~passed).sum()), passed.null_count()
    if not (failed or unknown or any(unjudged) or passed.is_empty()):
        return f"All checks passed: {passed.len():,}."
    made = f"{failed:,} of {plural(passed.len(), 'check')} failed"
    parts = ["No check was made" if passed.is_empty() else made]
    if unknown:
        parts.append(f"{unknown:,} cannot be judged")
    if unjudged.unread:
        parts.append(f"{plural(len(unjudged.unread), 'log')} cannot be read")
    if unjudged.empty:
        parts.append(f"{plural(len(unjudged.empty), 'log')} without an event")
    return ", ".join(parts) + "."


def document(
    form: Annotations, found: pl.DataFrame, rules: Iterable[Rule], unjudged: Unjudged
) -> str:
    """Write the results as a document for machines.

    Parameters
    ----------
    form
        Which one.
    found
        What :func:`tracefast.check` gives.
    rules
        The rules.
    unjudged
        Logs of which no rule can be judged.
    """
    described = {rule.name: _described(rule) for rule in rules}
    judged = [*_cases(found, described), *unjudged.cases(described.values())]
    if form is Annotations.SARIF:
        return to_sarif(judged, list(described.values()))
    return to_junit(judged) if form is Annotations.JUNIT else to_github(judged)


def with_unjudged(found: pl.DataFrame, rules: Iterable[Rule], unjudged: Unjudged) -> pl.DataFrame:
    """Add rows of the logs of which no rule can be judged, one for each limit.

    Parameters
    ----------
    found, rules, unjudged
        As for :func:`document`.
    """
    rows = [
        {
            "source": log,
            "rule": rule.name,
            "table": rule.table,
            "measured": rule.measured,
            "limit_kind": kind,
            "limit": limit,
            "message": reason,
        }
        for log, reason in unjudged.reasons()
        for rule in rules
        for kind, limit in rule.limits
    ]
    # What is not named is null.
    return pl.concat([found, pl.DataFrame(rows, schema=found.schema)])


def _described(rule: Rule) -> cases.Rule:
    of = rule.table if rule.where is None else f"{rule.table} where {rule.where}"
    return cases.Rule(name=rule.name, title=f"{rule.measured} of {of}")


def _cases(found: pl.DataFrame, rules: dict[str, cases.Rule]) -> Iterator[cases.Case]:
    """Make a case of each rule and log; a rule with two limits may be broken twice."""
    for (source, name), rows in found.group_by("source", "rule", maintain_order=True):
        results = [
            cases.Result(message=_sentence(row), line=row["line"])
            for row in rows.filter(~pl.col("passed")).rows(named=True)
        ]
        unknown = rows.filter(pl.col("passed").is_null())["message"]
        yield cases.Case(
            rule=rules[str(name)],
            file=str(source),
            results=tuple(results),
            error=None if unknown.is_empty() else unknown[0],
        )
