"""Run queries with polars: lazily, in memory that does not grow with the log."""

import re
from collections.abc import Callable

import polars as pl
import polars.selectors as cs

from tracefast.cli.messages.column_suggestions import suggest_column
from tracefast.cli.messages.errors import CommandError
from tracefast.cli.sql.tables import EVENTS, TABLES, not_a_query, tables_named_in
from tracefast.error_hints import suggest

_HINT = "give one SELECT in the SQL of polars; --engine duckdb supports more"
_DESCRIBES = "tracefast schema TABLE lists columns; --engine duckdb supports DESCRIBE"
# Statements that give no table, after comments.
_CHANGES = re.compile(
    r"(?:\s|--[^\n]*(?:\n|$)|/\*.*?\*/)*"
    r"(alter|attach|copy|create|delete|drop|insert|merge|set|truncate|update)\b",
    re.IGNORECASE | re.DOTALL,
)


def sql_analysis(query: str) -> Callable[[pl.LazyFrame], pl.LazyFrame]:
    """Make an analysis that runs a query.

    Parameters
    ----------
    query
        One statement that gives a table.

    Raises
    ------
    CommandError
        It is not a query.

    Examples
    --------
    >>> import tracefast as tf
    >>> sql_analysis("SELECT path, read_bytes FROM files WHERE reads > 0")(
    ...     tf.scan("demo.strace")
    ... ).collect().rows()
    [('/srv/demo/data.bin', 4096)]
    """
    if match := _CHANGES.match(query):
        raise not_a_query(match[1].upper())

    def analysis(events: pl.LazyFrame) -> pl.LazyFrame:
        tables = {EVENTS: events} | tables_named_in(query, events)
        try:
            try:
                plan = _plan(query, tables)
            except (pl.exceptions.InvalidOperationError, pl.exceptions.SchemaError):
                # Filters on categorical columns are pushed down to the parser, but some
                # functions of SQL, such as LIKE, take only text.
                as_text = cs.categorical().cast(pl.String)
                texts = {name: table.with_columns(as_text) for name, table in tables.items()}
                plan = _plan(query, texts)
            return plan.collect(engine="streaming").lazy()
        except pl.exceptions.PolarsError as error:
            raise _to_command_error(error) from error

    return analysis


def _plan(query: str, tables: dict[str, pl.LazyFrame]) -> pl.LazyFrame:
    with pl.SQLContext(tables) as context:
        plan: pl.LazyFrame = context.execute(query)
    plan.collect_schema()
    return plan


def _to_command_error(error: pl.exceptions.PolarsError) -> CommandError:
    text = str(error).partition("\n")[0]
    if match := re.match(r"relation '(.*)' was not found", text):
        return CommandError(f"SQL: no such table: {match[1]}", suggest(match[1], TABLES))
    if match := re.match(r'unable to find column "(.*?)"; valid columns: \[(.*)\]', text):
        known = re.findall(r'"(.*?)"', match[2])
        return CommandError(f"SQL: no such column: {match[1]}", suggest_column(match[1], known))
    describes = re.search(r"^\s*(ExplainTable|ShowColumns)\b", str(error), re.MULTILINE)
    return CommandError(f"SQL: {text.rstrip(': ')}", _DESCRIBES if describes else _HINT)
