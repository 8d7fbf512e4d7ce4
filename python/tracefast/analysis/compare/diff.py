"""What differs between runs: which files, calls, processes, and by how much."""

from collections import defaultdict
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Final, NamedTuple

import polars as pl

from tracefast._polars.declared_schema import declared_schema
from tracefast._polars.given_events import Events, rows_of
from tracefast._polars.map_rows import map_rows
from tracefast.analysis.compare.significance import LEVEL, MIN_RUNS, Comparable, corrected
from tracefast.analysis.compare.tables import (
    COUNT,
    NO_NAME,
    RUN,
    SUMMED,
    TABLES,
    TOTALS,
    WALL,
    unit_of,
)
from tracefast.analysis.durations import FROM_EVENTS, LEAST_TIMED, timed_share
from tracefast.analysis.path_patterns import patterns
from tracefast.arguments import check_choice
from tracefast.columns.compare.diff import TABLES as NAMES
from tracefast.columns.compare.diff import Table

SCHEMA: Final = declared_schema("diff")
SIDES: Final = ("before", "after")
# What changed most in time comes first, then in bytes, then in numbers.
UNITS: Final = ("ns", "bytes", None)
# Says of a run that its log has too few durations.
_UNTIMED: Final = "untimed"
# Sums of durations of calls.
_DURATIONS: Final = ("total_ns", "read_ns", "write_ns", "call_ns")
_ROW: Final = ("table", "key", "measure")
# The values of runs, in a long table: of each run, and each row of its tables. Of a thousand runs
# there are millions, with the same few thousand words.
_VALUES: Final = pl.Schema(
    {
        **dict.fromkeys(("side", "source", "table", "parts", "measure"), pl.Categorical()),
        "value": pl.Float64(),
    }
)
# So many of them are paired at a time.
_PAIRED: Final = 200_000
# Between the parts of a key; no path has it.
_BETWEEN: Final = "\0"


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
            The table that the difference is in: ``totals``, ``files``, ``syscalls``, ``forks``,
            ``processes``, ``waits``, ``errors``, ``insights``.
        `key` : String
            What the row is about: the path of a file, the name of a call, the program of a process;
            of ``totals`` the table that is summed up, or ``run`` for the log itself; of ``forks``
            the parent's program, the kind and the program of the child; of ``waits`` the program,
            the call, and what it waited on; of ``errors`` the error, the call, the pattern of the
            path and the program; of ``insights`` the code and what it is about. A name that not
            every run has is written as the pattern of those that are like it.
        `measure` : String
            The column of that table that is compared, summed up; ``count`` is the number of its
            rows, ``wall_ns`` the time from the first event to the end of the last call.
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
            Whether `p` is at most 0.05 after Holm's correction for the number of comparisons; null
            with fewer than four runs on a side, as nobody can tell then. Times and what is counted
            are corrected apart, and the totals apart from the other tables; rows that put the runs
            into the same order are one comparison.

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
        lambda rows: compare(rows, chosen, match=match, normalise=normalise).changes,
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
    made = dict.fromkeys([*tables, *(SUMMED if TOTALS in tables else ())])
    # One after the other: each may take the memory of a whole table.
    parts = _parts(events, side, [name for name in made if name != TOTALS])
    return pl.concat(list(parts), parallel=False)


def _parts(events: Events, side: str, tables: list[Table]) -> Iterator[pl.LazyFrame]:
    """Give the runs with their times, then the values of each table, with columns of `_VALUES`."""
    rows = rows_of(events, ["source", "ts", "dur_ns"], "tracefast.diff")
    here = pl.lit(side).alias("side")
    source = pl.col("source").cast(pl.String)
    start = pl.col("ts").cast(pl.Int64)
    end = start + pl.col("dur_ns").fill_null(0)
    # Without any duration, nobody knows when the last call ended.
    span = pl.when(pl.col("dur_ns").count() > 0).then(end.max() - start.min())
    untimed = timed_share(rows.collect_schema()) < LEAST_TIMED
    yield (
        rows.group_by(source)
        .agg(span.cast(pl.Float64).alias("value"), untimed.first().alias(_UNTIMED))
        .select(
            here,
            "source",
            pl.lit(None).alias("table"),
            pl.when(_UNTIMED).then(pl.lit(_UNTIMED)).alias("parts"),
            pl.lit(None).alias("measure"),
            "value",
        )
        .cast(_VALUES)
    )
    for name in tables:
        compared = TABLES[name]
        keys, measures = list(compared.keys), list(compared.measures)
        table = compared.make(rows)
        if COUNT not in table.collect_schema():
            table = table.with_columns(pl.lit(1).alias(COUNT))
        texts = pl.col(keys).cast(pl.String).fill_null(NO_NAME)
        parts = pl.concat_str(texts, separator=_BETWEEN).alias("parts")
        yield (
            table.group_by("source", *keys)
            .agg(_sum(pl.col(measure)).alias(measure) for measure in measures)
            .select(here, source, pl.lit(name).alias("table"), parts, *measures)
            .unpivot(measures, index=list(_VALUES)[:4], variable_name="measure")
            .filter(_worth_keeping(measures[0]))
            .select(list(_VALUES))
            .cast(_VALUES)
        )


