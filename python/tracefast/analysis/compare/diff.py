"""What differs between runs: which files, calls, processes, and by how much."""

from collections import defaultdict
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Final, NamedTuple

import polars as pl
from polars.io.plugins import register_io_source

from tracefast._polars.declared_schema import declared_schema
from tracefast._polars.divided import logs_of
from tracefast._polars.given_events import Events
from tracefast._polars.projection import project
from tracefast._polars.source_threads import inside
from tracefast.analysis.compare.kept_values import CELL, KeptValues
from tracefast.analysis.compare.significance import LEVEL, MIN_RUNS, Comparable, corrected
from tracefast.analysis.compare.spill import Spill
from tracefast.analysis.compare.tables import TABLES, TOTALS, unit_of
from tracefast.analysis.compare.values import MEASURES, SIDES, VALUES, sum_known, values_of
from tracefast.analysis.path_patterns import patterns
from tracefast.arguments import check_choice
from tracefast.columns.compare.diff import TABLES as NAMES
from tracefast.columns.compare.diff import Table

SCHEMA: Final = declared_schema("diff")
# What changed most in time comes first, then in bytes, then in numbers.
UNITS: Final = ("ns", "bytes", None)
# Sums of durations of calls.
_DURATIONS: Final = ("total_ns", "read_ns", "write_ns", "call_ns")
_ROW: Final = ("table", "key", "measure")
# What is known of a row that changed, before all rows are known.
_CHANGED: Final = pl.Schema(
    {
        "number": pl.UInt32(),
        **{name: VALUES[name] for name in ("table", "measure")},
        **{name: SCHEMA[name] for name in ("unit", *SIDES, "only_in")},
        **{
            f"{side}_{what}": SCHEMA[f"{side}_{what}"]
            for what in ("runs", "spread")
            for side in SIDES
        },
        "p": pl.Float64(),
        "order": pl.Binary(),
    }
)
_UNIT_OF: Final = {measure: unit_of(measure) for measure in MEASURES}
# So many values are paired at a time: of rows in which a run has none, it counts as well.
_PAIRED: Final = 200_000


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
    # Mistakes are noticed by this call.
    given = [
        (side, events, values_of(events, side, chosen))
        for side, events in zip(SIDES, (before, after), strict=True)
    ]
    nothing = SCHEMA.to_frame()

    def source(
        with_columns: list[str] | None,
        predicate: pl.Expr | None,
        n_rows: int | None,
        _batch_size: int | None,
    ) -> Iterator[pl.DataFrame]:
        with KeptValues(chosen, normalise=normalise) as kept:
            for side, events, values in given:
                # One after the other: what a query holds over all logs grows with their number.
                logs = logs_of(events)
                each = (values_of(log, side, chosen) for log in logs) if logs else iter([values])
                for one in each:
                    kept.add(one.collect())
                    # A source that does not yield cannot be stopped.
                    yield project(nothing, with_columns)
            table = compare(kept, match=match).changes
        table = table if n_rows is None else table[:n_rows]
        yield project(table if predicate is None else table.filter(predicate), with_columns)

    return register_io_source(
        lambda *asked: inside(source(*asked)), schema=SCHEMA, is_pure=True, explain_name="DIFF"
    )


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


def compare(values: KeptValues, *, match: str | None) -> Comparison:
    """Compare the values of runs.

    Parameters
    ----------
    values
        The values of the runs of both sides.
    match
        Compare only keys that match.
    """
    runs = _Runs(values)
    keys = _keys(values)
    names = keys.select("key").unique().sort("key")
    if match is not None:
        kept = [
            key for key in names["key"] if fnmatchcase(key, match) or fnmatchcase(_last(key), match)
        ]
        keys = keys.filter(pl.col("key").is_in(kept))
    tests = _Tests(runs)
    durations: set[tuple[str, str]] = set()
    changed = [_CHANGED.to_frame()]
    # A part of the keys at a time: what is paired takes several times the memory of the values.
    for part in _by_key(values, keys):
        of_calls = part.filter(pl.col("measure").is_in(_DURATIONS))
        durations |= set(of_calls.select("table", "measure").unique().iter_rows())
        for rows in _paired(part, runs):
            tested = rows.with_columns(tests.add(rows))
            changed.append(
                tested.filter(pl.col("before") != pl.col("after")).select(_CHANGED.names())
            )
    rows = pl.concat(changed)
    rows = rows.with_columns(
        tests.sure(rows),
        change=pl.col("after") - pl.col("before"),
        ratio=pl.when(pl.col("before") != 0).then(pl.col("after") / pl.col("before")),
    )
    rows = rows.join(keys.select("number", "key").unique("number"), on="number")
    rows = rows.with_columns(pl.col(_ROW).cast(pl.String))
    rank = pl.col("unit").replace_strict(
        {unit: at for at, unit in enumerate(UNITS) if unit is not None}, default=len(UNITS)
    )
    rows = rows.sort(
        rank, pl.col("change").abs(), *_ROW, descending=[False, True, False, False, False]
    )
    return Comparison(
        rows.select(pl.col(name).cast(dtype) for name, dtype in SCHEMA.items()),
        tests.counts(),
        runs.untimed(durations),
        names,
    )


