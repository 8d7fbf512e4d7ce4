"""What is compared of runs: the values of each run and row of its tables."""

from collections.abc import Iterator
from typing import Final

import polars as pl

from tracefast._polars.given_events import Events, rows_of
from tracefast.analysis.compare.tables import COUNT, NO_NAME, SUMMED, TABLES, TOTALS, WALL
from tracefast.analysis.durations import LEAST_TIMED, timed_share
from tracefast.columns.compare.diff import TABLES as NAMES
from tracefast.columns.compare.diff import Table

SIDES: Final = ("before", "after")
MEASURES: Final = tuple(
    dict.fromkeys([WALL, *(name for table in TABLES.values() for name in table.measures)])
)
# The values of runs, in a long table: of each run, and each row of its tables. Of a thousand runs
# there are millions, with the same few thousand words.
VALUES: Final = pl.Schema(
    {
        "side": pl.Enum(SIDES),
        "source": pl.Categorical(),
        "table": pl.Enum(NAMES),
        "parts": pl.Categorical(),
        "measure": pl.Enum(MEASURES),
        "value": pl.Float64(),
    }
)
# Says of a run that its log has too few durations.
UNTIMED: Final = "untimed"
# Between the parts of a key; no path has it.
BETWEEN: Final = "\0"


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

    Examples
    --------
    >>> import tracefast as tf
    >>> values = values_of(tf.scan("demo.strace"), "before", ("syscalls",)).collect()
    >>> values.filter(parts="read", measure="calls")["value"].to_list()
    [2.0]
    """
    made = dict.fromkeys([*tables, *(SUMMED if TOTALS in tables else ())])
    # One after the other: each may take the memory of a whole table.
    parts = _parts(events, side, [name for name in made if name != TOTALS])
    return pl.concat(list(parts), parallel=False)


def runs_of(values: pl.DataFrame) -> pl.DataFrame:
    """Give the rows of the runs themselves among the values of runs.

    Examples
    --------
    >>> import tracefast as tf
    >>> runs_of(values_of(tf.scan("demo.strace"), "before", ("syscalls",)).collect()).height
    1
    """
    return values.filter(pl.col("table").is_null())


def _parts(events: Events, side: str, tables: list[Table]) -> Iterator[pl.LazyFrame]:
    """Give the runs with their times, then the values of each table."""
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
        .agg(span.cast(pl.Float64).alias("value"), untimed.first().alias(UNTIMED))
        .select(
            here,
            "source",
            pl.lit(None).alias("table"),
            pl.when(UNTIMED).then(pl.lit(UNTIMED)).alias("parts"),
            pl.lit(None).alias("measure"),
            "value",
        )
        .cast(VALUES)
    )
    for name in tables:
        compared = TABLES[name]
        keys, measures = list(compared.keys), list(compared.measures)
        table = compared.make(rows)
        if COUNT not in table.collect_schema():
            table = table.with_columns(pl.lit(1).alias(COUNT))
        texts = pl.col(keys).cast(pl.String).fill_null(NO_NAME)
        parts = pl.concat_str(texts, separator=BETWEEN).alias("parts")
        yield (
            table.group_by("source", *keys)
            .agg(sum_known(pl.col(measure)).alias(measure) for measure in measures)
            .select(here, source, pl.lit(name).alias("table"), parts, *measures)
            .unpivot(measures, index=list(VALUES)[:4], variable_name="measure")
            .filter(_worth_keeping(measures[0]))
            .select(list(VALUES))
            .cast(VALUES)
        )


def _worth_keeping(first: str) -> pl.Expr:
    """Say which values to keep: most are 0, which is what a run without the row has.

    One measure of each key stays, as the run has the key; and so do all of a measure that the run
    does not always know.
    """
    unknown = pl.col("value").is_null().any().over("source", "measure")
    return (pl.col("value") != 0) | unknown | (pl.col("measure") == first)


def sum_known(values: pl.Expr) -> pl.Expr:
    """Sum up; null where no value is known."""
    return pl.when(values.count() > 0).then(values.sum().cast(pl.Float64))
