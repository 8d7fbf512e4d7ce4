"""`--where`: a condition of SQL on the rows of a table, as polars understands it."""

import re
from decimal import Decimal

import polars as pl
import polars.selectors as cs

from tracefast.cli.messages.errors import CommandError, resembling
from tracefast.cli.text.units import bytes_of

_NS = {"s": 10**9, "ms": 10**6, "us": 10**3, "µs": 10**3, "ns": 1}
_QUANTITY = re.compile(
    r"(?<![\w.'])([0-9]+(?:\.[0-9]+)?) ?(s|ms|us|µs|ns|[KMGT](?:iB|B)?)(?![\w'])",
    re.ASCII | re.IGNORECASE,
)
# No column of a log has this name.
_TRUE = "\0true"


def truth(frame: pl.DataFrame, condition: str) -> pl.Series:
    """Say for each row whether a condition is true of it.

    Parameters
    ----------
    frame
        The table.
    condition
        What stands behind WHERE.

    Raises
    ------
    CommandError
        It is no condition, or not about columns of this table; the hint names what resembles them.

    Examples
    --------
    >>> frame = pl.DataFrame({"path": ["/a.pth", "/b.txt", None], "reads": [1, 0, 3]})
    >>> truth(frame, "path LIKE '%.pth' OR reads > 2").to_list()
    [True, False, True]
    """
    what = f"--where {condition}"
    try:
        expression = pl.sql_expr(condition)
    except pl.exceptions.PolarsError as error:
        raise CommandError(f"{what}: {_first_line(error)}", _hint(condition, frame)) from error
    # SQL takes a word behind the end for a name of what stands there.
    if not expression.meta.eq(expression.meta.undo_aliases()):
        name = expression.meta.output_name()
        raise CommandError(f"{what}: unexpected '{name}' at its end", _hint(condition, frame))
    for name in expression.meta.root_names():
        if name not in frame.columns:
            hint = resembling(name, frame.columns)
            if f'"{name}"' in condition:
                hint = f"text stands in single quotes: '{name}'"
            raise CommandError(f"{what}: no such column: {name}", hint)
    words = frame.lazy().with_columns((cs.categorical() | cs.enum()).cast(pl.String))
    try:
        # Beside the other columns what is the same for all rows has as many.
        values = words.with_columns(expression.alias(_TRUE)).collect()[_TRUE]
    except pl.exceptions.PolarsError as error:
        text = _first_line(error)
        hint = (
            "times are written as: TIMESTAMP '2026-01-31 14:05:30'"
            if "date" in text
            else _hint(condition, frame)
        )
        raise CommandError(f"{what}: {text}", hint) from error
    if values.dtype not in {pl.Boolean, pl.Null}:
        raise CommandError(
            f"{what}: this is neither true nor false, but {values.dtype}", _hint(condition, frame)
        )
    return values.cast(pl.Boolean)


def _hint(condition: str, frame: pl.DataFrame) -> str:
    """Say what to do: what a number with a unit is without it, or what a condition looks like."""
    if match := _QUANTITY.search(condition):
        number, unit = match.groups()
        ns = _NS.get(unit.lower())
        try:
            whole = bytes_of(match[0]) if ns is None else int(Decimal(number) * ns)
        except ValueError:
            whole = 0
        return f"numbers have no units (times are ns, sizes bytes): {whole} instead of {match[0]}"
    numbers = frame.select(cs.numeric()).columns[-1:]
    texts = frame.select(cs.string() | cs.categorical() | cs.enum()).columns[-1:]
    examples = [*(f"{name} > 1000" for name in numbers), *(f"{name} LIKE '%x%'" for name in texts)]
    return f"a condition of SQL on the columns, such as: {' AND '.join(examples)}"


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0].strip()
