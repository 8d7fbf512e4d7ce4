"""The summary of what starting processes costs, on rows made by hand and on recorded logs."""

from itertools import combinations
from statistics import correlation, median

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import tracefast as tf
from support.forks import MIB, MS, made, same
from support.reference.fork_summary import at_once, summary, union
from tracefast.analysis.forks.measures.intervals import covered, most_at_once
from tracefast.analysis.forks.measures.slopes import MOST_POINTS, theil_sen
from tracefast.analysis.forks.summary import KEYS, SCHEMA


def table_of(rows, **options) -> pl.DataFrame:
    table = tf.fork_summary(rows, **options).collect()
    assert dict(table.schema) == SCHEMA
    return table


def one(rows) -> dict:
    return table_of(made(rows)).row(0, named=True)


def test_what_was_started_how_often_and_how_long_it_took():
    row = one([{"call_ns": ns * MS} for ns in (20, 30, 10, 40)])
    expected = {
        "parent_image": "/usr/bin/python3",
        "kind": "fork",
        "image": "/bin/true",
        "count": 4,
        "failed": 0,
        "rate_per_s": 10.0,
        "in_flight_max": 1,
        "call_sum_ns": 100 * MS,
        "call_p50_ns": 20 * MS,
        "call_p95_ns": 40 * MS,
        "startup_sum_ns": None,
        "startup_p50_ns": None,
    }
    assert {name: row[name] for name in expected} == expected


def test_times_of_any_length_are_summed_up():
    longest = 2**63 - 1
    row = one([{"kind": "vfork", "call_ns": longest, "exec_ns": longest}])
    assert (row["call_p50_ns"], row["exec_p50_ns"], row["saving_ns"]) == (longest, longest, 0)


def test_groups_are_sorted_by_what_they_cost():
    rows = [
        {"image": "/bin/cheap", "call_ns": 1},
        {"kind": "vfork"},
        {"parent_image": "/bin/sh"},
        {"image": None, "exec_ns": None},
        {"call_ns": None, "exec_ns": None, "image": "/bin/unknown"},
        *same(3),
    ]
    table = table_of(made(rows))
    assert table["count"].to_list() == [3, 1, 1, 1, 1, 1]
    assert table["tax_ns"].to_list() == sorted(table["tax_ns"].to_list(), key=lambda n: -(n or 0))
    assert table["tax_ns"][-1] is None


def test_threads_are_left_out_unless_they_are_wanted():
    rows = made([{}, {"kind": "thread", "image": None}, {"kind": None}])
    assert sorted(table_of(rows)["kind"].to_list(), key=str) == [None, "fork"]
    assert table_of(rows, threads=True).height == 3


def test_failed_calls_are_counted_apart_but_their_time_is_paid():
    row = one([{}, {"errno": "EAGAIN", "child_task": None, "exec_ns": None, "call_ns": 5 * MS}])
    assert (row["count"], row["failed"], row["in_flight_max"]) == (1, 1, 1)
    assert row["call_sum_ns"] == 25 * MS


def test_the_base_of_execve_is_that_of_vfork_for_the_same_program():
    rows = [*same(4, exec_ns=21 * MS), {"kind": "vfork", "exec_ns": MS, "call_ns": 2 * MS}]
    other = {"kind": "vfork", "image": "/bin/other", "exec_ns": 7}
    table = table_of(made([*rows, other]))
    assert table["tax_ns"].to_list() == [4 * (20 + 20) * MS, 20 * MS, 2 * MS]
    assert table["saving_ns"].to_list() == [4 * (40 * MS - 100_000), 0, 0]


def test_vfork_is_a_better_base_than_small_parents():
    rows = [{"parent_anon_bytes": size * MIB, "exec_ns": size * MS} for size in (2, 20)]
    vfork = {"kind": "vfork", "exec_ns": MS, "call_ns": 0}
    assert table_of(made([*rows, vfork]))["tax_ns"].to_list() == [(40 + 22 - 2) * MS, 0]


def test_else_it_is_that_of_the_smallest_parents_if_they_are_small_enough():
    sizes = [100, 105, 110, 150, 200]
    rows = [
        {"parent_anon_bytes": size * MIB, "exec_ns": exec_ns * MS}
        for size, exec_ns in zip(sizes, (5, 3, 4, 10, 20), strict=True)
    ]
    assert one(rows)["tax_ns"] == (5 * 20 + 42 - 5 * 4) * MS
    # None of them has twice the memory of another: the fastest execve of the log it is.
    assert one(rows[:4])["tax_ns"] == (4 * 20 + 22 - 4 * 3) * MS
    assert one([rows[3], {"exec_ns": 20 * MS, "log_exec_ns": MS}])["tax_ns"] == (40 + 28) * MS


def test_the_share_of_the_time_counts_no_moment_twice():
    # Two parents at once: one forks in the middle of the other's call.
    rows = [
        {"ts": 0, "call_ns": 10, "exec_gap_ns": 0, "exec_ns": 10, "lifetime_ns": 30},
        {"ts": 5, "call_ns": 10, "exec_gap_ns": 0, "exec_ns": 10, "lifetime_ns": 30},
    ]
    assert one(rows)["wall_share"] == 25 / 45
    assert one([row | {"log_ns": 100} for row in rows])["wall_share"] == 0.25
    assert one([rows[0] | {"kind": "vfork", "log_ns": 100}])["wall_share"] == 0.1


def test_memory_and_slope():
    rows = [{"parent_anon_bytes": n * MIB, "call_ns": 1000 + 30_000 * n} for n in range(10, 41)]
    row = one(rows)
    assert (row["parent_anon_min_bytes"], row["parent_anon_max_bytes"]) == (10 * MIB, 40 * MIB)
    assert row["slope_ns_per_mib"] == pytest.approx(30_000)
    assert row["slope_r2"] == pytest.approx(1)
    assert row["slope_points"] == 31


