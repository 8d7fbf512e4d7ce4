"""The page on insights lists the rules as they are."""

import rules


def test_the_page_lists_all_rules_as_they_are():
    assert rules.PAGE.read_text() == rules.page(), "make pages"
