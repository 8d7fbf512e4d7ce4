"""Shortened names in a column: still different from each other."""

import polars as pl
import pytest

from tracefast.cli.text.shorten import cut_distinct, without_common_folders
from tracefast.cli.text.table_text import render_table


@pytest.mark.parametrize(
    ("names", "short"),
    [
        ([], []),
        (["/a/b/c.strace"], ["c.strace"]),
        (["a.strace", "b/a.strace"], ["a.strace", "b/a.strace"]),
        (["/a/b/c", "/a/b/d", "/a/x/c"], ["b/c", "b/d", "x/c"]),
        (["/a/b", "/ab/b"], ["a/b", "ab/b"]),
        (["-", "/a/b"], ["-", "/a/b"]),
    ],
)
def test_common_folders_say_nothing(names, short):
    assert without_common_folders(names) == short


@pytest.mark.parametrize(
    "names",
    [
        [f"run-2026-11-21-of-host-{i}.ftrace.zst" for i in range(3)],
        [f"{i}-run-2026-11-21-of-host.ftrace.zst" for i in range(3)],
        [f"a-long-name-in-front-{i}-and-a-long-one-after.strace.zst" for i in range(30)],
        ["short", "a-name-that-is-too-long-for-it"],
    ],
)
def test_names_that_are_cut_differ(names):
    short = cut_distinct([*names, *names], 16)
    assert len(set(short)) == len(names)
    assert short[: len(names)] == short[len(names) :]
    assert max(map(len, short)) <= 16


def test_names_that_differ_too_far_apart_are_cut_all_the_same():
    names = [f"{a}{'x' * 40}{b}{'y' * 40}{c}" for a in "ab" for b in "ab" for c in "ab"]
    assert {len(name) for name in cut_distinct(names, 16)} == {16}


def test_names_are_whole_where_there_is_room():
    table = pl.DataFrame({"source": ["logs/a.strace", "logs/b.strace"], "reads": [1, 2]})
    assert "logs/a.strace" in render_table(table, table.columns, 80)
    assert render_table(table, table.columns, 16).splitlines()[1:] == [
        "a.strace      1",
        "b.strace      2",
    ]
