"""Logs after real tools that people use before they paste (`tests/data/pasted/record.sh`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import tracefast as tf
from support.paths import DATA

if TYPE_CHECKING:
    from pathlib import Path

PASTED = DATA / "pasted"
CLEAN = ("strace", "ftrace")
DAMAGED = sorted(path.stem for path in PASTED.glob("*-*.log"))


def events(path: Path) -> pl.DataFrame:
    rows = pl.DataFrame(tf.read(path)).filter(pl.col("kind") != "unparsed")
    return rows.drop("source", "line", "extra")


@pytest.mark.parametrize("name", DAMAGED)
def test_a_pasted_log_gives_the_rows_of_the_clean_one(name):
    clean = name.split("-", maxsplit=1)[0]
    expected = events(PASTED / f"{clean}.log")
    assert_frame_equal(events(PASTED / f"{name}.log"), expected, categorical_as_str=True)
    report = tf.parse(PASTED / f"{name}.log", None)
    assert report.oddities["lost_values"] == 0
    outside = ("fenced", "script")
    assert report.unparsed == [] or name.endswith(outside)


def test_each_shape_is_there_in_both_formats():
    shapes = {kind: {name for name in DAMAGED if name.startswith(kind)} for kind in CLEAN}
    assert len(shapes["ftrace"]) == 18
    assert len(shapes["strace"]) == 20
