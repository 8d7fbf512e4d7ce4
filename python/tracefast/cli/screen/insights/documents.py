"""Write findings as documents for machines of continuous integration."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import polars as pl

from tracefast.analysis.insights.finding import Rule, Severity
from tracefast.cli.command_line.request import Request
from tracefast.cli.output.annotations import cases
from tracefast.cli.output.annotations.cases import Case, Level, Result, Unjudged
from tracefast.cli.output.annotations.github import to_github
from tracefast.cli.output.annotations.junit import to_junit
from tracefast.cli.output.annotations.sarif import to_sarif
from tracefast.cli.output.form import Annotations
from tracefast.cli.output.write import write_bytes

_LEVELS: Final = {
    Severity.HIGH: Level.ERROR,
    Severity.MEDIUM: Level.WARNING,
    Severity.LOW: Level.NOTE,
}


def write_document(
    findings: pl.DataFrame,
    request: Request,
    rules: Sequence[Rule],
    logs: Sequence[str],
    unjudged: Unjudged,
) -> None:
    """Write findings in the document that was asked for.

    Parameters
    ----------
    findings
        The rows of `tracefast.insights`, the most severe first.
    request
        What was asked for.
    rules
        The rules that were asked.
    logs
        The logs with events.
    unjudged
        The others.
    """
    top = findings.head(request.top) if request.top else findings
    described = {rule.code: _described(rule) for rule in rules}
    without = list(unjudged.cases(described.values()))
    if request.annotations is Annotations.JUNIT:
        # A test for each rule of each log, those that pass, too.
        every = [(described[r.code], log) for log in logs for r in rules]
        text = to_junit([*_cases(top, every), *without])
    else:
        places = top.select("code", "source").unique(maintain_order=True).rows()
        found = [*without, *_cases(top, [(described[code], log) for code, log in places])]
        document = request.annotations is Annotations.SARIF
        text = to_sarif(found, list(described.values())) if document else to_github(found)
    write_bytes(text.encode(), request.output, clobber=request.clobber)


def _described(rule: Rule) -> cases.Rule:
    text = f"{rule.looks_for} {rule.advice} See {rule.where}"
    return cases.Rule(name=rule.code, title=rule.title, level=Level.WARNING, help=text)


def _cases(findings: pl.DataFrame, places: Sequence[tuple[cases.Rule, str]]) -> Iterator[Case]:
    """Give what each rule found in each log."""
    rows: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in findings.rows(named=True):
        rows.setdefault((row["code"], row["source"]), []).append(row)
    for rule, log in places:
        results = tuple(_result(row) for row in rows.get((rule.name, log), []))
        yield Case(rule=rule, file=log, results=results)


def _result(row: dict[str, Any]) -> Result:
    return Result(
        message=f"{row['title']} {row['evidence']}. {row['advice']}",
        level=_LEVELS[Severity(row["severity"])],
        about=row["object"],
        line=row["lines"][0] if row["lines"] else None,
    )
