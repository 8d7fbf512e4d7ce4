"""Run queries with duckdb: it gets the events as Parquet, which it may read several times."""

import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

import polars as pl

from tracefast.cli.messages.errors import CommandError
from tracefast.cli.sql.tables import EVENTS, TABLES, not_a_query, tables_named_in
from tracefast.error_hints import suggest

if TYPE_CHECKING:
    import duckdb

# Statements that give a table (PIVOT is several), and those that may come before one.
_QUERIES: Final = {"SELECT", "EXPLAIN", "PRAGMA", "CALL", "RELATION", "LOGICAL_PLAN", "MULTI"}
_PREPARATIONS: Final = {"SET", "VARIABLE_SET", "LOAD", "CREATE", "CREATE_FUNC"}


def sql_analysis(query: str) -> Callable[[pl.LazyFrame], pl.LazyFrame]:
    """Make an analysis that runs a query.

    Parameters
    ----------
    query
        A statement that gives a table, perhaps after others that prepare for it.

    Raises
    ------
    CommandError
        duckdb is not installed, or a statement is not a query.

    Examples
    --------
    >>> import tracefast as tf
    >>> sql_analysis("FROM events SELECT count(*) AS n WHERE name = 'read'")(
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

    try:
        _check(duckdb.extract_statements(query))
    except duckdb.Error as error:
        raise _to_command_error(error) from error

    def analysis(events: pl.LazyFrame) -> pl.LazyFrame:
        # A query finds tables, not the variables of this program.
        with (
            tempfile.TemporaryDirectory(prefix="tracefast-") as folder,
            duckdb.connect(config={"python_enable_replacements": False}) as base,
        ):
            file = Path(folder) / "events.parquet"
            events.sink_parquet(file, compression="lz4")
            base.read_parquet(str(file)).create_view(EVENTS)
            for name, table in tables_named_in(query, events).items():
                base.register(name, table.collect().to_arrow())
            try:
                result: duckdb.DuckDBPyRelation | None = base.sql(query)
                if result is None:
                    raise not_a_query(_first_word(query))
                found: pl.DataFrame = result.pl()
            except duckdb.Error as error:
                raise _to_command_error(error) from error
        return found.lazy()

    return analysis


def _check(statements: "list[duckdb.Statement]") -> None:
    """Refuse statements other than a query and those that prepare for it."""
    if not statements:
        raise CommandError("SQL: the query is empty", "give one SELECT")
    for at, statement in enumerate(statements, 1):
        allowed = _QUERIES if at == len(statements) else _QUERIES | _PREPARATIONS
        if statement.type.name not in allowed:
            raise not_a_query(_first_word(statement.query))


def _first_word(statement: str) -> str:
    text = re.sub(r"--[^\n]*(\n|$)|/\*.*?\*/", " ", statement, flags=re.DOTALL)
    return text.split(maxsplit=1)[0].upper()


def _to_command_error(error: "duckdb.Error") -> CommandError:
    what, *more = [line for line in str(error).splitlines() if line.strip()]
    hint = next((line for line in more if ":" in line and "LINE" not in line), None)
    if match := re.search(r"Table with name (\S+) does not exist", what):
        # duckdb knows only the tables that the query named.
        hint = suggest(match[1], TABLES)
    return CommandError(f"SQL: {what}", hint and hint.strip())
