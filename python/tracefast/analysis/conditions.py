"""Conditions and values in polars' SQL on the rows of a table."""

import re
from collections.abc import Callable
from decimal import Decimal

import polars as pl
import polars.selectors as cs

from tracefast.error_hints import error_with_hint, suggest
from tracefast.quantities import parse_size

_NS = {"s": 10**9, "ms": 10**6, "us": 10**3, "µs": 10**3, "ns": 1}
_QUANTITY = re.compile(
    r"(?<![\w.'])([0-9]+(?:\.[0-9]+)?) ?(s|ms|us|µs|ns|[KMGT](?:iB|B)?)(?![\w'])",
    re.ASCII | re.IGNORECASE,
)
# No column of a table has this name.
_RESULT = "\0result"


def evaluate_condition(
    frame: pl.DataFrame, condition: str, *, option: str = "--where"
) -> pl.Series:
    """Evaluate a condition for each row.

    Parameters
    ----------
    frame
        The table.
    condition
        What would follow WHERE.
    option
        What the condition was given as, for messages.

    Raises
    ------
    tracefast.Error
        It is not valid, or names other columns; the hint names what resembles them.

    Examples
    --------
    >>> frame = pl.DataFrame({"path": ["/a.pth", "/b.txt", None], "reads": [1, 0, 3]})
    >>> evaluate_condition(frame, "path LIKE '%.pth' OR reads > 2").to_list()
    [True, False, True]
    """
    what = f"{option} {condition}"
    # A constant becomes as long as the other columns.
    values = _run(frame, condition, what, lambda texts, result: texts.with_columns(result))
    if values.dtype not in {pl.Boolean, pl.Null}:
        raise error_with_hint(
            f"{what}: the result is {values.dtype}, not true or false", _hint(condition, frame)
        )
    return values.cast(pl.Boolean)


def evaluate_value(frame: pl.DataFrame, expression: str, *, option: str = "value") -> pl.Series:
    """Evaluate an expression whose result are numbers: one for all rows, or one for each row.

    Parameters
    ----------
    frame
        The table.
    expression
        What would follow SELECT.
    option
        What the expression was given as, for messages.

    Raises
    ------
    tracefast.Error
        It is not valid, names other columns, or its result is not a number.

    Examples
    --------
    >>> frame = pl.DataFrame({"path": ["/a.pth", "/b.txt"], "read_bytes": [10, 30]})
    >>> evaluate_value(frame, "sum(read_bytes) / 1024").to_list()
    [0.0390625]
    >>> evaluate_value(frame, "count(*)").to_list(), evaluate_value(frame, "read_bytes").to_list()
    ([2], [10, 30])
    """
    what = f"{option} {expression}"
    values = _run(frame, expression, what, lambda texts, result: texts.select(result))
    if not (values.dtype.is_numeric() or values.dtype == pl.Null):
        raise error_with_hint(
            f"{what}: the result is {values.dtype}, not a number",
            "give an SQL expression whose result is a number, such as sum(COLUMN) or count(*)",
        )
    return values


def _run(
    frame: pl.DataFrame,
    text: str,
    what: str,
    query: Callable[[pl.LazyFrame, pl.Expr], pl.LazyFrame],
) -> pl.Series:
    """Evaluate an expression in SQL on a table."""
    try:
        expression = pl.sql_expr(text)
    except pl.exceptions.PolarsError as error:
        raise error_with_hint(f"{what}: {_first_line(error)}", _hint(text, frame)) from error
    # SQL takes a word after the condition for an alias.
    if not expression.meta.eq(expression.meta.undo_aliases()):
        name = expression.meta.output_name()
        raise error_with_hint(f"{what}: unexpected '{name}' at its end", _hint(text, frame))
    for name in expression.meta.root_names():
        if name not in frame.columns:
            hint = suggest(name, frame.columns)
            if f'"{name}"' in text:
                hint = f"put text in single quotes: '{name}'"
            raise error_with_hint(f"{what}: no such column: {name}", hint)
    texts = frame.lazy().with_columns((cs.categorical() | cs.enum()).cast(pl.String))
    try:
        return query(texts, expression.alias(_RESULT)).collect()[_RESULT]
    except pl.exceptions.PolarsError as error:
        first = _first_line(error)
        hint = (
            "write times as TIMESTAMP '2026-01-31 14:05:30'"
            if "date" in first
            else _hint(text, frame)
        )
        raise error_with_hint(f"{what}: {first}", hint) from error


def _hint(condition: str, frame: pl.DataFrame) -> str:
    """Give a number with a unit as a plain number, or else an example of a condition."""
    if match := _QUANTITY.search(condition):
        number, unit = match.groups()
        ns = _NS.get(unit.lower())
        try:
            whole = parse_size(match[0]) if ns is None else int(Decimal(number) * ns)
        except ValueError:
            whole = 0
        return (
            f"write {whole} instead of {match[0]}: times are in ns, sizes in bytes, without units"
        )
    numbers = frame.select(cs.numeric()).columns[-1:]
    texts = frame.select(cs.string() | cs.categorical() | cs.enum()).columns[-1:]
    examples = [*(f"{name} > 1000" for name in numbers), *(f"{name} LIKE '%x%'" for name in texts)]
    return f"give an SQL condition on the columns, such as: {' AND '.join(examples)}"


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0].strip()
