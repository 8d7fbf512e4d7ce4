"""The values of many runs, in little memory: in numbers, and in a file where there are many."""

from collections.abc import Iterator
from typing import Final, Self

import polars as pl

from tracefast.analysis.compare.spill import Spill
from tracefast.analysis.compare.tables import RUN, SUMMED, TABLES, TOTALS, WALL, unit_of
from tracefast.analysis.compare.values import (
    BETWEEN,
    MEASURES,
    VALUES,
    runs_of,
    sum_known,
)
from tracefast.analysis.durations import FROM_EVENTS
from tracefast.columns.compare.diff import Table

# Values are put away when there are so many, or when so many frames have some.
_RECENT_VALUES: Final = 1 << 17
_RECENT_FRAMES: Final = 256
# What an unknown value and a total are of.
CELL: Final = ("run", "table", "measure")
_TIMES: Final = [name for name in MEASURES if unit_of(name) == "ns" and name not in FROM_EVENTS]
_SUMMED: Final = pl.DataFrame(
    [(table, measure) for table, measures in SUMMED.items() for measure in measures],
    schema={name: VALUES[name] for name in ("table", "measure")},
    orient="row",
)
# The columns of the file. The number of a word is that which polars has for it.
_IN_FILE: Final = ("run", "table", "parts", "measure", "value")


