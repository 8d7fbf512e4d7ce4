"""Columns are described as they are: docstrings, the page on tables, and the code agree."""

import re

import pytest

import table_page
import tracefast as tf

# What some options add.
EXTRA = {
    tf.files: [{"by": "process"}, {"by": "open"}],
    tf.syscalls: [{"by": "process"}],
}


@pytest.mark.parametrize("function", table_page.FUNCTIONS, ids=lambda each: each.__name__)
def test_docstrings_describe_the_columns_that_there_are(function):
    described = table_page.described(function)
    given = table_page.given(function)
    for options in EXTRA.get(function, []):
        more = table_page.given(function, **options)
        added = [name for name in more if name not in given]
        order = [name for name in described if name in given or name in added]
        assert sorted(order, key=list(described).index) == order
        given |= {name: more[name] for name in added}
    assert described == given


@pytest.mark.parametrize("function", table_page.FUNCTIONS, ids=lambda each: each.__name__)
def test_columns_are_described_in_their_order(function):
    given = table_page.given(function)
    assert [name for name in table_page.described(function) if name in given] == list(given)


def test_the_page_has_them():
    page = table_page.PAGE.read_text()
    assert table_page.made(page) == page, "run: make pages"
    sections = set(re.findall(r"<!-- columns of (\w+) -->", page))
    assert sections == {function.__name__ for function in table_page.FUNCTIONS}


def test_counters_of_darshan_are_of_the_types_that_the_page_says():
    types = table_page.given(tf.files, darshan=True)
    assert list(types)[:2] == ["source", "path"]
    for name, kind in list(types.items())[2:]:
        assert kind == ("Float64" if name.startswith("POSIX_F_") else "Int64")


def test_every_table_that_is_public_is_described():
    given = {"covered_bytes", "fields", "scan"}
    tables = {
        name
        for name in tf.__all__
        if callable(getattr(tf, name)) and "LazyFrame" in (getattr(tf, name).__doc__ or "")
    }
    assert tables - given == {function.__name__ for function in table_page.FUNCTIONS}
