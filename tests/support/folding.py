"""What the tests of the folds share: events made by hypothesis, fed in whichever way."""

import math
from collections.abc import Callable, Iterable
from itertools import pairwise

import polars as pl
from hypothesis import strategies as st

from tracefast import _core

# As the parser hands events out, names in a dictionary, too.
SCHEMA = pl.Schema(_core.schema())


def maybe(strategy: st.SearchStrategy, often: int = 9) -> st.SearchStrategy:
    """Give null now and then."""
    return st.one_of(*[strategy] * often, st.none())


def frame(rows: list[dict], names: Iterable[str]) -> pl.DataFrame:
    """Make some columns of events; words are plain text, and null is what rows do not say."""
    columns = {
        name: pl.Series(name, [row.get(name) for row in rows], dtype=_plain(SCHEMA[name]))
        for name in names
    }
    return pl.DataFrame(columns).with_columns(pl.col("ts").cast(pl.Datetime("ns")))


def _plain(dtype: pl.DataType) -> type[pl.DataType] | pl.DataType:
    return pl.Int64 if dtype == pl.Datetime else pl.String if dtype == pl.Categorical else dtype


def plain(table: pl.DataFrame, key: Callable[[dict], object] = repr) -> list[dict]:
    """Give the rows of a table as dictionaries, times as numbers, in one order."""
    rows = table.with_columns(pl.col(pl.Datetime).cast(pl.Int64)).to_dicts()
    return sorted(rows, key=key)


def without_types(events: pl.DataFrame, names: Iterable[str]) -> pl.DataFrame:
    """Give columns of events as the slow tables take them: times are numbers, words plain text."""
    types = {name: _plain(SCHEMA[name]) for name in names}
    return events.select(pl.col(name).cast(dtype) for name, dtype in types.items())


def near_enough(got: list[dict], wanted: list[dict]) -> None:
    """Compare rows; numbers with a fraction may differ by what adding up in another order does."""
    assert len(got) == len(wanted)
    for left, right in zip(got, wanted, strict=True):
        assert list(left) == list(right)
        for name, value in right.items():
            if isinstance(value, float) and left[name] is not None:
                assert math.isclose(left[name], value, abs_tol=1e-12), name
            else:
                assert left[name] == value, (name, left[name], value)


def summed(fold, *batches: pl.DataFrame) -> pl.DataFrame:
    """Give the table that a fold makes of batches."""
    for batch in batches:
        fold.push(batch)
    return pl.concat(map(pl.DataFrame, fold.finish()))


def check_cuts(make: Callable[[], object], events: pl.DataFrame, cuts: list[int]) -> None:
    """Check that a fold makes the same of events however they come in batches."""
    edges = [0, *sorted(min(cut, events.height) for cut in cuts), events.height]
    parts = [events[start:end] for start, end in pairwise(edges)]
    whole = summed(make(), events)
    assert summed(make(), *parts).equals(whole)
    if make().follows_tasks:
        # With what is found out first for several tables.
        rows = _core.TaskRows()
        arrays = [array for part in parts for array in part.to_arrow().to_batches()]
        assert summed(make(), *map(rows.add_to, arrays)).equals(whole)


def check_layouts(
    make: Callable[[], object],
    ask: Callable[[pl.DataFrame], pl.LazyFrame],
    events: pl.DataFrame,
) -> None:
    """Check that words in any layout give the same table, from an analysis and from its fold."""
    expected = ask(events).collect()
    words = [name for name in events.columns if SCHEMA[name] == pl.Categorical]
    kinds = pl.Enum(sorted({word for name in words for word in events[name].drop_nulls()}))
    for dtype in (pl.Categorical, kinds):
        other = events.with_columns(pl.col(words).cast(dtype))
        assert ask(other).collect().equals(expected)
        # As dictionaries of Arrow, which is how the parser hands them out.
        assert summed(make(), other).equals(expected)
