"""Columns line up whatever letters names have: a terminal shows some two columns wide."""

import polars as pl
import pytest

from tracefast.cli.text.shorten import cut_middle
from tracefast.cli.text.table_text import render_table
from tracefast.cli.text.units import duration


def columns_before(line: str, mark: str) -> int:
    wide, marks = "写真日本語🚀", "\u0301"
    before = line.partition(mark)[0]
    return sum(0 if c in marks else 2 if c in wide else 1 for c in before)


@pytest.mark.parametrize("width", [None, 40])
def test_wide_letters_and_marks_line_up(width):
    names = ["plain.img", "写真.img", "cafe\u0301.img", "🚀.img", "日本語" * 20 + ".img"]
    table = pl.DataFrame({"name": names, "path": [f"|{at}" for at in range(len(names))]})
    _, *lines = render_table(table, table.columns, width).splitlines()
    assert len({columns_before(line, "|") for line in lines}) == 1
    assert all(columns_before(f"{line}\n", "\n") <= (width or 1000) for line in lines)


def test_a_cut_keeps_the_last_name_and_no_mark_alone():
    assert cut_middle("/data/日本語/写真.img", 12) == "/d…/写真.img"
    assert cut_middle("abcdefe\u0301z", 3) == "…e\u0301z"


def test_long_times_have_two_units():
    second = 1_000_000_000
    assert [duration(at) for at in (59_900_000_000, 59_960_000_000)] == ["59.9 s", "1 min"]
    assert [duration(at * second) for at in (60, 1845, 3599, 3600, 86_399, 86_400)] == [
        *("1 min", "30 min 45 s", "59 min 59 s", "1 h", "1 d", "1 d"),
    ]
    assert duration(-90 * second) == "-1 min 30 s"
