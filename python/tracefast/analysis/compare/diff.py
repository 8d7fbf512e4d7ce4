"""What differs between runs: which files, calls, processes, and by how much."""

from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Final, NamedTuple

import polars as pl

from tracefast._polars.declared_schema import declared_schema
from tracefast._polars.given_events import Events, rows_of
from tracefast._polars.map_rows import map_rows
from tracefast.analysis.compare.significance import LEVEL, MIN_RUNS, holm, p_value
from tracefast.analysis.compare.tables import COUNT, TABLES, unit_of
from tracefast.analysis.path_patterns import patterns
from tracefast.arguments import check_choice
from tracefast.columns.compare.diff import TABLES as NAMES
from tracefast.columns.compare.diff import Table

SCHEMA: Final = declared_schema("diff")
SIDES: Final = ("before", "after")
# What changed most in time comes first, then in bytes, then in numbers.
UNITS: Final = ("ns", "bytes", None)
_NO_NAME: Final = "?"
# Sums of durations of calls.
_DURATIONS: Final = ("total_ns", "read_ns", "write_ns", "call_ns")
_ROW: Final = ("table", "key", "measure")
# The values of runs, in a long table: of each run, and each row of its tables.
_VALUES: Final = {
    "side": pl.String(),
    "source": pl.String(),
    "table": pl.String(),
    "parts": pl.List(pl.String),
    "measure": pl.String(),
    "value": pl.Float64(),
}


def diff(
    before: Events,
    after: Events,
    table: Table | None = None,
    *,
    match: str | None = None,
    normalise: bool = True,
) -> pl.LazyFrame:
    """Compare runs: which files, calls, processes changed, by how much, and how sure that is.

    Each log of the events is a run. With several runs on each side, a row has their medians and,
    from four on, how sure the difference is.

    Parameters
    ----------
    before, after
        The events of either side: of one log, or of several.
    table
        The table to compare: ``files``, ``syscalls``, ``forks``, ``processes``, ``waits``,
        ``errors``, ``insights``; None for all of them.
    match
        Compare only keys that match this pattern, whole or by their last component. With fewer
        comparisons, fewer runs are enough to be sure.
    normalise
        Write names that not every run has as the pattern of those that are like them: temporary
        files, process ids in paths, hashes. False compares names as they are.

    Returns
    -------
    polars.LazyFrame
        The differences: times first, then bytes, then numbers of things, of each the largest
        change first. What is the same is left out, and so is what a log cannot say.

        `table` : String
            The table that the difference is in: ``files``, ``syscalls``, ``forks``, ``processes``,
            ``waits``, ``errors``, ``insights``.
        `key` : String
            What the row is about: the path of a file, the name of a call, the program of a process;
            of ``forks`` the parent's program, the kind and the program of the child; of ``waits``
            the program, the call, and what it waited on; of ``errors`` the error, the call, the
            pattern of the path and the program; of ``insights`` the code and what it is about. A
            name that not every run has is written as the pattern of those that are like it.
        `measure` : String
            The column of that table that is compared, summed up; ``count`` is the number of its
            rows.
        `unit` : String
            ``ns``, ``bytes``, or null for numbers of things.
        `before`, `after` : Float64
            The value before and after, of several runs the median. 0 if the run has no such thing.
        `change` : Float64
            `after` - `before`.
        `ratio` : Float64
            `after` / `before`; null if that is 0.
        `only_in` : String
            ``before`` or ``after`` if no run of the other side has the `key`; null if both have.
        `before_runs`, `after_runs` : UInt32
            Runs in which the value is known.
        `before_spread`, `after_spread` : Float64
            Largest value of the runs less the smallest; null for a single run.
        `p` : Float64
            Of the two-sided Mann-Whitney test, exact up to twenty runs on a side: how often chance
            alone would give such a difference in this row. Null with fewer than four runs on a
            side.
        `sure` : Boolean
            Whether `p` is at most 0.05 after Holm's correction for the number of rows compared;
            null with fewer than four runs on a side, as nobody can tell then.

    Raises
    ------
    ValueError
        There is no such table.
    polars.exceptions.ColumnNotFoundError
        The events lack a column that is needed.

    Examples
    --------
    >>> import polars as pl
    >>> import tracefast as tf
    >>> events = tf.scan("demo.strace")
    >>> changes = tf.diff(events, events.filter(pl.col("name") != "read"), "syscalls")
    >>> changes.select("key", "measure", "before", "after", "only_in").collect().rows()[-1]
    ('read', 'calls', 2.0, 0.0, 'before')
    >>> tf.diff(events, events).collect().height
    0
    """
    check_choice("table", table, NAMES)
    chosen = NAMES if table is None else (table,)
    sides = zip(SIDES, (before, after), strict=True)
    values = pl.concat([values_of(events, side, chosen) for side, events in sides], parallel=False)
    return map_rows(
        values,
        lambda rows: compare(rows, match=match, normalise=normalise).changes,
        dict(SCHEMA),
    )