class KeptValues:
    """The values of runs, in the order in which they came.

    In memory are the runs, their totals, the keys, and some recent values.

    Parameters
    ----------
    tables
        The tables to compare.
    normalise
        Count in how many runs there is a name.

    Attributes
    ----------
    height
        The number of values, without those of the totals.

    Examples
    --------
    >>> import tracefast as tf
    >>> from tracefast.analysis.compare.values import values_of
    >>> values = values_of(tf.scan("demo.strace"), "before", ("syscalls",)).collect()
    >>> with KeptValues(("syscalls",), normalise=True) as kept:
    ...     runs = kept.add(values)
    ...     kept.runs.select("side", "source").rows()
    [('before', 'demo.strace')]
    """

    def __init__(self, tables: tuple[Table, ...], *, normalise: bool) -> None:
        self.tables: Final = tables
        self.height = 0
        self._normalise = normalise
        self._spill = Spill()
        self._added = 0
        self._recent: list[pl.DataFrame] = []
        self._recent_runs: list[pl.DataFrame] = []
        self._runs: list[pl.DataFrame] = []
        self._totals: list[pl.DataFrame] = []
        self._unknown: list[pl.DataFrame] = []
        # As long as the words are here, polars does not give their numbers to others.
        self._parts = pl.DataFrame(schema={name: VALUES[name] for name in ("table", "parts")})
        self._named: dict[tuple[Table, str], pl.DataFrame] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._spill.close()

    def add(self, values: pl.DataFrame) -> pl.DataFrame:
        """Keep the values of runs, all of each, and give the rows of the runs themselves.

        Parameters
        ----------
        values
            What :func:`~tracefast.analysis.compare.values.values_of` gives.
        """
        values = values.cast(VALUES)
        found = runs_of(values)
        runs = found.with_row_index("run", self._added)
        of_run = ["side", "source"]
        known = values.filter(pl.col("table").is_not_null()).join(
            runs.select("run", *of_run, untimed="parts"), on=of_run, nulls_equal=True
        )
        # What durations add up to is unknown where a log has too few.
        silent = pl.col("untimed").is_not_null() & pl.col("measure").is_in(_TIMES)
        self._added += runs.height
        self._recent_runs.append(
            runs.select("run", "side", pl.col("source").cast(pl.String), "value")
        )
        self._recent.append(
            known.select(*_IN_FILE[:-1], pl.when(~silent).then("value").alias("value"))
        )
        many = sum(frame.height for frame in self._recent) >= _RECENT_VALUES
        if many or len(self._recent) >= _RECENT_FRAMES:
            self._put_away()
        return found

    def _put_away(self) -> None:
        """Write recent values to the file, and note what is asked of all values."""
        if not self._recent:
            return
        self._runs.append(pl.concat(self._recent_runs))
        values = pl.concat(self._recent)
        self._recent_runs.clear()
        self._recent.clear()
        if TOTALS in self.tables:
            sums = (
                values.join(_SUMMED, on=["table", "measure"], how="semi")
                .group_by(CELL)
                .agg(sum_known(pl.col("value")).alias("value"))
            )
            self._totals.append(sums)
        values = values.filter(pl.col("table").is_in(self.tables))
        self._unknown.append(_unknown(values))
        parts = values.select("table", "parts").unique()
        self._parts = pl.concat([self._parts, parts]).unique()
        for name in self.tables if self._normalise else ():
            self._count_names(name, values.filter(table=name))
        self.height += values.height
        self._spill.add(values.with_columns(pl.col("parts").to_physical()))

    def _count_names(self, table: Table, values: pl.DataFrame) -> None:
        """Count in how many runs the names in the keys of a table are."""
        if table not in TABLES or values.is_empty():
            return
        compared = TABLES[table]
        # Each run has this measure of each key.
        of_runs = values.filter(measure=compared.measures[0]).select("run", "parts")
        names = split(table, of_runs.select("parts").unique())
        for column in compared.paths:
            by_name = of_runs.join(names, on="parts").select("run", column).unique()
            counted = [by_name.group_by(column).agg(pl.len().alias("runs"))]
            if (table, column) in self._named:
                counted.append(self._named[table, column])
            self._named[table, column] = (
                pl.concat(counted).group_by(column).agg(pl.col("runs").sum())
            )

    @property
    def runs(self) -> pl.DataFrame:
        """The runs: `run`, `side`, `source`, and how long each took as `value`."""
        self._put_away()
        return pl.concat(self._runs)

    @property
    def totals(self) -> pl.DataFrame:
        """The sums of each run over all keys of a table, and how long it took: `key` says which."""
        self._put_away()
        sums = pl.concat(self._totals).with_columns(key=pl.col("table").cast(pl.String))
        times = self.runs.select(
            "run", "value", key=pl.lit(RUN), measure=pl.lit(WALL, VALUES["measure"])
        )
        both = pl.concat([sums.select(times.columns), times])
        return both.with_columns(table=pl.lit(TOTALS, VALUES["table"]))

    @property
    def unknown(self) -> pl.DataFrame:
        """The runs that cannot say a measure. Those without any row can, it is 0."""
        self._put_away()
        of_totals = [_unknown(self.totals)] if TOTALS in self.tables else []
        return pl.concat([*self._unknown, *of_totals])

    def parts(self, table: Table) -> pl.DataFrame:
        """Give the keys of a table: their `parts`, and a column of each."""
        self._put_away()
        return split(table, self._parts.filter(table=table).select("parts"))

    def varying(self, table: Table, column: str) -> pl.Series:
        """Give the names in a column of the keys of a table that not every run has, sorted."""
        self._put_away()
        if (counted := self._named.get((table, column))) is None:
            return pl.Series(column, dtype=pl.String)
        return counted.filter(pl.col("runs") < self._added)[column].sort()

    def values(self) -> Iterator[pl.DataFrame]:
        """Give the values, some at a time; `parts` is the number of the word."""
        self._put_away()
        yield from self._spill.read()


def split(table: Table, parts: pl.DataFrame) -> pl.DataFrame:
    """Add a column for each part of the keys of a table."""
    split = pl.col("parts").cast(pl.String).str.split(BETWEEN)
    return parts.with_columns(
        split.list.get(at).alias(column) for at, column in enumerate(TABLES[table].keys)
    )


def _unknown(values: pl.DataFrame) -> pl.DataFrame:
    silent = values.group_by(CELL).agg(pl.col("value").count() == 0)
    return silent.filter("value").select(CELL)
