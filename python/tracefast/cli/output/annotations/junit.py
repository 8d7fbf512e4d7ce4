"""JUnit's XML, which all servers of continuous integration show: a suite per log, a test per rule.

The elements and attributes are those that junitparser and Jenkins' xunit schema know.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Final

# It writes here, and reads nothing.
from xml.etree import ElementTree as ET

from tracefast.cli.output.annotations.cases import Case
from tracefast.cli.text.escaping import printable

# XML has no place for these two characters, not even as references.
_NOT_XML: Final = dict.fromkeys((0xFFFE, 0xFFFF), "\ufffd")


def to_junit(cases: Iterable[Case]) -> str:
    """Write cases as tests: each passes, fails with all that was found, or could not be judged.

    Parameters
    ----------
    cases
        What was judged.

    Examples
    --------
    >>> from tracefast.cli.output.annotations.cases import Rule
    >>> print(to_junit([Case(rule=Rule(name="few-opens", title="Few"), file="a.strace")]), end="")
    <?xml version="1.0" encoding="UTF-8"?>
    <testsuites name="tracefast" tests="1" failures="0" errors="0">
      <testsuite name="a.strace" tests="1" failures="0" errors="0">
        <testcase classname="a.strace" name="few-opens" />
      </testsuite>
    </testsuites>
    """
    logs: defaultdict[str, list[Case]] = defaultdict(list)
    for case in cases:
        logs[case.file].append(case)
    judged = [case for suite in logs.values() for case in suite]
    root = ET.Element("testsuites", {"name": "tracefast"} | _counts(judged))
    for log, suite in logs.items():
        name = _text(log)
        element = ET.SubElement(root, "testsuite", {"name": name} | _counts(suite))
        for case in suite:
            _add(element, case, name)
    ET.indent(root)
    text = ET.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _counts(cases: list[Case]) -> dict[str, str]:
    errors = sum(case.error is not None for case in cases)
    failures = sum(case.error is None and bool(case.results) for case in cases)
    return {"tests": str(len(cases)), "failures": str(failures), "errors": str(errors)}


def _add(suite: ET.Element, case: Case, log: str) -> None:
    test = ET.SubElement(suite, "testcase", classname=log, name=_text(case.rule.name))
    if case.error is not None:
        message = _text(case.error)
        ET.SubElement(test, "error", message=message, type="cannot-be-judged").text = message
    elif case.results:
        first, *_ = case.results
        lines = [_line(log, result.line, result.message) for result in case.results]
        failure = ET.SubElement(
            test, "failure", message=_text(first.message), type=first.level.value
        )
        failure.text = "\n".join(lines)


def _line(log: str, line: int | None, message: str) -> str:
    place = log if line is None else f"{log}:{line}"
    return f"{place}: {_text(message)}"


def _text(text: str) -> str:
    return printable(text).translate(_NOT_XML)
