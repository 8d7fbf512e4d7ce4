"""Escape whole columns of text: fast, as most need no escapes."""

import json
import re
from collections.abc import Callable
from typing import Final

import polars as pl
import polars.selectors as cs

from tracefast.cli.text.escaping import FORMULA, SUSPECT, printable, spreadsheet_cell

# In the syntax of polars' engine.
_SUSPECT: Final = re.sub(r"\\[uU]([0-9a-f]{4,8})", r"\\x{\1}", SUSPECT)


def as_text(frame: pl.DataFrame) -> pl.DataFrame:
    """Write what is not a number, a time or text as text: lists as JSON.

    Examples
    --------
    >>> as_text(pl.DataFrame({"images": [["/bin/sh", "/bin/true"], None]})).rows()
    [('["/bin/sh", "/bin/true"]',), (None,)]
    """
    return frame.with_columns(
        cs.categorical().cast(pl.String),
        cs.enum().cast(pl.String),
        cs.duration().dt.to_string("iso"),
        *(_text(frame[name]) for name in frame.select(cs.nested()).columns),
    ).pipe(without_bytes)


def without_bytes(frame: pl.DataFrame) -> pl.DataFrame:
    r"""Write bytes as text, as in the columns of events: what is not UTF-8 as ``\xNN``.

    Examples
    --------
    >>> without_bytes(pl.DataFrame({"b": [b"a\xff"]})).rows()
    [('a\\xff',)]
    """
    return frame.with_columns(
        pl.Series(name, [None if value is None else _shown(value) for value in column], pl.String)
        for name, column in frame.select(cs.binary()).to_dict().items()
    )


def _shown(value: bytes) -> str:
    return value.decode(errors="backslashreplace")


def _text(values: pl.Series) -> pl.Series:
    def write(value: object) -> str:
        if isinstance(value, pl.Series):
            value = value.to_list()
        return json.dumps(value, ensure_ascii=False, default=str)

    return pl.Series(
        values.name, [None if value is None else write(value) for value in values], dtype=pl.String
    )


def printable_column(values: pl.Series) -> pl.Series:
    """Write a column of text as :func:`tracefast.cli.text.escaping.printable` does.

    Examples
    --------
    >>> printable_column(pl.Series(["a", "b\\tc", None])).to_list()
    ['a', 'b\\\\tc', None]
    """
    return _mapped(values, _SUSPECT, printable)


def spreadsheet_column(values: pl.Series) -> pl.Series:
    """Write a column of text as :func:`tracefast.cli.text.escaping.spreadsheet_cell` does.

    Examples
    --------
    >>> spreadsheet_column(pl.Series(["=1+1", "-x", "a=b", None])).to_list()
    ["'=1+1", "'-x", 'a=b', None]
    """
    return _mapped(values, f"{_SUSPECT}|{FORMULA}", spreadsheet_cell)


def _mapped(values: pl.Series, pattern: str, write: Callable[[str], str]) -> pl.Series:
    hits = values.str.contains(pattern)
    if not hits.any():
        return values
    at = hits.arg_true()
    changed = pl.Series([write(text) for text in values.gather(at)], dtype=pl.String)
    return values.scatter(at, changed)