def values_of(events: Events, side: str, tables: tuple[Table, ...]) -> pl.LazyFrame:
    """Give the runs of a side, and of each run the values that are compared.

    Parameters
    ----------
    events
        The events of the runs.
    side
        ``before`` or ``after``.
    tables
        The tables to compare.
    """
    # One after the other: each may take the memory of a whole table.
    return pl.concat(list(_parts(events, side, tables)), parallel=False)


def _parts(events: Events, side: str, tables: tuple[Table, ...]) -> Iterator[pl.LazyFrame]:
    """Give the runs, then the values of each table, all with the columns of `_VALUES`."""
    rows = rows_of(events, ["source"], "tracefast.diff")
    here = pl.lit(side).alias("side")
    source = pl.col("source").cast(pl.String)
    yield (
        rows.select(here, source)
        .unique()
        .select(
            "side",
            "source",
            *(pl.lit(None).cast(_VALUES[name]).alias(name) for name in list(_VALUES)[2:]),
        )
    )
    for name in tables:
        compared = TABLES[name]
        keys, measures = list(compared.keys), list(compared.measures)
        table = compared.make(rows)
        if COUNT not in table.collect_schema():
            table = table.with_columns(pl.lit(1).alias(COUNT))
        sums = [
            pl.when(pl.col(measure).count() > 0)
            .then(pl.col(measure).sum().cast(pl.Float64))
            .alias(measure)
            for measure in measures
        ]
        parts = pl.concat_list(pl.col(keys).cast(pl.String)).alias("parts")
        yield (
            table.group_by("source", *keys)
            .agg(sums)
            .select(here, source, pl.lit(name).alias("table"), parts, *measures)
            .unpivot(measures, index=list(_VALUES)[:4], variable_name="measure")
            .select(list(_VALUES))
        )


class Comparison(NamedTuple):
    """What differs between the runs of two sides."""

    changes: pl.DataFrame
    """The rows that differ: `SCHEMA`."""
    tests: int
    """How many rows were tested: `sure` is corrected for them."""
    untimed: str | None
    """The side whose logs have no durations, where those of the other have some."""


def compare(values: pl.DataFrame, *, match: str | None, normalise: bool) -> Comparison:
    """Compare the values of runs.

    Parameters
    ----------
    values
        The runs of both sides, and of each run the values of its tables.
    match
        Compare only keys that match.
    normalise
        Write names that not every run has as patterns.
    """
    runs = values.filter(pl.col("table").is_null()).select("side", "source")
    values = values.filter(pl.col("table").is_not_null())
    keyed = _with_keys(values, runs.height if normalise else None)
    if match is not None:
        keys = keyed["key"].unique()
        kept = [key for key in keys if fnmatchcase(key, match) or fnmatchcase(_last(key), match)]
        keyed = keyed.filter(pl.col("key").is_in(kept))
    known_runs = _known_runs(values, runs)
    rows = _paired(keyed, known_runs)
    rows, tests = _with_p(rows)
    units = {measure: unit_of(measure) for measure in rows["measure"].unique()}
    changed = rows.filter(pl.col("before") != pl.col("after")).with_columns(
        change=pl.col("after") - pl.col("before"),
        ratio=pl.when(pl.col("before") != 0).then(pl.col("after") / pl.col("before")),
        unit=pl.col("measure").replace_strict(units, return_dtype=pl.String),
    )
    rank = pl.col("unit").replace_strict(
        {unit: at for at, unit in enumerate(UNITS) if unit is not None}, default=len(UNITS)
    )
    changed = changed.sort(
        rank, pl.col("change").abs(), *_ROW, descending=[False, True, False, False, False]
    )
    return Comparison(
        changed.select(pl.col(name).cast(dtype) for name, dtype in SCHEMA.items()),
        tests,
        _untimed(known_runs),
    )


def _last(key: str) -> str:
    return key.rpartition("/")[2]


def _with_keys(values: pl.DataFrame, runs: int | None) -> pl.DataFrame:
    """Make one text of the parts of each key, and sum up what is the same then.

    Parameters
    ----------
    values
        The values of the tables.
    runs
        How many runs there are: names that fewer of them have become patterns. None to keep all.
    """
    tables = []
    by_table = values.partition_by("table", as_dict=True)
    for (name,), rows in by_table.items():
        compared = TABLES[name]
        parts = []
        for at, column in enumerate(compared.keys):
            part = pl.col("parts").list.get(at).fill_null(_NO_NAME)
            if runs is not None and column in compared.paths:
                by_name = rows.select("side", "source", part.alias("name")).unique()
                varying = by_name.group_by("name").len().filter(pl.col("len") < runs)["name"]
                part = part.replace(patterns(varying.sort()))
            parts.append(part)
        tables.append(rows.with_columns(pl.concat_str(parts, separator=" ").alias("key")))
    if not tables:
        return values.with_columns(key=pl.lit(None, dtype=pl.String))
    return (
        pl.concat(tables)
        .group_by("side", "source", *_ROW)
        .agg(pl.when(pl.col("value").count() > 0).then(pl.col("value").sum()).alias("value"))
    )