def _worth_keeping(first: str) -> pl.Expr:
    """Say which values to keep: most are 0, which is what a run without the row has.

    One measure of each key stays, as the run has the key; and so do all of a measure that the run
    does not always know.
    """
    unknown = pl.col("value").is_null().any().over("source", "measure")
    return (pl.col("value") != 0) | unknown | (pl.col("measure") == first)


def _sum(values: pl.Expr) -> pl.Expr:
    """Sum up; null where no value is known."""
    return pl.when(values.count() > 0).then(values.sum().cast(pl.Float64))


class Comparison(NamedTuple):
    """What differs between the runs of two sides."""

    changes: pl.DataFrame
    """The rows that differ: `SCHEMA`."""
    tests: tuple[int, ...]
    """How many comparisons were made in each family: `sure` is corrected for them."""
    untimed: str | None
    """The side whose logs have no durations, where those of the other have some."""
    keys: pl.DataFrame
    """What could be compared, whatever `match`: `key`."""


def compare(
    values: pl.DataFrame, tables: tuple[Table, ...], *, match: str | None, normalise: bool
) -> Comparison:
    """Compare the values of runs.

    Parameters
    ----------
    values
        The runs of both sides, and of each run the values of its tables.
    tables
        The tables to compare: those of the values, and the totals.
    match
        Compare only keys that match.
    normalise
        Write names that not every run has as patterns.
    """
    runs = runs_of(values).select("side", "source", "value")
    values = _with_known_times(values)
    of_tables = values.filter(pl.col("table").is_in(tables))
    keyed = _with_keys(of_tables, runs.height if normalise else None)
    if TOTALS in tables:
        keyed = pl.concat([keyed, _totals(values, runs).select(keyed.columns)])
    unknown = _unknown(keyed)
    keys = keyed.select("key").unique().sort("key")
    if match is not None:
        kept = [
            key for key in keys["key"] if fnmatchcase(key, match) or fnmatchcase(_last(key), match)
        ]
        keyed = keyed.filter(pl.col("key").is_in(kept))
    numbered = runs.select("side", "source").sort("side", "source").with_row_index("run")
    # A part of the keys at a time: joins take several times the memory of the values.
    parts = keyed.height // _PAIRED + 1
    part = pl.col("key").to_physical() % parts
    paired = (_paired(keyed.filter(part == at), numbered, unknown) for at in range(parts))
    rows = pl.concat(paired).cast(dict.fromkeys(_ROW, pl.String))
    units = {measure: unit_of(measure) for measure in rows["measure"].unique()}
    rows = rows.with_columns(
        unit=pl.col("measure").replace_strict(units, return_dtype=pl.String),
    )
    rows, tests = _with_p(rows, numbered, unknown)
    changed = rows.filter(pl.col("before") != pl.col("after")).with_columns(
        change=pl.col("after") - pl.col("before"),
        ratio=pl.when(pl.col("before") != 0).then(pl.col("after") / pl.col("before")),
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
        _untimed(keyed, unknown, runs),
        keys,
    )


def runs_of(values: pl.DataFrame) -> pl.DataFrame:
    """Give the rows of the runs themselves among the values of runs."""
    return values.filter(pl.col("table").is_null())


