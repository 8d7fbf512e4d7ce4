"""Files and system calls without how sizes and durations are distributed: what is left is equal."""

from functools import partial

import polars as pl
import pytest

import tracefast as tf
from support.paths import DATA
from tracefast import _core
from tracefast._polars.folds import finished, fold_together, rows_of_folds
from tracefast.analysis.overview.tables import overview

LOGS = [DATA / "demo.strace.zst", DATA / "demo.ftrace.zst"]
OF_FILES = [
    f"{op}_{name}"
    for op in ("read", "write")
    for name in ("size_median", "size_max", "asked_common", "wall_ns", "p50_ns", "p99_ns", "max_ns")
]
OF_CALLS = ["wall_ns", "min_ns", "p50_ns", "p90_ns", "p99_ns", "max_ns"]


def is_null(table: pl.DataFrame, columns: list[str]) -> bool:
    """Say whether columns are null wherever there were calls."""
    for name in columns:
        op = name.partition("_")[0]
        called = table.filter(pl.col(f"{op}s") > 0) if f"{op}s" in table.columns else table
        if called[name].null_count() < called.height:
            return False
    return True


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.suffixes[0])
@pytest.mark.parametrize(
    ("make", "columns"),
    [(partial(_core.Files, by=by), OF_FILES) for by in (None, "process", "open")]
    + [(partial(_core.Syscalls, by=by), OF_CALLS) for by in (None, "process")],
    ids=["files", "files by process", "files by open", "calls", "calls by process"],
)
def test_only_their_columns_are_null(log, make, columns):
    folds = [make, partial(make, distributions=False)]
    whole, sums = rows_of_folds(finished(fold_together(tf.scan(log), folds, question="test")))
    assert sums.drop(columns).equals(whole.drop(columns))
    assert is_null(sums, columns)
    assert not is_null(whole, columns)


def test_a_screen_without_insights_has_the_same_sums():
    found, whole = (overview(tf.scan(LOGS[0]), insights=insights) for insights in (False, True))
    for name, columns in (("files", OF_FILES), ("syscalls", OF_CALLS)):
        table = found.table(name)
        assert is_null(table, columns)
        kept = table.drop(columns)
        assert kept.equals(whole.table(name).select(kept.columns))
    assert not whole.advice


def test_a_screen_without_insights_has_advice_about_processes():
    log = DATA / "starting" / "loader.strace.zst"
    found, whole = (overview(tf.scan(log), insights=insights) for insights in (False, True))
    assert [one.code for one in found.advice] == ["fork-per-epoch"]
    assert not whole.advice
