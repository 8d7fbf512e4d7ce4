"""Translate filters of polars into predicates of the parser.

polars passes each part of a conjunction as an expression. Its JSON is walked node by node, and a
node that is not known here in exactly this form is not pushed down. polars applies all filters to
the rows that it gets, so a filter that is not pushed down costs time but never changes the result.
A predicate that is pushed down must not drop a row that polars would keep. Therefore only what
means exactly the same in both is pushed down.
"""

import io
import json
from collections.abc import Callable, Iterable
from functools import cache
from typing import TYPE_CHECKING, Any

import polars as pl

from tracefast import _core

if TYPE_CHECKING:
    from polars.io.external_reader import FilterExpr

# A predicate as `_core.Reader` takes it: a tuple that begins with a word.
Predicate = tuple[Any, ...]
_Node = dict[str, Any] | str

# The smallest and largest integers that columns hold.
_RANGES: dict[pl.DataType, tuple[int, int]] = {
    pl.Datetime("ns"): (-(2**63), 2**63 - 1),
    pl.Int64(): (-(2**63), 2**63 - 1),
    pl.Int32(): (-(2**31), 2**31 - 1),
    pl.UInt64(): (0, 2**64 - 1),
    pl.UInt32(): (0, 2**32 - 1),
    pl.UInt16(): (0, 2**16 - 1),
}
# Types that they can be cast to without changing their values.
_WIDE = {
    "Int32": _RANGES[pl.Int32()],
    "Int64": _RANGES[pl.Int64()],
    "Int128": (-(2**127), 2**127 - 1),
    "UInt32": _RANGES[pl.UInt32()],
    "UInt64": _RANGES[pl.UInt64()],
}
_INTEGERS = frozenset({"Int8", "Int16", "UInt8", "UInt16", *_WIDE})
# The same comparison with its sides swapped.
_TURNED = {"Eq": "Eq", "NotEq": "NotEq", "Lt": "Gt", "LtEq": "GtEq", "Gt": "Lt", "GtEq": "LtEq"}
# Larger than any value of a column.
_BEYOND = 2**64
_TRUE: Predicate = ("all", [])
_FALSE: Predicate = ("any", [])


class _NotPushedError(Exception):
    """A filter, or a part of one, cannot be pushed down."""


def predicate(filters: "Iterable[FilterExpr]") -> Predicate | None:
    """Translate the parts of filters that the parser can apply.

    Parameters
    ----------
    filters
        Filters of a scan; a row must pass all of them.

    Returns
    -------
    tuple or None
        A predicate for ``_core.Reader``. It keeps every row that the filters keep, and perhaps
        others. None if nothing can be pushed down.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> predicate([SimpleNamespace(expr=pl.col("path").str.starts_with("/etc/"))])
    ('starts_with', 'path', '/etc/')
    >>> predicate([SimpleNamespace(expr=pl.col("ret") * 2 > pl.col("fd"))]) is None
    True
    """
    known = [found for one in filters for found in _conjuncts(_tree(one.expr))]
    if not known:
        return None
    return known[0] if len(known) == 1 else ("all", known)


def _tree(expr: pl.Expr) -> _Node:
    """Give an expression as JSON; Python functions and others that have none are unknown nodes."""
    try:
        tree: _Node = json.loads(expr.meta.serialize(format="json"))
    except (pl.exceptions.PolarsError, ValueError):
        return "unknown"
    return tree


def _conjuncts(node: _Node) -> list[Predicate]:
    """Translate the parts of a conjunction that can be translated; each of them is valid alone."""
    match node:
        case {"BinaryExpr": {"left": left, "op": "And" | "LogicalAnd", "right": right}}:
            return _conjuncts(left) + _conjuncts(right)
    try:
        return [_truth(node)]
    except _NotPushedError:
        return []


