"""Rules that logs are checked by: what a file of them says, and what is wrong with it."""

import math
import os
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import polars as pl

import tracefast
from tracefast import _core
from tracefast.analysis.conditions import evaluate_condition, evaluate_value
from tracefast.columns.tables import TABLES
from tracefast.error_hints import error_with_hint, suggest
from tracefast.inputs.sources import Source

LimitKind = Literal["max", "min"]
Given = Mapping[str, object]
Rules = Source | Given | Iterable[Given]

BASELINE: Final = "baseline"
ROWS: Final = "rows"
_KEYS: Final = (
    *("name", "table", "where", "max_rows", "value", "max", "min"),
    *("baseline", "tolerance"),
)
# They need more than events, or are made of rules.
_BY_TIME: Final = ("files_by_time", "syscalls_by_time", "blocks_by_time")
_GROUPED: Final = ("blocks_by_file", "shared_reads_by_folder", *_BY_TIME, "darshan")
_NOT_CHECKED: Final = ("accesses", *_GROUPED, "diff", "check")
_FUNCTIONS: Final = {"event_counts": "events"}
CHECKED: Final = tuple(name for name in TABLES if name not in _NOT_CHECKED)


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One rule: what may not exceed, or fall below, which limit.

    Attributes
    ----------
    name
        Its name.
    table
        The table that it judges.
    where
        An SQL condition: only these rows count. None for all.
    value
        An SQL expression; None for the number of rows.
    limits
        The limits, by whether the value may be at most or at least so much; None for what the
        baseline gives.
    baseline
        The log, or Parquet file, that has the value to compare with.
    tolerance
        How far the value may be from the baseline: a part of it, or a number.
    relative
        Whether `tolerance` is a part of the baseline.
    place
        The file and the name of the rule, for messages.
    """

    name: str
    table: str
    where: str | None
    value: str | None
    limits: tuple[tuple[LimitKind, float | None], ...]
    baseline: str | None
    tolerance: float
    relative: bool
    place: str

    @property
    def measured(self) -> str:
        """What is limited."""
        return self.value or ROWS


def table_function(name: str) -> Callable[[pl.LazyFrame], pl.LazyFrame]:
    """Give the function that makes a table of events.

    Examples
    --------
    >>> table_function("files").__name__, table_function("event_counts").__name__
    ('files', 'events')
    """
    function: Callable[[pl.LazyFrame], pl.LazyFrame] = getattr(
        tracefast, _FUNCTIONS.get(name, name)
    )
    return function


def read_rules(file: Source) -> list[Rule]:
    """Read a file of rules.

    Parameters
    ----------
    file
        A TOML file with tables ``[[rule]]``.

    Raises
    ------
    tracefast.Error
        It is not TOML, or a rule is not valid; the message names the file, the rule and the key.
    OSError
        It cannot be read.
    """
    file = os.fspath(file)
    try:
        content = tomllib.loads(Path(file).read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise error_with_hint(
            f"{file}: not TOML: {error}", "to write a first file of rules: tracefast check --init"
        ) from error
    return rules_of(content, file, Path(file).parent)


def rules_of(
    given: Given | Iterable[Given],
    place: str = "rules",
    folder: Path | None = None,
) -> list[Rule]:
    """Check rules, and give them as what they mean.

    Parameters
    ----------
    given
        The content of a file of rules, or the rules themselves.
    place
        The name of the file, for messages.
    folder
        The folder that names of baselines are relative to.

    Raises
    ------
    tracefast.Error
        A rule is not valid.

    Examples
    --------
    >>> (rule,) = rules_of([{"name": "few-opens", "table": "files", "max_rows": 10}])
    >>> rule.measured, rule.limits
    ('rows', (('max', 10.0),))
    """
    if isinstance(given, Mapping):
        if unknown := [key for key in given if key != "rule"]:
            raise error_with_hint(
                f"{place}: {unknown[0]}: no such key", "each rule is a table [[rule]]"
            )
        given = _tables(given.get("rule"), place)
    found: list[Rule] = []
    for number, rule in enumerate(given, 1):
        found.append(_rule(rule, number, place, folder))
        if found[-1].name in {one.name for one in found[:-1]}:
            raise error_with_hint(
                f"{found[-1].place}: name: a second rule of this name", "give each its own"
            )
    if not found:
        raise error_with_hint(f"{place}: no rule", "each rule is a table [[rule]]")
    return found


def _tables(rules: object, place: str) -> list[Given]:
    if rules is None:
        return []
    if not (isinstance(rules, list) and all(isinstance(one, Mapping) for one in rules)):
        raise error_with_hint(f"{place}: rule: not a list of tables", "write [[rule]]")
    return rules


def _rule(given: Given, number: int, place: str, folder: Path | None) -> Rule:
    name = given.get("name")
    at = f"{place}: rule {number}"
    if not (isinstance(name, str) and name):
        raise error_with_hint(f"{at}: name: missing", 'give it a name: name = "few-opens"')
    at = f"{place}: rule {name!r}"
    for key in given:
        if key not in _KEYS:
            raise error_with_hint(f"{at}: {key}: no such key", suggest(key, _KEYS))
    table = _text(given, "table", at)
    if table is None:
        raise error_with_hint(f"{at}: table: missing", f"one of: {', '.join(CHECKED)}")
    if table not in CHECKED:
        raise error_with_hint(f"{at}: table {table}: no such table", suggest(table, CHECKED))
    where, value = _text(given, "where", at), _text(given, "value", at)
    baseline = _text(given, "baseline", at)
    tolerance, relative = _tolerance(given.get("tolerance"), at)
    if "tolerance" in given and baseline is None:
        raise error_with_hint(f"{at}: tolerance: there is no baseline", "add one, or leave it out")
    rule = Rule(
        name=name,
        table=table,
        where=where,
        value=value,
        limits=_limits(given, at, value, baseline),
        baseline=None if baseline is None else str((folder or Path()) / baseline),
        tolerance=tolerance,
        relative=relative,
        place=at,
    )
    _try(rule)
    return rule


def _text(given: Given, key: str, at: str) -> str | None:
    value = given.get(key)
    if value is not None and not (isinstance(value, str) and value.strip()):
        raise error_with_hint(f"{at}: {key}: not text", f'put it in quotes: {key} = "…"')
    return value


def _limits(
    given: Given, at: str, value: str | None, baseline: str | None
) -> tuple[tuple[LimitKind, float | None], ...]:
    """Give the limits of a rule; with a baseline and no other, the value may not grow."""
    if value is None:
        for key in ("max", "min"):
            if key in given:
                raise error_with_hint(
                    f"{at}: {key}: there is no value", 'add one, such as value = "sum(calls)"'
                )
        if "max_rows" not in given and baseline is None:
            raise error_with_hint(
                f"{at}: no limit", "add max_rows, or value with max or min, or a baseline"
            )
        return (("max", _limit(given.get("max_rows", BASELINE), "max_rows", at, baseline)),)
    if "max_rows" in given:
        raise error_with_hint(f"{at}: max_rows: there is a value, too", "leave out one of them")
    kinds: tuple[LimitKind, ...] = ("max", "min")
    limits = tuple(
        (kind, _limit(given[kind], kind, at, baseline)) for kind in kinds if kind in given
    )
    if not limits and baseline is None:
        raise error_with_hint(f"{at}: no limit", "add max or min, or a baseline")
    return limits or (("max", None),)


def _limit(limit: object, key: str, at: str, baseline: str | None) -> float | None:
    if limit == BASELINE and baseline is not None:
        return None
    if isinstance(limit, bool) or not isinstance(limit, int | float):
        raise error_with_hint(
            f"{at}: {key}: not a number", 'give a number, or "baseline" where the rule has one'
        )
    if key == "max_rows" and (limit < 0 or not float(limit).is_integer()):
        raise error_with_hint(
            f"{at}: {key}: not a number of rows: {limit}", "give a whole number of at least 0"
        )
    if not math.isfinite(limit):
        raise error_with_hint(f"{at}: {key}: no limit: {limit}", "give a finite number")
    return float(limit)


def _tolerance(given: object, at: str) -> tuple[float, bool]:
    """Read a tolerance: ``"10 %"``, or a number in the unit of the value."""
    if given is None:
        return 0.0, True
    try:
        if isinstance(given, str) and given.rstrip().endswith("%"):
            part = float(given.rstrip().removesuffix("%"))
            if 0 <= part < math.inf:
                return part / 100, True
        elif (
            isinstance(given, int | float) and not isinstance(given, bool) and 0 <= given < math.inf
        ):
            return float(given), False
    except ValueError:
        pass
    raise error_with_hint(
        f"{at}: tolerance {given}: not a tolerance", 'write "10 %", or a number of at least 0'
    )


def _try(rule: Rule) -> None:
    """Evaluate the SQL of a rule on an empty table: errors are found before any log is read.

    Raises
    ------
    tracefast.Error
        It is not valid.
    """
    nothing = pl.LazyFrame(schema=pl.Schema(_core.schema()))
    frame = table_function(rule.table)(nothing).collect_schema().to_frame()
    if rule.where is not None:
        evaluate_condition(frame, rule.where, option=f"{rule.place}: where")
    if rule.value is not None:
        evaluate_value(frame, rule.value, option=f"{rule.place}: value")


def rule_that(text: str) -> Rule:
    """Make a rule of a table and a condition that no row of it may fulfil.

    Parameters
    ----------
    text
        ``TABLE: CONDITION``.

    Raises
    ------
    tracefast.Error
        It is not valid.

    Examples
    --------
    >>> rule = rule_that("files: opens_failed > 10")
    >>> rule.table, rule.where, rule.limits
    ('files', 'opens_failed > 10', (('max', 0.0),))
    """
    table, colon, where = text.partition(":")
    if not (colon and where.strip()):
        raise error_with_hint(
            f"--that {text}: not a table and a condition",
            "write TABLE: CONDITION, such as \"files: path LIKE '%.pth' AND reads > 100\"",
        )
    rule = {"name": text, "table": table.strip(), "where": where.strip(), "max_rows": 0}
    return _rule(rule, 1, "--that", None)


def as_rules(rules: Rules) -> list[Rule]:
    """Take rules as a file, as the content of one, or one by one.

    Raises
    ------
    tracefast.Error
        A rule is not valid.
    """
    return read_rules(rules) if isinstance(rules, str | os.PathLike) else rules_of(rules)
