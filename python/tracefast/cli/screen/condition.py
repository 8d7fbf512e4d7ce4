"""`--where`: a condition in polars' SQL on the rows of a table."""

import re
from decimal import Decimal

import polars as pl
import polars.selectors as cs

from tracefast.cli.messages.errors import CommandError
from tracefast.cli.messages.hints import suggest
from tracefast.cli.text.units import parse_size

_NS = {"s": 10**9, "ms": 10**6, "us": 10**3, "µs": 10**3, "ns": 1}
_QUANTITY = re.compile(
    r"(?<![\w.'])([0-9]+(?:\.[0-9]+)?) ?(s|ms|us|µs|ns|[KMGT](?:iB|B)?)(?![\w'])",
    re.ASCII | re.IGNORECASE,
)
# No column of a table has this name.
_RESULT = "\0true"


def evaluate_condition(frame: pl.DataFrame, condition: str) -> pl.Series:
    """Evaluate a condition for each row.

    Parameters
    ----------
    frame
        The table.
    condition
        What would follow WHERE.

    Raises
    ------
    CommandError
        It is not valid, or names other columns; the hint names what resembles them.

    Examples
    --------
    >>> frame = pl.DataFrame({"path": ["/a.pth", "/b.txt", None], "reads": [1, 0, 3]})
    >>> evaluate_condition(frame, "path LIKE '%.pth' OR reads > 2").to_list()
    [True, False, True]
    """
    what = f"--where {condition}"
    try:
        expression = pl.sql_expr(condition)
    except pl.exceptions.PolarsError as error:
        raise CommandError(f"{what}: {_first_line(error)}", _hint(condition, frame)) from error
    # SQL takes a word after the condition for an alias.
    if not expression.meta.eq(expression.meta.undo_aliases()):
        name = expression.meta.output_name()
        raise CommandError(f"{what}: unexpected '{name}' at its end", _hint(condition, frame))
    for name in expression.meta.root_names():
        if name not in frame.columns:
            hint = suggest(name, frame.columns)
            if f'"{name}"' in condition:
                hint = f"put text in single quotes: '{name}'"
            raise CommandError(f"{what}: no such column: {name}", hint)
    texts = frame.lazy().with_columns((cs.categorical() | cs.enum()).cast(pl.String))
    try:
        # A constant becomes as long as the other columns.
        values = texts.with_columns(expression.alias(_RESULT)).collect()[_RESULT]
    except pl.exceptions.PolarsError as error:
        text = _first_line(error)
        hint = (
            "write times as TIMESTAMP '2026-01-31 14:05:30'"
            if "date" in text
            else _hint(condition, frame)
        )
        raise CommandError(f"{what}: {text}", hint) from error
    if values.dtype not in {pl.Boolean, pl.Null}:
        raise CommandError(
            f"{what}: the result is {values.dtype}, not true or false", _hint(condition, frame)
        )
    return values.cast(pl.Boolean)


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
