"""SQL as duckdb understands it: the events as Parquet, which it reads as often as it likes."""

import re
import tempfile
from collections.abc import Callable
from pathlib import Path

import polars as pl

from tracefast.cli.errors import CommandError, resembling
from tracefast.cli.sql_tables import EVENTS, TABLES, named


def asked(query: str) -> Callable[[pl.LazyFrame], pl.LazyFrame]:
    """Make an analysis of a query.

    Parameters
    ----------
    query
        One statement that gives a table.

    Raises
    ------
    CommandError
        duckdb is not installed.

    Examples
    --------
    >>> import tracefast as tf
    >>> asked("FROM events SELECT count(*) AS n WHERE name = 'read'")(
    ...     tf.scan("demo.strace")
    ... ).collect().rows()
    [(2,)]
    """
    try:
        import duckdb
    except ImportError as error:
        raise CommandError(
            "--engine duckdb: duckdb is not installed", "pip install 'tracefast[duckdb]'"
        ) from error

    def answer(events: pl.LazyFrame) -> pl.LazyFrame:
        # A query is to find tables, not the variables of this program.
        with (
            tempfile.TemporaryDirectory(prefix="tracefast-") as folder,
            duckdb.connect(config={"python_enable_replacements": False}) as base,
        ):
            file = Path(folder) / "events.parquet"
            events.sink_parquet(file, compression="lz4")
            base.read_parquet(str(file)).create_view(EVENTS)
            for name, table in named(query, events).items():
                base.register(name, table.collect().to_arrow())
            try:
                result: duckdb.DuckDBPyRelation | None = base.sql(query)
                # Statements such as SET have none.
                found: pl.DataFrame = pl.DataFrame() if result is None else result.pl()
            except duckdb.Error as error:
                what, *more = [line for line in str(error).splitlines() if line.strip()]
                hint = next((line for line in more if ":" in line and "LINE" not in line), None)
                if match := re.search(r"Table with name (\S+) does not exist", what):
                    # duckdb knows of the tables that the query named, but of no others.
                    hint = resembling(match[1], TABLES)
                raise CommandError(f"SQL: {what}", hint and hint.strip()) from error
        return found.lazy()

    return answer
