"""`--where`: a condition of SQL on the rows of a table, as polars understands it."""

import polars as pl
import polars.selectors as cs

from tracefast.cli.errors import CommandError, resembling

_EXAMPLE = "a condition of SQL on the columns, such as: bytes > 1000000 AND name LIKE 'read%'"
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
        raise CommandError(f"{what}: {_first_line(error)}", _EXAMPLE) from error
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
            "times are written as: TIMESTAMP '2026-01-31 14:05:30'" if "date" in text else _EXAMPLE
        )
        raise CommandError(f"{what}: {text}", hint) from error
    if values.dtype not in {pl.Boolean, pl.Null}:
        raise CommandError(f"{what}: this is neither true nor false, but {values.dtype}", _EXAMPLE)
    return values.cast(pl.Boolean)


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0].strip()