def _last(key: str) -> str:
    return key.rpartition("/")[2]


class _Runs:
    """The runs of both sides, and what they cannot say."""

    def __init__(self, values: KeptValues) -> None:
        self.sides: Final = values.runs.select("run", "side")
        self.numbers: Final = {
            side: self.sides.filter(side=side)["run"].to_list() for side in SIDES
        }
        self.unknown: Final = values.unknown
        counted = self.unknown.join(self.sides, on="run").group_by("side", "table", "measure").len()
        self.silent: Final = {
            side: counted.filter(side=side).select("table", "measure", silent="len")
            for side in SIDES
        }

    def untimed(self, durations: set[tuple[str, str]]) -> str | None:
        """Say which side alone has no durations, so that times are not compared."""
        before, after = (
            {
                (table, measure)
                for table, measure, silent in self.silent[side].iter_rows()
                if silent == len(self.numbers[side])
            }
            for side in SIDES
        )
        return (
            SIDES[0]
            if durations & before - after
            else SIDES[1]
            if durations & after - before
            else None
        )


def _keys(values: KeptValues) -> pl.DataFrame:
    """Make one text of the parts of each key.

    Rows of the same `number` are one key of a table. They have the same `key`, `several` of them
    if their names became the same pattern.
    """
    tables = [
        pl.DataFrame(schema={"table": VALUES["table"], "parts": pl.UInt32(), "key": pl.String()})
    ]
    for name in values.tables:
        if name == TOTALS:
            parts = values.totals.select(pl.col("key").unique(), parts=pl.lit(None, pl.UInt32))
        else:
            compared = TABLES[name]
            parts = values.parts(name)
            for column in compared.paths:
                found = patterns(values.varying(name, column))
                parts = parts.with_columns(pl.col(column).replace(found))
            key = pl.concat_str(compared.keys, separator=" ").alias("key")
            parts = parts.select(pl.col("parts").to_physical(), key)
        table = pl.lit(name, VALUES["table"]).alias("table")
        tables.append(parts.select(table, "parts", "key"))
    keys = pl.concat(tables)
    return keys.with_columns(
        number=pl.struct("table", "key").rank("dense"), several=pl.len().over("table", "key") > 1
    )