def test_twice_the_memory_is_enough_for_a_slope():
    rows = [{"parent_anon_bytes": n * MIB, "call_ns": 1000 * n} for n in (10, 15, 20)]
    assert one(rows)["slope_ns_per_mib"] == pytest.approx(1000)


@pytest.mark.parametrize(
    "sizes", [[100, 120, 199], [100, 200], [50, 50, 50], [0, 0, 0], [None] * 4]
)
def test_no_slope_without_memory_that_varies(sizes):
    rows = [
        {"parent_anon_bytes": size and size * MIB, "call_ns": i} for i, size in enumerate(sizes)
    ]
    row = one(rows)
    names = ("slope_ns_per_mib", "slope_r2", "slope_points")
    assert [row[name] for name in names] == [None] * 3


def test_logs_are_kept_apart():
    rows = made([{}, {"source": "other", "log_ns": 1_000 * MS}, {"source": "other"}])
    assert table_of(rows).sort("source").select("source", "count").rows() == [
        ("log", 1),
        ("other", 2),
    ]


def test_nothing():
    assert table_of(made([])).height == 0
    assert tf.fork_advice(made([])).collect().height == 0


def test_events_that_are_none_are_refused():
    with pytest.raises(pl.exceptions.ColumnNotFoundError, match="fork_summary needs 'ts', 'kind'"):
        tf.fork_summary(
            pl.DataFrame({"parent_image": [], "call_ns": [], "source": [], "image": []})
        )


def test_rows_that_lack_columns_have_nulls_in_them():
    rows = made(same(3, parent_anon_bytes=MIB))
    least = rows.select("source", "ts", "kind", "parent_image", "image", "call_ns")
    row = table_of(least).row(0, named=True)
    assert (row["count"], row["call_p50_ns"]) == (3, 20 * MS)
    assert row["exec_p50_ns"] is None
    assert row["parent_anon_max_bytes"] is None


def times(most: int) -> st.SearchStrategy[int | None]:
    return st.none() | st.integers(0, most)


ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "source": st.sampled_from(["a", "b"]),
            "ts": st.integers(0, 200),
            "parent_image": st.sampled_from(["/bin/sh", None]),
            "kind": st.sampled_from(["fork", "vfork", "posix_spawn", "shared", None]),
            "image": st.sampled_from(["/bin/true", "/bin/echo", None]),
            "errno": st.sampled_from([None, None, None, "EAGAIN"]),
            "call_ns": times(40),
            "exec_gap_ns": times(9),
            "exec_ns": times(40),
            "startup_ns": times(9),
            "error_pipe_ns": times(9),
            "lifetime_ns": times(90),
            "parent_anon_bytes": times(4),
            "child_start": times(300),
            "log_ns": st.sampled_from([None, 400]),
            "log_exec_ns": st.sampled_from([None, 2]),
        }
    ),
    max_size=25,
)


@settings(deadline=None)
@given(ROWS)
def test_the_same_numbers_as_row_by_row(rows):
    frame = made(rows)
    expected = summary(frame)
    table = tf.fork_summary(frame).collect()
    assert table.height == len(expected)
    for row in table.iter_rows(named=True):
        slow = expected[tuple(row[key] for key in KEYS)]
        assert {name: row[name] for name in slow} == pytest.approx(slow)


SPANS = st.lists(st.tuples(st.integers(0, 30), st.none() | st.integers(0, 30)), max_size=12)


@settings(deadline=None)
@given(SPANS)
def test_spans_as_moment_by_moment(spans):
    ordered = [(start, None if end is None else max(start, end)) for start, end in spans]
    frame = pl.DataFrame(
        ordered, schema={"start": pl.Int64, "end": pl.Int64}, orient="row"
    ).with_columns(pl.lit("g").alias("g"))
    if ordered:
        assert most_at_once(frame, ["g"])["most"].item() == at_once(ordered)
    assert covered(frame, ["g"])["covered"].sum() == union(ordered)


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 20), st.integers(-99, 99)), max_size=15))
def test_slopes_as_pair_by_pair(points):
    slopes = [
        (b[1] - a[1]) / (b[0] - a[0]) for a, b in combinations(sorted(points), 2) if a[0] != b[0]
    ]
    found = theil_sen([p[0] for p in points], [p[1] for p in points])
    if len(points) < 3 or not slopes:
        assert found is None
    else:
        assert found.slope == pytest.approx(median(slopes))
        assert found.points == len(points)


def test_of_many_points_an_even_choice_is_taken():
    x = pl.int_range(0, 10 * MOST_POINTS, eager=True).shuffle(seed=1).to_list()
    assert theil_sen(x, [7 * each for each in x]) == (7.0, pytest.approx(1), MOST_POINTS)


def test_many_points_are_as_few():
    x = [i * i % 97 for i in range(200)]
    y = [i * 31 % 89 for i in range(200)]
    found = theil_sen([*x, None, 1], [*y, 1, None])
    slopes = [
        (d - b) / (c - a) for (a, b), (c, d) in combinations(zip(x, y, strict=True), 2) if a != c
    ]
    assert found == (pytest.approx(median(slopes)), pytest.approx(correlation(x, y) ** 2), 200)


def test_as_lazy_as_any_table(spawn_strace):
    table = tf.fork_summary(tf.scan(spawn_strace)).filter(pl.col("kind") == "vfork")
    assert table.select("count").collect()["count"].sum() == 3
    assert_frame_equal(
        tf.fork_summary(tf.scan(spawn_strace).collect()).collect(),
        tf.fork_summary(tf.scan(spawn_strace)).collect(),
    )
