"""The documents for continuous integration, read by libraries that others read them with."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from junitparser import Error, Failure, JUnitXml
from sarif_pydantic import Sarif

from tracefast.cli.output.annotations.cases import Case, Level, Result, Rule
from tracefast.cli.output.annotations.github import MOST, to_github
from tracefast.cli.output.annotations.junit import to_junit
from tracefast.cli.output.annotations.sarif import to_sarif

OPENS = Rule(name="few-opens", title="Few opens", help="Cache what was found.")
READS = Rule(name="no-small-reads", title="No small reads", level=Level.WARNING)
FAILED = Case(
    rule=OPENS,
    file="runs/a b.strace",
    results=(
        Result(message="12 opens, limit 10", line=7, about="/etc/hosts"),
        Result(message="11 opens, limit 10", line=9, about="/etc/passwd"),
    ),
)
PASSED = Case(rule=READS, file="runs/a b.strace")
UNJUDGED = Case(rule=READS, file="/runs/b.strace", error="no durations")
CASES = [FAILED, PASSED, UNJUDGED]

hostile = st.text(min_size=1, max_size=20)


def test_junit_has_a_suite_per_log_and_a_test_per_rule(tmp_path):
    file = tmp_path / "found.xml"
    file.write_text(to_junit(CASES), encoding="utf-8")
    document = JUnitXml.fromfile(str(file))
    assert (document.tests, document.failures, document.errors) == (3, 1, 1)
    first, second = document
    assert (first.name, second.name) == ("runs/a b.strace", "/runs/b.strace")
    failed, passed = first
    assert isinstance(failed.result[0], Failure)
    assert failed.result[0].message == "12 opens, limit 10"
    assert "runs/a b.strace:9: 11 opens, limit 10" in failed.result[0].text
    assert passed.is_passed
    (unjudged,) = second
    assert isinstance(unjudged.result[0], Error)
    # What the document says of itself is what is in it.
    totals = (document.tests, document.failures, document.errors)
    document.update_statistics()
    assert (document.tests, document.failures, document.errors) == totals


def test_sarif_has_rules_results_and_what_could_not_be_judged():
    run = Sarif.model_validate_json(to_sarif(CASES, [OPENS, READS])).runs[0]
    assert [rule.id for rule in run.tool.driver.rules] == ["few-opens", "no-small-reads"]
    assert [result.rule_id for result in run.results] == ["few-opens", "few-opens"]
    place = run.results[0].locations[0].physical_location
    assert place.artifact_location.uri == "runs/a%20b.strace"
    assert place.region.start_line == 7
    assert not run.invocations[0].execution_successful


def test_fingerprints_of_sarif_do_not_depend_on_numbers():
    def marks(cases):
        results = Sarif.model_validate_json(to_sarif(cases, [OPENS])).runs[0].results
        return [result.partial_fingerprints for result in results]

    later = Case(
        rule=OPENS,
        file=FAILED.file,
        results=(
            Result(message="99 opens, limit 10", line=70, about="/etc/hosts"),
            Result(message="98 opens, limit 10", line=90, about="/etc/passwd"),
        ),
    )
    assert marks([FAILED]) == marks([later])
    first, second = marks([FAILED])
    assert first != second


def test_github_shows_ten_of_each_level():
    many = Case(
        rule=OPENS,
        file="a.strace",
        results=tuple(Result(message=f"{n} opens") for n in range(25)),
    )
    warning = Case(
        rule=READS, file="a.strace", results=(Result(message="small", level=Level.WARNING),)
    )
    lines = to_github([many, warning]).splitlines()
    assert sum(line.startswith("::error ") for line in lines) == MOST
    assert lines[MOST - 1] == "::error title=tracefast::16 more"
    assert lines[MOST:] == [
        "::warning file=a.strace,title=no-small-reads::a.strace: small",
    ]


@pytest.mark.parametrize("level", list(Level))
@given(name=hostile, message=hostile, file=hostile)
def test_no_text_breaks_a_document(level, name, message, file):
    rule = Rule(name=name, title=message, level=level)
    case = Case(rule=rule, file=file, results=(Result(message=message, level=level),))
    (suite,) = JUnitXml.fromstring(to_junit([case]).encode())
    assert suite.failures == 1
    result = Sarif.model_validate_json(to_sarif([case], [rule])).runs[0].results[0]
    assert result.level.value == level.value
    (line,) = to_github([case]).splitlines()
    assert re.fullmatch(r"::(error|warning|notice) file=[^:,]*,title=[^:,]*::.+", line)
