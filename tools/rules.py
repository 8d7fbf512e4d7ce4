"""The rules of `tracefast insights` on their page, made from the rules themselves: `make pages`."""

import re
from pathlib import Path

from tracefast.analysis.insights.finding import Rule
from tracefast.analysis.insights.registry import GROUPS
from tracefast.analysis.insights.weights import THRESHOLDS
from tracefast.cli.screen.insights.explained_rule import threshold_text

PAGE = Path(__file__).resolve().parents[1] / "docs" / "insights.md"
_MARKED = re.compile(r"(<!-- (rules|thresholds of severity) -->\n).*?(<!-- end -->)", re.DOTALL)


def page() -> str:
    """Give the page with its lists filled in."""
    made = {"rules": _rules(), "thresholds of severity": _bullets(THRESHOLDS)}
    return _MARKED.sub(lambda found: f"{found[1]}\n{made[found[2]]}\n{found[3]}", PAGE.read_text())


def _rules() -> str:
    parts = []
    for group, rules in GROUPS.items():
        table = [f"**{group}**", "", "| code | finds |", "|---|---|"]
        table += [f"| [{rule.code}](#{rule.code}) | {rule.title} |" for rule in rules]
        parts.append("\n".join([*table, ""]))
    parts += [_section(rule) for rules in GROUPS.values() for rule in rules]
    return "\n".join(parts)


def _section(rule: Rule) -> str:
    lines = [f"### {rule.code}", "", f"{rule.title} {rule.looks_for}", ""]
    if rule.thresholds:
        lines += [_bullets(rule.thresholds)]
    lines += [f"What to do: {rule.advice}", ""]
    return "\n".join(lines)


def _bullets(thresholds) -> str:
    return "\n".join([*(f"- {threshold_text(each)}" for each in thresholds), ""])


if __name__ == "__main__":
    PAGE.write_text(page())