def _known_runs(values: pl.DataFrame, runs: pl.DataFrame) -> pl.DataFrame:
    """Count on each side the runs that could say a measure: those without any row can, it is 0."""
    unknown = (
        values.group_by("side", "source", "table", "measure")
        .agg(pl.col("value").count() == 0)
        .filter("value")
        .group_by("side", "table", "measure")
        .agg(pl.len().alias("unknown"))
    )
    return (
        values.select("table", "measure")
        .unique()
        .join(runs.group_by("side").len(), how="cross")
        .join(unknown, on=["side", "table", "measure"], how="left")
        .select("side", "table", "measure", known=pl.col("len") - pl.col("unknown").fill_null(0))
    )


def _untimed(known_runs: pl.DataFrame) -> str | None:
    """Say which side alone has no durations, so that times are not compared."""
    times = known_runs.filter(pl.col("measure").is_in(_DURATIONS))
    known = {
        side: set(rows.filter(pl.col("known") > 0).select("table", "measure").iter_rows())
        for (side,), rows in times.partition_by("side", as_dict=True).items()
    }
    before, after = (known.get(side, set()) for side in SIDES)
    return SIDES[0] if after - before else SIDES[1] if before - after else None


def _paired(keyed: pl.DataFrame, known_runs: pl.DataFrame) -> pl.DataFrame:
    """Put the values of both sides of a row into lists, with zeros for runs that do not have it."""
    has = keyed.group_by("side", "table", "key").agg().with_columns(has=True)
    rows = keyed.filter(pl.col("value") != 0).select(_ROW).unique()
    for side in SIDES:
        mine = keyed.filter(pl.col("side") == side)
        lists = mine.group_by(_ROW).agg(
            pl.col("value").drop_nulls().alias(f"{side}_values"),
            pl.col("value").null_count().alias("nulls"),
        )
        on_side = known_runs.filter(pl.col("side") == side).drop("side")
        rows = (
            rows.join(lists, on=_ROW, how="left", nulls_equal=True)
            .join(on_side, on=["table", "measure"], how="left")
            .join(
                has.filter(pl.col("side") == side).select("table", "key", pl.col("has")),
                on=["table", "key"],
                how="left",
            )
        )
        values = pl.col(f"{side}_values").fill_null([])
        # Signed: where a run cannot say what another can, this is below zero.
        known, given = pl.col("known").cast(pl.Int64), values.list.len().cast(pl.Int64)
        zeros = known.fill_null(0) - given - pl.col("nulls").cast(pl.Int64).fill_null(0)
        padding = pl.lit(0.0).repeat_by(zeros.clip(0))
        rows = rows.with_columns(
            values.list.concat(padding).alias(f"{side}_values"),
            pl.col("has").fill_null(value=False).alias(f"in_{side}"),
        ).drop("nulls", "known", "has")
    for side in SIDES:
        values = pl.col(f"{side}_values")
        spread = values.list.max() - values.list.min()
        rows = rows.with_columns(
            values.list.median().alias(side),
            values.list.len().alias(f"{side}_runs"),
            pl.when(values.list.len() > 1).then(spread).alias(f"{side}_spread"),
        )
    only = pl.when(~pl.col("in_after")).then(pl.lit("before"))
    return rows.with_columns(only_in=only.when(~pl.col("in_before")).then(pl.lit("after")))


def _with_p(rows: pl.DataFrame) -> tuple[pl.DataFrame, int]:
    """Test each row, and correct for the number of tests that could have found a difference."""
    found: list[float | None] = [None] * rows.height
    sure: list[bool | None] = [None] * rows.height
    tested = []
    values = rows.select("before_values", "after_values").iter_rows()
    for at, (before, after) in enumerate(values):
        if min(len(before), len(after)) < MIN_RUNS:
            continue
        p, least = p_value(before, after)
        found[at], sure[at] = p, False
        # If all runs but one are the same, no test can find a difference: do not count it.
        if least <= LEVEL:
            tested.append((at, p))
    corrected = holm([p for _, p in tested])
    for (at, _), p in zip(tested, corrected, strict=True):
        sure[at] = p <= LEVEL
    columns = pl.Series("p", found, dtype=pl.Float64), pl.Series("sure", sure, dtype=pl.Boolean)
    return rows.with_columns(*columns), len(tested)
