"""SARIF 2.1.0, the format of static analysis results that code hosts take.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import PurePath
from typing import Any, Final
from urllib.parse import quote

from tracefast import __version__
from tracefast.cli.output.annotations.cases import Case, Result, Rule
from tracefast.cli.text.escaping import printable

_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"

Object = dict[str, Any]


def to_sarif(cases: Iterable[Case], rules: Sequence[Rule]) -> str:
    """Write results as one run of SARIF.

    Parameters
    ----------
    cases
        What was judged.
    rules
        All rules, those without results, too: the reader learns what was looked for.

    Examples
    --------
    >>> rule = Rule(name="few-opens", title="Few opens")
    >>> case = Case(rule=rule, file="app.strace", results=(Result(message="12 opens"),))
    >>> run = json.loads(to_sarif([case], [rule]))["runs"][0]
    >>> run["results"][0]["ruleId"], run["results"][0]["message"]["text"]
    ('few-opens', '12 opens')
    """
    at = {rule.name: index for index, rule in enumerate(rules)}
    judged = list(cases)
    results = [
        _result(case, result, at[case.rule.name]) for case in judged for result in case.results
    ]
    errors = [case for case in judged if case.error is not None]
    invocation: Object = {"executionSuccessful": not errors}
    if errors:
        invocation["toolExecutionNotifications"] = _notifications(errors)
    driver = {"name": "tracefast", "version": __version__, "rules": [_rule(one) for one in rules]}
    run = {"tool": {"driver": driver}, "invocations": [invocation], "results": results}
    document = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _rule(rule: Rule) -> Object:
    described: Object = {
        "id": printable(rule.name),
        "shortDescription": {"text": printable(rule.title)},
        "defaultConfiguration": {"level": rule.level.value},
    }
    if rule.help is not None:
        described["help"] = {"text": printable(rule.help)}
    return described


def _result(case: Case, result: Result, rule: int) -> Object:
    return {
        "ruleId": printable(case.rule.name),
        "ruleIndex": rule,
        "level": result.level.value,
        "message": {"text": printable(result.message)},
        "locations": [_location(case.file, result.line)],
        "partialFingerprints": {"tracefast/v1": _fingerprint(case, result)},
    }


def _notifications(errors: list[Case]) -> list[Object]:
    """Say of each log why it cannot be judged: once if that holds for all rules that say it."""
    rules: dict[tuple[str, str], list[Rule]] = {}
    for case in errors:
        rules.setdefault((case.file, case.error or ""), []).append(case.rule)
    found = []
    for (file, error), of in rules.items():
        notification: Object = {
            "level": "error",
            "message": {"text": printable(error)},
            "locations": [_location(file, None)],
        }
        if len(of) == 1:
            notification["associatedRule"] = {"id": printable(of[0].name)}
        found.append(notification)
    return found


def _location(file: str, line: int | None) -> Object:
    physical: Object = {"artifactLocation": {"uri": _uri(file)}}
    if line is not None:
        physical["region"] = {"startLine": line}
    return {"physicalLocation": physical}


def _uri(file: str) -> str:
    """Write a path as the reference of RFC 3986 that SARIF wants."""
    path = PurePath(file)
    return path.as_uri() if path.is_absolute() else quote(path.as_posix(), errors="surrogateescape")


def _fingerprint(case: Case, result: Result) -> str:
    """Make a mark that is the same in the next run, whatever its numbers are."""
    parts = "\0".join([case.rule.name, case.file, result.about or ""])
    return hashlib.sha256(parts.encode(errors="surrogateescape")).hexdigest()[:32]