def _with_known_times(values: pl.DataFrame) -> pl.DataFrame:
    """Give the values of tables; what durations add up to is null where a log has too few."""
    untimed = runs_of(values).filter(pl.col("parts").is_not_null())
    values = values.filter(pl.col("table").is_not_null())
    if untimed.is_empty():
        return values
    measures = values["measure"].unique().cast(pl.String)
    times = [name for name in measures if unit_of(name) == "ns" and name not in FROM_EVENTS]
    unknown = pl.col("untimed").is_not_null() & pl.col("measure").is_in(times)
    return values.join(
        untimed.select("side", "source", untimed=pl.lit(value=True)),
        on=["side", "source"],
        how="left",
        nulls_equal=True,
    ).select(*list(_VALUES)[:-1], pl.when(~unknown).then("value").alias("value"))


def _totals(values: pl.DataFrame, runs: pl.DataFrame) -> pl.DataFrame:
    """Sum up the tables of each run, whatever the keys; and give the time of the run."""
    wanted = pl.DataFrame(
        [(table, measure) for table, measures in SUMMED.items() for measure in measures],
        schema={name: _VALUES[name] for name in ("table", "measure")},
        orient="row",
    )
    sums = (
        values.join(wanted, on=["table", "measure"], how="semi")
        .group_by("side", "source", "measure", key="table")
        .agg(_sum(pl.col("value")).alias("value"))
    )
    word = _VALUES["measure"]
    times = runs.with_columns(key=pl.lit(RUN, word), measure=pl.lit(WALL, word))
    totals = pl.concat([sums, times.select(sums.columns)])
    return totals.with_columns(table=pl.lit(TOTALS, _VALUES["table"]))


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
    columns = ["side", "source", *_ROW, "value"]
    for name in values["table"].unique(maintain_order=True).cast(pl.String):
        rows, compared = values.filter(table=name), TABLES[name]
        split = pl.col("parts").cast(pl.String).str.split(_BETWEEN)
        names = (
            rows.select("parts")
            .unique()
            .with_columns(
                split.list.get(at).alias(column) for at, column in enumerate(compared.keys)
            )
        )
        for column in compared.paths if runs is not None else ():
            # Each run has this measure of each key: see `_worth_keeping`.
            of_runs = rows.filter(measure=compared.measures[0]).select("side", "source", "parts")
            by_name = of_runs.join(names, on="parts").select("side", "source", column).unique()
            varying = by_name.group_by(column).len().filter(pl.col("len") < runs)[column]
            names = names.with_columns(pl.col(column).replace(patterns(varying.sort())))
        key = pl.concat_str(compared.keys, separator=" ").cast(pl.Categorical).alias("key")
        keys = names.select("parts", key).with_columns(several=pl.len().over("key") > 1)
        keyed = rows.join(keys, on="parts")
        together = (
            keyed.filter("several").group_by(columns[:-1]).agg(_sum(pl.col("value")).alias("value"))
        )
        tables += [keyed.filter(~pl.col("several")).select(columns), together.select(columns)]
    if tables:
        return pl.concat(tables)
    return values.with_columns(key=pl.lit(None, pl.Categorical)).select(columns)


def _unknown(keyed: pl.DataFrame) -> pl.DataFrame:
    """Name the runs that cannot say a measure. Those without any row can, it is 0."""
    return (
        keyed.group_by("side", "source", "table", "measure")
        .agg(pl.col("value").count() == 0)
        .filter("value")
        .select("side", "source", "table", "measure", unknown=pl.lit(value=True))
    )


def _untimed(keyed: pl.DataFrame, unknown: pl.DataFrame, runs: pl.DataFrame) -> str | None:
    """Say which side alone has no durations, so that times are not compared."""
    times = keyed.filter(pl.col("measure").is_in(_DURATIONS)).select("table", "measure").unique()
    known = (
        times.join(runs.select("side", "source"), how="cross")
        .join(unknown, on=["side", "source", "table", "measure"], how="anti")
        .select("side", "table", "measure")
        .unique()
    )
    before, after = (set(known.filter(side=side).drop("side").iter_rows()) for side in SIDES)
    return SIDES[0] if after - before else SIDES[1] if before - after else None


