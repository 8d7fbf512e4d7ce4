"""SQL as polars understands it: lazy, in memory that does not grow with the log."""

import re
from collections.abc import Callable

import polars as pl
import polars.selectors as cs

from tracefast.cli.messages.column_suggestions import suggest_column
from tracefast.cli.messages.errors import CommandError, resembling
from tracefast.cli.sql.tables import EVENTS, TABLES, named, no_question

_HINT = "one SELECT in the SQL of polars; --engine duckdb knows more"
_DESCRIBES = "tracefast schema TABLE lists columns; --engine duckdb knows DESCRIBE"
# What polars does, or would, without giving a table: behind comments.
_CHANGES = re.compile(
    r"(?:\s|--[^\n]*(?:\n|$)|/\*.*?\*/)*"
    r"(alter|attach|copy|create|delete|drop|insert|merge|set|truncate|update)\b",
    re.IGNORECASE | re.DOTALL,
)


def asked(query: str) -> Callable[[pl.LazyFrame], pl.LazyFrame]:
    """Make an analysis of a query.

    Parameters
    ----------
    query
        One statement that gives a table.

    Raises
    ------
    CommandError
        It changes something instead.

    Examples
    --------
    >>> import tracefast as tf
    >>> asked("SELECT path, read_bytes FROM files WHERE reads > 0")(
    ...     tf.scan("demo.strace")
    ... ).collect().rows()
    [('/srv/demo/data.bin', 4096)]
    """
    if match := _CHANGES.match(query):
        raise no_question(match[1].upper())

    def answer(events: pl.LazyFrame) -> pl.LazyFrame:
        tables = {EVENTS: events} | named(query, events)
        try:
            try:
                plan = _plan(query, tables)
            except (pl.exceptions.InvalidOperationError, pl.exceptions.SchemaError):
                # Words of closed lists are not text to polars: filters on them reach the parser,
                # but some functions, such as LIKE, do not take them.
                words = cs.categorical().cast(pl.String)
                texts = {name: table.with_columns(words) for name, table in tables.items()}
                plan = _plan(query, texts)
            return plan.collect(engine="streaming").lazy()
        except pl.exceptions.PolarsError as error:
            raise _refused(error) from error

    return answer


def _plan(query: str, tables: dict[str, pl.LazyFrame]) -> pl.LazyFrame:
    with pl.SQLContext(tables) as context:
        plan: pl.LazyFrame = context.execute(query)
    plan.collect_schema()
    return plan


def _refused(error: pl.exceptions.PolarsError) -> CommandError:
    text = str(error).partition("\n")[0]
    if match := re.match(r"relation '(.*)' was not found", text):
        return CommandError(f"SQL: no such table: {match[1]}", resembling(match[1], TABLES))
    if match := re.match(r'unable to find column "(.*?)"; valid columns: \[(.*)\]', text):
        known = re.findall(r'"(.*?)"', match[2])
        return CommandError(f"SQL: no such column: {match[1]}", suggest_column(match[1], known))
    describes = re.search(r"^\s*(ExplainTable|ShowColumns)\b", str(error), re.MULTILINE)
    return CommandError(f"SQL: {text.rstrip(': ')}", _DESCRIBES if describes else _HINT)
