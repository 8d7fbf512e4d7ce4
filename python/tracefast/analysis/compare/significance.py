"""How sure a difference between two groups of runs is: the Mann-Whitney test, Holm's correction.

Durations and counts of runs are far from normal, and runs are few. So the test works on ranks, and
its distribution is counted, not approximated, up to twenty runs a side.
"""

import math
from array import array
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from itertools import accumulate
from typing import Final, NamedTuple

# Below this number of runs a side no difference is called sure: of three against three runs, the
# test gives at least 0.1.
MIN_RUNS: Final = 4
LEVEL: Final = 0.05
# With more runs a side, the distribution is close to normal.
_MOST_COUNTED: Final = 20
_MOST_RUNS: Final = 1000


def p_value(before: Sequence[float], after: Sequence[float]) -> tuple[float, float]:
    """Test whether two groups of values may come from the same distribution.

    Parameters
    ----------
    before, after
        The values of either group, one of each run.

    Returns
    -------
    tuple of float and float
        The two-sided p of the Mann-Whitney test, with ties counted as they are; and the smallest p
        that groups of this size with these ties could give at all.

    Examples
    --------
    >>> p, least = p_value([1, 2, 3, 4], [5, 6, 7, 8])
    >>> round(p, 4), round(least, 4)
    (0.0286, 0.0286)
    >>> p_value([1, 1, 1, 1], [1, 1, 1, 1])
    (1.0, 1.0)
    """
    values = sorted([*before, *after])
    ties = tuple(count for _, count in sorted(Counter(values).items()))
    # Twice the mean rank of each value: whole numbers.
    ends = accumulate(ties)
    twice = dict(
        zip(
            sorted(set(values)),
            (2 * end - count + 1 for end, count in zip(ends, ties, strict=True)),
            strict=True,
        )
    )
    total = sum(twice[value] for value in before)
    expected = len(before) * (len(values) + 1)
    distance = abs(total - expected)
    if max(len(before), len(after)) > _MOST_COUNTED:
        return _normal(len(before), len(after), ties, distance)
    counts = _distances(len(before), ties)
    ways = sum(counts.values())
    p = sum(number for far, number in counts.items() if far >= distance) / ways
    return p, counts[max(counts)] / ways


@lru_cache(maxsize=4096)
def _distances(chosen: int, ties: tuple[int, ...]) -> Counter[int]:
    """Count in how many ways runs can be chosen, by how far their ranks are from those expected.

    Twice the sum of the ranks is the power of a polynomial whose coefficients are the numbers of
    ways. All coefficients of one polynomial are in one integer, at fixed places, so that a step is
    a shift and a sum.
    """
    runs = sum(ties)
    width = math.comb(runs, chosen).bit_length() + 1
    ranks = [
        2 * end - count + 1
        for end, count in zip(accumulate(ties), ties, strict=True)
        for _ in range(count)
    ]
    polynomials = [1] + [0] * chosen
    for rank in ranks:
        for size in range(chosen, 0, -1):
            polynomials[size] += polynomials[size - 1] << (rank * width)
    expected = chosen * (runs + 1)
    counts: Counter[int] = Counter()
    ways, mask = polynomials[chosen], (1 << width) - 1
    digits = ways.bit_length() // width + 1
    for total in range(digits):
        if number := (ways >> (total * width)) & mask:
            counts[abs(total - expected)] += number
    return counts


def _normal(first: int, second: int, ties: tuple[int, ...], distance: int) -> tuple[float, float]:
    """Approximate p by the normal distribution, with the corrections for ties and continuity."""
    runs = first + second
    tied = sum(count**3 - count for count in ties) / (runs * (runs - 1))
    variance = first * second / 12 * (runs + 1 - tied)
    if variance <= 0:
        return 1.0, 1.0

    def p(twice: float) -> float:
        z = max(twice / 2 - 0.5, 0) / math.sqrt(variance)
        return math.erfc(z / math.sqrt(2))

    return p(distance), p(first * second)


def holm(values: Sequence[float]) -> list[float]:
    """Correct p values for their number, by the method of Holm.

    Examples
    --------
    >>> [round(p, 3) for p in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(values)), key=values.__getitem__)
    corrected = [0.0] * len(values)
    highest = 0.0
    for place, at in enumerate(order):
        highest = max(highest, min(values[at] * (len(values) - place), 1.0))
        corrected[at] = highest
    return corrected


class Comparable(NamedTuple):
    """A row whose runs are enough to be tested."""

    p: float
    """The p of its test."""
    least: float
    """The smallest p that a test of such values could give."""
    order: bytes
    """How the row orders the runs, upwards or downwards: the test sees nothing else. A hash, as
    there may be thousands of runs, and of rows."""

    @classmethod
    def of(
        cls, before: Sequence[float | None], after: Sequence[float | None]
    ) -> "Comparable | None":
        """Test a row; None if it has too few runs.

        Parameters
        ----------
        before, after
            The value of each run, in the same order in all rows; None where it is not known.

        Examples
        --------
        >>> fewer = Comparable.of([12, 12, 12, 12], [0, 0, 0, 0])
        >>> more = Comparable.of([1, 1, 1, 1], [7, 7, 7, 7])
        >>> fewer.order == more.order
        True
        >>> Comparable.of([1, 2, 3], [4, 5, 6]) is None
        True
        """
        sides = [[value for value in side if value is not None] for side in (before, after)]
        if min(map(len, sides)) < MIN_RUNS:
            return None
        places = {value: at for at, value in enumerate(sorted({*sides[0], *sides[1]}))}
        # -1 where the value is not known.
        up = [-1 if value is None else places[value] for value in (*before, *after)]
        down = [-1 if place < 0 else len(places) - 1 - place for place in up]
        order = blake2b(array("q", min(up, down)), digest_size=16).digest()
        return cls(*p_value(*sides), order)


def corrected(tests: Sequence[Comparable]) -> list[float]:
    """Correct the p values of rows for the number of comparisons.

    Rows that order the runs alike give the same p, however the runs are divided into groups: they
    are one comparison. That each program opens one file less, and calls ``openat`` once less, is
    no second question to chance.

    Examples
    --------
    >>> one = Comparable.of([12, 12, 12, 12], [0, 0, 0, 0])
    >>> other = Comparable.of([5, 5, 5, 5], [6, 6, 6, 6])
    >>> third = Comparable.of([1, 2, 3, 4], [5, 6, 7, 8])
    >>> [round(p, 3) for p in corrected([one, other, third])]
    [0.057, 0.057, 0.057]
    >>> [round(p, 3) for p in corrected([one, other])]
    [0.029, 0.029]
    """
    distinct = {test.order: test.p for test in tests}
    of_order = dict(zip(distinct, holm(list(distinct.values())), strict=True))
    return [of_order[test.order] for test in tests]


def runs_needed(comparisons: int) -> int:
    """Say how many runs a side are needed for a difference to be sure among so many comparisons.

    Examples
    --------
    >>> runs_needed(1), runs_needed(20), runs_needed(1000)
    (4, 6, 9)
    """
    return next(
        (
            runs
            for runs in range(MIN_RUNS, _MOST_RUNS)
            if 2 / math.comb(2 * runs, runs) * comparisons <= LEVEL
        ),
        _MOST_RUNS,
    )