def _by_key(values: KeptValues, keys: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Give the values of some keys at a time, those of all runs; the same keys are summed up."""
    parts = values.height // _PAIRED + 1
    cell = ("run", "number", "measure")
    with Spill() as spill:

        def put_away(rows: pl.DataFrame) -> None:
            rows = rows.select(*cell, "several", "value", part=pl.col("number") % parts)
            of_parts = rows.partition_by("part", as_dict=True, include_key=False)
            for (part,), of_part in of_parts.items():
                spill.add(of_part, part)

        of_tables = keys.drop_nulls("parts")
        for rows in values.values():
            put_away(rows.join(of_tables, on=["table", "parts"]))
        if TOTALS in values.tables:
            put_away(values.totals.join(keys.filter(table=TOTALS), on="key"))
        names = keys.select("number", "table").unique("number")
        for part in range(parts):
            if not (frames := list(spill.read(part))):
                continue
            rows = pl.concat(frames)
            together = (
                rows.filter("several").group_by(cell).agg(sum_known(pl.col("value")).alias("value"))
            )
            alone = rows.filter(~pl.col("several")).select(together.columns)
            yield pl.concat([alone, together]).join(names, on="number")


def _paired(values: pl.DataFrame, runs: _Runs) -> Iterator[pl.DataFrame]:
    """Put the values of both sides of rows into lists, and say which run has which.

    Runs that do not have the row have 0 of it, and are not in the lists: there may be thousands.
    """
    row = ["number", "measure"]
    values = values.join(runs.sides, on="run")
    rows = values.filter(pl.col("value") != 0).select("table", *row).unique()
    cells = values.join(runs.unknown, on=CELL, how="anti")
    for side in SIDES:
        lists = (
            cells.filter(side=side)
            .group_by(row)
            .agg(pl.col("run").alias(f"{side}_at"), pl.col("value").alias(f"{side}_given"))
        )
        rows = rows.join(lists, on=row, how="left").join(
            runs.silent[side].rename({"silent": f"{side}_silent"}),
            on=["table", "measure"],
            how="left",
        )
    has = values.group_by("number").agg(
        pl.col("side").is_in([side]).any().alias(f"has_{side}") for side in SIDES
    )
    only = pl.when(~pl.col("has_after")).then(pl.lit("before"))
    rows = rows.join(has, on="number", how="left").with_columns(
        only_in=only.when(~pl.col("has_before")).then(pl.lit("after"))
    )
    for some in rows.iter_slices(max(_PAIRED // runs.sides.height, 1)):
        yield _summed_up(some, runs)


def _summed_up(rows: pl.DataFrame, runs: _Runs) -> pl.DataFrame:
    """Sum up the values of each row, with the zeros of runs that do not have it."""
    for side in SIDES:
        given = pl.col(f"{side}_given").fill_null([])
        known = len(runs.numbers[side]) - pl.col(f"{side}_silent").fill_null(0).cast(pl.Int64)
        zeros = known - given.list.len().cast(pl.Int64)
        rows = rows.with_columns(
            given.list.drop_nulls()
            .list.concat(pl.lit(0.0).repeat_by(zeros.clip(0)))
            .alias(f"{side}_values"),
        )
    for side in SIDES:
        values = pl.col(f"{side}_values")
        spread = values.list.max() - values.list.min()
        rows = rows.with_columns(
            values.list.median().alias(side),
            values.list.len().alias(f"{side}_runs"),
            pl.when(values.list.len() > 1).then(spread).alias(f"{side}_spread"),
        ).drop(f"{side}_values")
    return rows.with_columns(
        unit=pl.col("measure").replace_strict(_UNIT_OF, return_dtype=pl.String)
    )


class _Tests:
    """The tests of rows, corrected for the comparisons of a family that could find something.

    Times vary from run to run, and are many: what is counted, often the same in all runs of a
    program, is corrected apart from them. So are the totals, which are few.
    """

    def __init__(self, runs: _Runs) -> None:
        self._numbers = [runs.numbers[side] for side in SIDES]
        # Of each family and each order of the runs, one test.
        self._families: defaultdict[tuple[bool, bool], dict[bytes, Comparable]] = defaultdict(dict)
        self._silent: defaultdict[tuple[str, str], dict[int, None]] = defaultdict(dict)
        for run, table, measure in runs.unknown.iter_rows():
            self._silent[table, measure][run] = None

    def add(self, rows: pl.DataFrame) -> list[pl.Series]:
        """Test each row: give `p`, and the `order` of the runs; null if nobody can tell."""
        found: list[float | None] = [None] * rows.height
        orders: list[bytes | None] = [None] * rows.height
        for at, (table, unit, *sides) in enumerate(self._each_run(rows)):
            test = Comparable.of(*sides)
            if test is None:
                continue
            found[at], orders[at] = test.p, test.order
            # If all runs but one are the same, no test can find a difference: do not count it.
            if test.least <= LEVEL:
                self._families[table == TOTALS, unit == "ns"][test.order] = test
        return [pl.Series("p", found, pl.Float64), pl.Series("order", orders, pl.Binary)]

    def sure(self, rows: pl.DataFrame) -> pl.Series:
        """Say of rows whether they are sure, when all rows have been added."""
        of_families = {
            family: dict(zip(tests, corrected(list(tests.values())), strict=True))
            for family, tests in self._families.items()
        }
        sure = [
            None
            if order is None
            else of_families.get((table == TOTALS, unit == "ns"), {}).get(order, 1) <= LEVEL
            for table, unit, order in rows.select("table", "unit", "order").iter_rows()
        ]
        return pl.Series("sure", sure, pl.Boolean)

    def counts(self) -> tuple[int, ...]:
        """Give the number of comparisons in each family."""
        return tuple(map(len, self._families.values()))

    def _each_run(
        self, rows: pl.DataFrame
    ) -> Iterator[tuple[str, str | None, list[float | None], list[float | None]]]:
        """Give of rows their table, unit, and value in each run: None if it cannot say."""
        if min(map(len, self._numbers)) < MIN_RUNS:
            return
        lists = [f"{side}_{what}" for side in SIDES for what in ("at", "given")]
        for table, measure, unit, *given in rows.select(
            "table", "measure", "unit", *lists
        ).iter_rows():
            values: dict[int, float | None] = dict(self._silent.get((table, measure), {}))
            for at, known in zip(given[::2], given[1::2], strict=True):
                values |= dict(zip(at or (), known or (), strict=True))
            before, after = ([values.get(run, 0.0) for run in side] for side in self._numbers)
            yield table, unit, before, after