def _truth(node: _Node) -> Predicate:  # noqa: PLR0911 - one for each kind of node
    """Translate an expression of type Boolean, exactly."""
    match node:
        case {"BinaryExpr": {"left": left, "op": "And" | "LogicalAnd", "right": right}}:
            return ("all", [_truth(left), _truth(right)])
        case {"BinaryExpr": {"left": left, "op": "Or" | "LogicalOr", "right": right}}:
            return ("any", [_truth(left), _truth(right)])
        case {"BinaryExpr": {"left": left, "op": str(op), "right": right}}:
            return _comparison(left, op, right)
        case {"Function": {"input": list(inputs), "function": function}}:
            return _function(inputs, function)
        case {"Literal": {"Scalar": {"Boolean": bool(value)}}}:
            return _TRUE if value else _FALSE
        case {"Alias": [inner, _]}:
            return _truth(inner)
        # What polars makes of a comparison with a number that the column's type does not have.
        case {
            "Ternary": {
                "predicate": {
                    "Function": {
                        "input": [{"Column": str(name)}],
                        "function": {"Boolean": "IsNotNull"},
                    }
                },
                "truthy": {"Literal": {"Scalar": {"Boolean": bool(value)}}},
                "falsy": {"Literal": {"Scalar": {"Null": "Boolean"}}},
            }
        } if _dtype(name) in _RANGES:
            return ("between", name, None, None) if value else ("between", name, 1, 0)
    raise _NotPushedError


def _function(inputs: list[_Node], function: object) -> Predicate:
    match inputs, function:
        case [inner], {"Boolean": "Not"}:
            return ("not", _truth(inner))
        case [{"Column": str(name)}], {"Boolean": "IsNull"}:
            return ("null", _known(name))
        case [{"Column": str(name)}], {"Boolean": "IsNotNull"}:
            return ("not", ("null", _known(name)))
        case [column, low, high], {"Boolean": {"IsBetween": {"closed": str(closed)}}}:
            lower = "GtEq" if closed in {"Both", "Left"} else "Gt"
            upper = "LtEq" if closed in {"Both", "Right"} else "Lt"
            if closed not in {"Both", "Left", "Right", "None"}:
                raise _NotPushedError
            return ("all", [_comparison(column, lower, low), _comparison(column, upper, high)])
        case [column, among], {"Boolean": {"IsIn": {"nulls_equal": bool(nulls_equal)}}}:
            return _is_in(column, among, nulls_equal=nulls_equal)
    return _text_test(inputs, function)


def _text_test(inputs: list[_Node], function: object) -> Predicate:
    match inputs, function:
        case [column, {"Literal": {"Scalar": {"String": str(text)}}}], {"StringExpr": test}:
            match test:
                case "StartsWith":
                    return ("starts_with", _text(column), text)
                case "EndsWith":
                    return ("ends_with", _text(column), text)
                case {"Contains": {"literal": True}}:
                    return ("contains", _text(column), text)
        case [column], {"Categorical": {"StartsWith": str(text)}}:
            return ("starts_with", _text(column), text)
        case [column], {"Categorical": {"EndsWith": str(text)}}:
            return ("ends_with", _text(column), text)
    raise _NotPushedError


def _comparison(left: _Node, op: str, right: _Node) -> Predicate:
    if _literal(left) is not None:
        if op not in _TURNED:
            raise _NotPushedError
        left, op, right = right, _TURNED[op], left
    match op:
        case "NotEq":
            return ("not", _comparison(left, "Eq", right))
        case "EqValidity":
            # As `==`, but of a null it is known that it is not equal to a value.
            return ("all", [("not", ("null", _column(left))), _comparison(left, "Eq", right)])
        case "NotEqValidity":
            return ("not", _comparison(left, "EqValidity", right))
    match _literal(right):
        case {"String": str(text)} | {
            "Categorical": {"value": str(text), "name": "", "namespace": ""}
        }:
            if op != "Eq":
                raise _NotPushedError
            return ("in", _text(left), [text])
    return _in_order(op, *_bounds(left, right))


def _in_order(op: str, name: str, not_below: int, above: int) -> Predicate:
    """Translate a comparison with a value that is at `not_below` or just before it."""
    ranges: dict[str, tuple[int | None, int | None]] = {
        "Eq": (not_below, above - 1),
        "Lt": (None, not_below - 1),
        "LtEq": (None, above - 1),
        "Gt": (above, None),
        "GtEq": (not_below, None),
    }
    if op not in ranges:
        raise _NotPushedError
    low, high = ranges[op]
    return ("between", name, _held(low), _held(high))


def _held(bound: int | None) -> int | None:
    """Give a bound as a number that the parser takes: beyond all columns, all are the same."""
    return None if bound is None else min(max(bound, -_BEYOND), _BEYOND)


