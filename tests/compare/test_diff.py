"""What differs between runs: recorded builds, and what holds of any two logs."""

from collections import Counter
from itertools import combinations, product
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import tracefast as tf
from support.memory import needs_status, peak_kb
from support.paths import DATA
from tracefast.analysis.compare.diff import compare
from tracefast.analysis.compare.kept_values import KeptValues
from tracefast.analysis.compare.significance import LEVEL
from tracefast.analysis.compare.tables import SUMMED, TABLES, TOTALS
from tracefast.analysis.compare.values import values_of
from tracefast.columns.compare.diff import TABLES as NAMES

BUILDS = DATA / "builds"


def runs(name, numbers=range(1, 5)):
    return tf.scan([BUILDS / f"{name}-{number}.strace.zst" for number in numbers])


def rows(changes, **wanted):
    return changes.filter(**wanted).select("key", "before", "after", "only_in").rows()


@pytest.fixture(scope="module")
def one_to_one():
    return tf.diff(runs("old", [1]), runs("new", [1])).collect()


def test_an_include_folder_is_named_with_the_opens_that_it_saves(one_to_one):
    assert rows(one_to_one, table="files", measure="opens_failed") == [
        ("/srv/build/legacy/part*.h", 12, 0, "before"),
        ("/srv/build/legacy/stdc-predef.h", 1, 0, "before"),
    ]


def failed_opens(name):
    table = tf.syscalls(runs(name, [1])).filter(pl.col("name") == "openat").collect()
    return int(table["errors"].item())


def test_counts_are_those_of_the_tables(one_to_one):
    before, after = failed_opens("old"), failed_opens("new")
    assert before - after == 13
    found = rows(one_to_one, table="syscalls", measure="errors", key="openat")
    assert found == [("openat", before, after, None)]


def test_a_single_run_cannot_be_sure(one_to_one):
    assert one_to_one["p"].null_count() == one_to_one.height
    assert one_to_one["sure"].null_count() == one_to_one.height
    assert one_to_one["before_spread"].null_count() == one_to_one.height


def test_nothing_is_sure_between_runs_of_the_same_program():
    changes = tf.diff(runs("old"), runs("again")).collect()
    assert changes.height > 0
    assert not changes["sure"].any()


def test_of_recorded_runs_few_ways_to_divide_them_give_anything_sure():
    events = tf.scan(
        [BUILDS / f"{a}-{n}.strace.zst" for a in ("old", "again") for n in range(1, 5)]
    )
    values = values_of(events, "before", NAMES).collect()
    sources = values["source"].unique().sort().to_list()
    ways = [way for way in combinations(sources, 4) if sources[0] in way]
    mistaken = Counter()
    for way in ways:
        side = (
            pl.when(pl.col("source").is_in(way)).then(pl.lit("before")).otherwise(pl.lit("after"))
        )
        with KeptValues(NAMES, normalise=True) as kept:
            kept.add(values.with_columns(side=side))
            changes = compare(kept, match=None).changes
        sure = changes.filter("sure")
        mistaken.update(set(zip(sure["table"] == "totals", sure["unit"] == "ns", strict=True)))
    assert all(count <= LEVEL * len(ways) for count in mistaken.values())


def test_totals_are_those_of_the_tables(one_to_one):
    for side, name in (("before", "old"), ("after", "new")):
        events = runs(name, [1])
        files, calls = tf.files(events).collect(), tf.syscalls(events).collect()
        end = pl.col("ts").cast(pl.Int64) + pl.col("dur_ns").fill_null(0)
        span = events.select(end.max() - pl.col("ts").cast(pl.Int64).min()).collect().item()
        known = {
            ("run", "wall_ns"): span,
            ("files", "opens_failed"): files["opens_failed"].sum(),
            ("syscalls", "calls"): calls["calls"].sum(),
            ("syscalls", "errors"): calls["errors"].sum(),
            ("syscalls", "total_ns"): calls["total_ns"].sum(),
            ("syscalls", "wait_ns"): calls["wait_ns"].sum(),
        }
        totals = one_to_one.filter(table="totals")
        found = {(row["key"], row["measure"]): row[side] for row in totals.rows(named=True)}
        assert found == known


def test_totals_alone_are_those_beside_all_tables(one_to_one):
    alone = tf.diff(runs("old", [1]), runs("new", [1]), "totals").collect()
    assert_frame_equal(alone, one_to_one.filter(table="totals"))


def test_four_runs_a_side_are_sure_of_what_is_the_same_in_all_of_them():
    changes = tf.diff(runs("old"), runs("new")).collect()
    sure = changes.filter("sure")
    assert rows(sure, table="totals", measure="opens_failed") == [("files", 41, 28, None)]
    assert rows(sure, table="files", measure="opens_failed") == [
        ("/srv/build/legacy/part*.h", 12, 0, "before"),
        ("/srv/build/legacy/stdc-predef.h", 1, 0, "before"),
    ]
    # Times vary, and many are compared.
    assert "ns" not in sure["unit"]


