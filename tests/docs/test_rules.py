"""The page on insights lists the rules as they are, and rules name sections that exist."""

import re

import pytest

import rules
from support.paths import ROOT
from tracefast.analysis.insights.registry import RULES


def test_the_page_lists_all_rules_as_they_are():
    assert rules.PAGE.read_text() == rules.page(), "make pages"


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_a_rule_names_a_section_that_exists(rule):
    page, _, section = rule.where.partition("#")
    heads = re.findall(r"^#+ (.+)$", (ROOT / page).read_text(), re.MULTILINE)
    assert section in {head.lower().replace(" ", "-") for head in heads}
