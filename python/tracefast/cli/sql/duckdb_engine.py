"""SQL as duckdb understands it: the events as Parquet, which it reads as often as it likes."""

import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

import polars as pl

from tracefast.cli.messages.errors import CommandError, resembling
from tracefast.cli.sql.tables import EVENTS, TABLES, named, no_question

if TYPE_CHECKING:
    import duckdb

# Statements that give a table (PIVOT is several), and those that may stand before one.
_ASK: Final = {"SELECT", "EXPLAIN", "PRAGMA", "CALL", "RELATION", "LOGICAL_PLAN", "MULTI"}
_PREPARE: Final = {"SET", "VARIABLE_SET", "LOAD", "CREATE", "CREATE_FUNC"}


def asked(query: str) -> Callable[[pl.LazyFrame], pl.LazyFrame]:
    """Make an analysis of a query.

    Parameters
    ----------
    query
        A statement that gives a table, perhaps behind some that prepare for it.

    Raises
    ------
    CommandError
        duckdb is not installed, or the query is none: it changes something instead.

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

    try:
        _check(duckdb.extract_statements(query))
    except duckdb.Error as error:
        raise _refused(error) from error

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
                if result is None:
                    raise no_question(_first_word(query))
                found: pl.DataFrame = result.pl()
            except duckdb.Error as error:
                raise _refused(error) from error
        return found.lazy()

    return answer


def _check(statements: "list[duckdb.Statement]") -> None:
    """Refuse what does not give a table at its end, or does more before it than to prepare."""
    if not statements:
        raise no_question("nothing")
    for at, statement in enumerate(statements, 1):
        allowed = _ASK if at == len(statements) else _ASK | _PREPARE
        if statement.type.name not in allowed:
            raise no_question(_first_word(statement.query))


def _first_word(statement: str) -> str:
    text = re.sub(r"--[^\n]*(\n|$)|/\*.*?\*/", " ", statement, flags=re.DOTALL)
    return text.split(maxsplit=1)[0].upper()


def _refused(error: "duckdb.Error") -> CommandError:
    what, *more = [line for line in str(error).splitlines() if line.strip()]
    hint = next((line for line in more if ":" in line and "LINE" not in line), None)
    if match := re.search(r"Table with name (\S+) does not exist", what):
        # duckdb knows of the tables that the query named, but of no others.
        hint = resembling(match[1], TABLES)
    return CommandError(f"SQL: {what}", hint and hint.strip())