def test_one_question_is_sure_with_four_runs_a_side():
    changes = tf.diff(runs("old"), runs("new"), "files", match="stdc-predef.h").collect()
    sure = changes.filter("sure")
    assert sure.select("key", "measure", "before", "after").rows() == [
        ("/srv/build/legacy/stdc-predef.h", "opens_failed", 1, 0)
    ]
    assert sure["p"].item() == pytest.approx(2 / 70)


def test_medians_and_spread_are_those_of_the_runs():
    changes = tf.diff(runs("old"), runs("new", [1]), "syscalls").collect()
    calls = tf.syscalls(runs("old")).collect()
    totals = calls.filter(pl.col("name") == "mmap")["total_ns"]
    row = changes.filter(key="mmap", measure="total_ns").row(0, named=True)
    assert row["before"] == totals.median()
    assert row["before_spread"] == totals.max() - totals.min()
    assert (row["before_runs"], row["after_runs"]) == (4, 1)


def test_times_come_first_then_bytes_then_numbers(one_to_one):
    units = one_to_one["unit"].to_list()
    assert units == sorted(units, key=["ns", "bytes", None].index)
    for unit in ("ns", "bytes", None):
        sizes = one_to_one.filter(pl.col("unit").eq_missing(unit))["change"].abs()
        assert sizes.is_sorted(descending=True)


def test_names_of_temporary_files_are_one(make_log):
    logs = [
        make_log(
            name, f'1 1700000001.000000 openat(AT_FDCWD, "/tmp/{path}", O_RDONLY) = 3 <0.100000>'
        )
        for name, path in (("a", "ccAbc123.o"), ("b", "ccXyz789.o"))
    ]
    before, after = map(tf.scan, logs)
    assert tf.diff(before, after, "files").collect().height == 0
    exact = tf.diff(before, after, "files", normalise=False).collect()
    assert sorted(exact["key"].unique()) == ["/tmp/ccAbc123.o", "/tmp/ccXyz789.o"]
    assert exact.filter(measure="opens")["only_in"].to_list() == ["before", "after"]


def test_a_name_that_every_run_has_stays_as_it_is(make_log):
    line = '1 1700000001.000000 openat(AT_FDCWD, "/lib/libm.so.6", O_RDONLY) = 3 <0.100000>'
    before, after = make_log("a", line), make_log("b", line, line)
    changes = tf.diff(tf.scan(before), tf.scan(after), "files").collect()
    assert changes.select("key", "measure", "ratio").rows() == [("/lib/libm.so.6", "opens", 2)]


def test_what_a_log_cannot_say_is_no_change(make_log):
    timed = make_log("a", "1 1700000001.000000 getpid() = 1 <0.100000>")
    untimed = make_log("b", "1 1700000001.000000 getpid() = 1")
    changes = tf.diff(tf.scan(timed), tf.scan(untimed), "syscalls").collect()
    assert changes.height == 0


def test_a_run_that_cannot_say_a_measure_does_not_count(make_log):
    timed = [
        make_log(f"t{at}", f"1 1700000001.000000 getpid() = 1 <0.{at}00000>") for at in range(1, 4)
    ]
    untimed = make_log("u", "1 1700000001.000000 getpid() = 1")
    changes = tf.diff(tf.scan([*timed[:2], untimed]), tf.scan(timed[2]), "syscalls").collect()
    assert changes.select("measure", "before", "after", "before_runs", "after_runs").rows() == [
        ("total_ns", 150_000_000, 300_000_000, 2, 1)
    ]
    # One that can, and has no such call, has none.
    other = make_log("o", "1 1700000001.000000 getuid() = 1 <0.200000>")
    changes = tf.diff(tf.scan([timed[0], other, untimed]), tf.scan(timed[2]), "syscalls").collect()
    row = changes.filter(key="getpid", measure="total_ns").row(0, named=True)
    assert (row["before"], row["before_runs"], row["before_spread"]) == (5e7, 2, 1e8)


def test_unknown_tables_are_refused():
    with pytest.raises(ValueError, match="table"):
        tf.diff(runs("old"), runs("new"), "file")


@pytest.fixture
def make_log(tmp_path):
    def make(name, *lines):
        log = tmp_path / f"{name}.strace"
        log.write_text("".join(f"{line}\n" for line in lines))
        return log

    return make


CALLS = st.lists(
    st.tuples(
        st.sampled_from(["/etc/hosts", "/tmp/tmpa1b2c3d4/x", "/proc/12/status", "/proc/13/status"]),
        st.sampled_from(["3", "-1 ENOENT (No such file or directory)"]),
        st.integers(0, 9),
    ),
    max_size=12,
)