def _bounds(left: _Node, right: _Node) -> tuple[str, int, int]:
    """Translate a column of numbers and a value that it is compared with.

    Returns
    -------
    tuple of str, int, int
        The column, the least number that is not below the value, the least that is above it.
    """
    name, cast = _number(left)
    times = _dtype(name) == pl.Datetime("ns") and cast is None
    match _literal(right):
        case {"Datetime": [int(value), "Nanoseconds", None]} if times:
            return name, value, value + 1
        case {"Float64": float(value)} if cast == "Float64":
            # polars compares the nearest floating-point numbers, which are in the same order.
            return (
                name,
                _first(name, lambda number: float(number) >= value),
                _first(name, lambda number: float(number) > value),
            )
        case dict(literal) if not times and cast != "Float64":
            for kind, value in literal.items():
                if kind in _INTEGERS and type(value) is int:
                    return name, value, value + 1
    raise _NotPushedError


def _first(name: str, holds: Callable[[int], bool]) -> int:
    """Find the first number of a column's type for which something holds that holds ever after."""
    low, high = _RANGES[_dtype(name)]
    high += 1
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low


def _is_in(column: _Node, among: _Node, *, nulls_equal: bool) -> Predicate:
    values = _values(among)
    has_null = values.null_count() > 0
    values = values.drop_nulls()
    found: Predicate
    if isinstance(values.dtype, pl.String | pl.Categorical | pl.Enum):
        name = _text(column)
        found = ("in", name, values.cast(pl.String).to_list())
    else:
        name, cast = _number(column)
        times = _dtype(name) == pl.Datetime("ns") and cast is None
        if values.dtype != pl.Datetime("ns") if times else not values.dtype.is_integer():
            raise _NotPushedError
        if cast == "Float64":
            raise _NotPushedError
        numbers = values.to_physical().to_list()
        found = ("among", name, [number for number in numbers if abs(number) < _BEYOND])
    if not nulls_equal:
        return found
    if has_null:
        return ("any", [("null", name), found])
    return ("all", [("not", ("null", name)), found])


def _values(among: _Node) -> pl.Series:
    """Give the values of a literal list."""
    match among:
        case {"Alias": [inner, _]}:
            return _values(inner)
        case {"Literal": {"Scalar": {"List": list(data)}} | {"Series": list(data)}}:
            values = pl.read_ipc_stream(io.BytesIO(bytes(data))).to_series()
            if values.dtype == pl.List:
                if values.len() != 1:
                    raise _NotPushedError
                values = values.explode(empty_as_null=False)
            return values
    raise _NotPushedError


def _literal(node: _Node) -> dict[str, Any] | None:
    match node:
        case {"Literal": {"Scalar": dict(literal)}}:
            return literal
    return None


def _number(node: _Node) -> tuple[str, str | None]:
    """Give the name of a column of numbers, and what it is cast to, if that loses nothing."""
    cast: str | None = None
    match node:
        case {"Cast": {"expr": inner, "dtype": {"Literal": str(cast)}}}:
            node = inner
    match node:
        case {"Column": str(name)} if _dtype(name) in _RANGES:
            low, high = _RANGES[_dtype(name)]
            if cast is None or (cast == "Float64" and _dtype(name) != pl.Datetime("ns")):
                return name, cast
            if cast in _WIDE and _WIDE[cast][0] <= low and high <= _WIDE[cast][1]:
                return name, cast
    raise _NotPushedError


def _text(node: _Node) -> str:
    """Give the name of a column of texts, which may be cast to strings."""
    match node:
        case {"Cast": {"expr": inner, "dtype": {"Literal": "String"}}}:
            node = inner
    match node:
        case {"Column": str(name)} if isinstance(_dtype(name), pl.String | pl.Categorical):
            return name
    raise _NotPushedError


def _column(node: _Node) -> str:
    """Give the name of a column, cast or not."""
    match node:
        case {"Cast": {"expr": {"Column": str(name)}}} | {"Column": str(name)}:
            return _known(name)
    raise _NotPushedError


def _known(name: str) -> str:
    _dtype(name)
    return name


def _dtype(name: str) -> pl.DataType:
    """Give the type of a column; what the scan does not read has none."""
    dtype = _schema().get(name)
    if dtype is None:
        raise _NotPushedError
    return dtype


@cache
def _schema() -> pl.Schema:
    return pl.Schema(_core.schema())