def _paired(keyed: pl.DataFrame, runs: pl.DataFrame, unknown: pl.DataFrame) -> pl.DataFrame:
    """Put the values of both sides of a row into lists, and say which run has which.

    Runs that do not have the row have 0 of it, and are not in the lists: there may be thousands.
    """
    rows = keyed.filter(pl.col("value") != 0).select(_ROW).unique()
    cells = (
        keyed.join(unknown, on=["side", "source", "table", "measure"], how="anti")
        .join(runs, on=["side", "source"])
        .sort("run")
    )
    for side in SIDES:
        lists = (
            cells.filter(pl.col("side") == side)
            .group_by(_ROW)
            .agg(pl.col("run").alias(f"{side}_at"), pl.col("value").alias(f"{side}_given"))
        )
        on_side = runs.filter(pl.col("side") == side).height
        silent = unknown.filter(pl.col("side") == side).group_by("table", "measure").len("silent")
        rows = rows.join(lists, on=_ROW, how="left", nulls_equal=True).join(
            silent, on=["table", "measure"], how="left"
        )
        given = pl.col(f"{side}_given").fill_null([])
        known = on_side - pl.col("silent").fill_null(0).cast(pl.Int64)
        zeros = known - given.list.len().cast(pl.Int64)
        rows = rows.with_columns(
            given.list.drop_nulls()
            .list.concat(pl.lit(0.0).repeat_by(zeros.clip(0)))
            .alias(f"{side}_values"),
        ).drop("silent")
    for side in SIDES:
        values = pl.col(f"{side}_values")
        spread = values.list.max() - values.list.min()
        rows = rows.with_columns(
            values.list.median().alias(side),
            values.list.len().alias(f"{side}_runs"),
            pl.when(values.list.len() > 1).then(spread).alias(f"{side}_spread"),
        ).drop(f"{side}_values")
    has = keyed.group_by("table", "key").agg(
        pl.col("side").is_in([side]).any().alias(f"has_{side}") for side in SIDES
    )
    only = pl.when(~pl.col("has_after")).then(pl.lit("before"))
    return rows.join(has, on=["table", "key"], how="left").with_columns(
        only_in=only.when(~pl.col("has_before")).then(pl.lit("after"))
    )


def _with_p(
    rows: pl.DataFrame, runs: pl.DataFrame, unknown: pl.DataFrame
) -> tuple[pl.DataFrame, tuple[int, ...]]:
    """Test each row, and correct for the comparisons of its family that could find something.

    Times vary from run to run, and are many: what is counted, often the same in all runs of a
    program, is corrected apart from them. So are the totals, which are few.
    """
    families: dict[tuple[bool, bool], list[tuple[int, Comparable]]] = defaultdict(list)
    found: list[float | None] = [None] * rows.height
    sure: list[bool | None] = [None] * rows.height
    for at, (table, unit, *sides) in enumerate(_each_run(rows, runs, unknown)):
        test = Comparable.of(*sides)
        if test is None:
            continue
        found[at], sure[at] = test.p, False
        # If all runs but one are the same, no test can find a difference: do not count it.
        if test.least <= LEVEL:
            families[table == TOTALS, unit == "ns"].append((at, test))
    for family in families.values():
        for (at, _), p in zip(family, corrected([test for _, test in family]), strict=True):
            sure[at] = p <= LEVEL
    tests = tuple(len({test.order for _, test in family}) for family in families.values())
    columns = pl.Series("p", found, dtype=pl.Float64), pl.Series("sure", sure, dtype=pl.Boolean)
    return rows.with_columns(*columns), tests


def _each_run(
    rows: pl.DataFrame, runs: pl.DataFrame, unknown: pl.DataFrame
) -> Iterator[tuple[str, str | None, list[float | None], list[float | None]]]:
    """Give of each row its table, its unit, and the value in each run: None if it cannot say."""
    numbers = [runs.filter(pl.col("side") == side)["run"].to_list() for side in SIDES]
    if min(map(len, numbers)) < MIN_RUNS:
        return
    silent: dict[tuple[str, str], dict[int, None]] = defaultdict(dict)
    named = unknown.join(runs, on=["side", "source"]).select("table", "measure", "run")
    for table, measure, run in named.iter_rows():
        silent[table, measure][run] = None
    lists = [f"{side}_{what}" for side in SIDES for what in ("at", "given")]
    for table, measure, unit, *given in rows.select("table", "measure", "unit", *lists).iter_rows():
        values: dict[int, float | None] = dict(silent[table, measure])
        for at, known in zip(given[::2], given[1::2], strict=True):
            values |= dict(zip(at or (), known or (), strict=True))
        before, after = ([values.get(run, 0.0) for run in side] for side in numbers)
        yield table, unit, before, after
