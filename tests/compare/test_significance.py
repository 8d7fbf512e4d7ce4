"""The test of two groups of runs, against counting all ways to divide them."""

import math
from itertools import combinations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tracefast.analysis.compare.significance import (
    LEVEL,
    Comparable,
    _normal,
    corrected,
    holm,
    p_value,
    runs_needed,
)

# Few different values, so that there are ties.
GROUPS = st.lists(st.integers(0, 5), min_size=1, max_size=5)


def ranks(values):
    """Give the rank of each value, the mean of those that are the same."""
    return [sum((v < x) + (v == x) / 2 for v in values) + 0.5 for x in values]


def counted(before, after):
    """Count in how many ways the values can be divided that are as uneven as this one."""
    values = [*before, *after]
    rank = ranks(values)
    expected = len(before) * (len(values) + 1) / 2
    found = abs(sum(rank[: len(before)]) - expected)
    ways = [
        abs(sum(rank[at] for at in chosen) - expected)
        for chosen in combinations(range(len(values)), len(before))
    ]
    most = max(ways)
    return (
        sum(far >= found - 1e-9 for far in ways) / len(ways),
        sum(far >= most - 1e-9 for far in ways) / len(ways),
    )


@given(GROUPS, GROUPS)
def test_p_is_that_of_counting_all_ways(before, after):
    assert p_value(before, after) == pytest.approx(counted(before, after))


@given(GROUPS, GROUPS)
def test_sides_can_be_swapped(before, after):
    assert p_value(before, after) == pytest.approx(p_value(after, before))


@pytest.mark.parametrize(("runs", "least"), [(3, 0.1), (4, 0.0286), (6, 0.00216)])
def test_the_least_p_of_few_runs(runs, least):
    """As in tables of the test, such as those of Mann and Whitney (1947)."""
    p, smallest = p_value(range(runs), range(runs, 2 * runs))
    assert p == smallest == pytest.approx(least, rel=0.01)


def test_the_approximation_for_many_runs_is_near():
    before, after = list(range(0, 40, 2)), list(range(9, 49, 2))
    exact, _ = p_value(before, after)
    shift = abs(2 * sum(ranks([*before, *after])[:20]) - 20 * 41)
    approximate, _ = _normal(20, 20, (1,) * 40, round(shift))
    assert approximate == pytest.approx(exact, rel=0.1)
    many, _ = p_value(list(range(100)), list(range(50, 150)))
    assert 0 < many < 1e-6


def test_the_correction_keeps_order_and_is_at_most_one():
    assert holm([0.5, 0.001, 0.02, 0.9]) == pytest.approx([1, 0.004, 0.06, 1])


TABLES = st.lists(
    st.lists(st.one_of(st.integers(0, 3), st.floats(0, 1)), min_size=9, max_size=9), max_size=6
)


@given(TABLES)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_of_runs_of_one_program_few_ways_to_divide_them_give_anything_sure(table):
    """Whatever the rows: what is the same program, divided by chance, is mistaken at most so often.

    Rows that depend on each other are among these tables, as are those with ties.
    """
    ways = list(combinations(range(9), 4))
    mistaken = 0
    for chosen in ways:
        rest = [at for at in range(9) if at not in chosen]
        tests = [
            test
            for row in table
            if (test := Comparable.of([row[at] for at in chosen], [row[at] for at in rest]))
            and test.least <= LEVEL
        ]
        mistaken += any(p <= LEVEL for p in corrected(tests))
    assert mistaken <= LEVEL * len(ways)


def test_rows_that_order_the_runs_alike_are_one_comparison():
    rows = [
        ([12] * 4, [0] * 4),
        ([3, 3, 3, 3], [4, 4, 4, 4]),
        ([1, 2, 3, 4], [5, 6, 7, 8]),
        ([8.5, 7, 6, 5], [4, 3, 2, 1]),
    ]
    tests = [Comparable.of(*row) for row in rows]
    assert len({test.order for test in tests}) == 2
    assert corrected(tests) == pytest.approx([4 / 70] * 4)
    # A run that is not known makes it another one.
    some = Comparable.of([12, 12, 12, 12, None], [0, 0, 0, 0])
    assert some.order != Comparable.of([12, 12, 12, 12], [0, 0, 0, 0, None]).order


@given(st.integers(1, 10_000))
def test_so_many_runs_are_enough(comparisons):
    runs = runs_needed(comparisons)
    assert 2 / math.comb(2 * runs, runs) * comparisons <= LEVEL