def written(folder: Path, name: str, calls) -> pl.LazyFrame:
    """Write a log of such calls, and one call more, as a log has some."""
    log = folder / f"{name}.strace"
    lines = [
        f'1 {1700000000 + at}.000000 openat(AT_FDCWD, "{path}", O_RDONLY) = {ret} <0.00000{dur}>\n'
        for at, (path, ret, dur) in enumerate(calls)
    ]
    log.write_text("".join(["1 1700000000.000000 getpid() = 1 <0.000001>\n", *lines]))
    return tf.scan(log)


@given(CALLS)
@settings(max_examples=15, deadline=None)
def test_a_log_does_not_differ_from_itself(tmp_path_factory, calls):
    events = written(tmp_path_factory.mktemp("same"), "a", calls)
    assert tf.diff(events, events).collect().height == 0


@given(CALLS, CALLS)
@settings(max_examples=15, deadline=None)
def test_swapped_sides_negate_the_change(tmp_path_factory, first, second):
    folder = tmp_path_factory.mktemp("swapped")
    a, b = written(folder, "a", first), written(folder, "b", second)
    key = ["table", "key", "measure"]
    there = tf.diff(a, b).collect().sort(key)
    back = tf.diff(b, a).collect().sort(key)
    swapped = back.select(
        *key,
        before="after",
        after="before",
        change=-pl.col("change"),
        only_in=pl.col("only_in").replace({"before": "after", "after": "before"}),
    )
    assert_frame_equal(there.select(swapped.columns), swapped)


def test_sums_of_changes_are_those_of_the_logs(tmp_path):
    sides = [("/etc/hosts", "3", 1)] * 3, [("/etc/hosts", "3", 2), ("/new", "3", 2)]
    a, b = (written(tmp_path, name, calls) for name, calls in zip("ab", sides, strict=True))
    changes = tf.diff(a, b).collect()
    assert rows(changes, table="files", measure="opens") == [
        ("/etc/hosts", 3, 1, None),
        ("/new", 0, 1, "after"),
    ]


def test_every_table_that_can_be_named_is_compared():
    assert (TOTALS, *TABLES) == NAMES
    assert set(SUMMED) <= set(TABLES)
    assert all(set(SUMMED[name]) <= set(TABLES[name].measures) for name in SUMMED)


@pytest.mark.parametrize(
    "log",
    ["demo.strace.zst", "demo.ftrace.zst", "spawn/spawn.ftrace", "stalls/python_fork.strace.zst"],
)
def test_a_recorded_log_does_not_differ_from_itself(log):
    events = tf.scan(DATA / log)
    assert tf.diff(events, events).collect().height == 0


@pytest.mark.parametrize(("name", "column"), [(n, c) for n in TABLES for c in TABLES[n].measures])
def test_measures_are_columns(name, column):
    made = TABLES[name].make(runs("old", [1])).collect_schema()
    assert column == "count" or made[column].is_numeric()
    assert set(TABLES[name].keys) <= set(made)
    assert set(TABLES[name].paths) <= set(TABLES[name].keys)


def test_parquet_gives_what_logs_give(tmp_path):
    for name, number in product(("old", "new"), (1, 2)):
        log = BUILDS / f"{name}-{number}.strace.zst"
        tf.parse(log, tmp_path / f"{name}-{number}.parquet")
    before, after = (tf.scan(str(tmp_path / f"{name}-*.parquet")) for name in ("old", "new"))
    expected = tf.diff(runs("old", [1, 2]), runs("new", [1, 2])).collect()
    assert_frame_equal(tf.diff(before, after).collect(), expected)


# Keeps the values of one log as often as it is asked to, and compares the two sides.
COMPARES = """
import sys
import polars as pl
import tracefast as tf
from tracefast.analysis.compare.diff import compare
from tracefast.analysis.compare.kept_values import KeptValues
from tracefast.analysis.compare.values import values_of
from tracefast.columns.compare.diff import TABLES

log, count = sys.argv[1], int(sys.argv[2])
one = values_of(tf.scan(log), "before", TABLES).collect()
with KeptValues(TABLES, normalise=True) as kept:
    for side in ("before", "after"):
        for at in range(count):
            run = {"side": side, "source": str(at)}
            kept.add(one.with_columns(pl.lit(word).alias(name) for name, word in run.items()))
    assert compare(kept, match=None).changes.is_empty()
"""


@needs_status
def test_a_run_takes_little_memory():
    log = DATA / "demo.strace.zst"
    few, many = (min(peak_kb(COMPARES, log, runs) for _ in range(2)) for runs in (80, 320))
    # Its 3000 values are in a file, and some at a time are paired: all in memory took 600 KiB.
    assert (many - few) / 480 < 120
