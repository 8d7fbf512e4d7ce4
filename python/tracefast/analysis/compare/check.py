"""Whether logs keep the limits of rules."""

from collections.abc import Iterable, Iterator
from statistics import median
from typing import Any, Final

import polars as pl

import tracefast
from tracefast._polars.declared_schema import declared_schema
from tracefast._polars.given_events import Events, rows_of
from tracefast._polars.map_rows import map_rows
from tracefast.analysis.compare.rules import (
    LimitKind,
    Rule,
    Rules,
    as_rules,
    table_function,
)
from tracefast.analysis.conditions import evaluate_condition, evaluate_value
from tracefast.analysis.durations import (
    FROM_EVENTS,
    LEAST_TIMED,
    OF_DURATIONS,
    timed_share,
)
from tracefast.error_hints import error_with_hint, hint_of
from tracefast.quantities import plural

SCHEMA: Final = declared_schema("check")
# What a row is about, in tables of any kind.
_ABOUT: Final = ("path", "object", "name", "image", "code", "worker_pid", "pid")
_LINES: Final = ("line", "first_line")
# The number of the rule, in a column that no table has.
_ORDER: Final = "\0order"
_FOUND: Final[dict[str, pl.DataType]] = {**SCHEMA, _ORDER: pl.UInt32()}
_MORE: Final = tuple(name for name in _FOUND if name != "source")


def check(rules: Rules, events: Events) -> pl.LazyFrame:
    """Judge logs by rules: one row for each rule and log.

    Parameters
    ----------
    rules
        A file of rules, or the rules as dictionaries. A rule has a ``name``, a ``table`` and a
        limit: ``max_rows``, or an SQL expression ``value`` with ``max`` or ``min``. With ``where``,
        only the rows count for which this SQL condition is true. With ``baseline``, the name of a
        log or Parquet file, the limit is the value of that file with the ``tolerance``
        (``"10 %"``, or a number) added; if several logs are in it, their median.
    events
        The events of one log, or of several.

    Returns
    -------
    polars.LazyFrame
        In the order of the logs and rules.

        `source` : String
            The log.
        `rule` : String
            The name of the rule.
        `table` : String
            The table that it judges.
        `measured` : String
            What is limited: ``rows``, or the expression of the rule.
        `value` : Float64
            Its value; null if the log cannot say, or no row counts.
        `limit_kind` : String
            ``max`` or ``min``: whether `value` may be at most or at least `limit`.
        `limit` : Float64
            The limit; of a rule with a baseline, with the tolerance added.
        `baseline` : Float64
            The value of the baseline; null if the rule has none.
        `passed` : Boolean
            Whether the log keeps the limit; null if it cannot be judged. Where no row counts,
            nothing is too large.
        `about` : String
            The first row that breaks the limit: its path, name, or program.
        `line` : UInt64
            The line of the log which that row is about, where it has one.
        `message` : String
            The numbers in words, or why it cannot be judged.

    Raises
    ------
    tracefast.Error
        A rule is not valid; the message names the file, the rule and the key. Or a baseline cannot
        be read.
    OSError
        The file of rules cannot be read.

    Examples
    --------
    >>> import tracefast as tf
    >>> rules = [
    ...     {"name": "few-calls", "table": "syscalls", "value": "sum(calls)", "max": 5},
    ...     {
    ...         "name": "no-large-reads",
    ...         "table": "files",
    ...         "where": "read_bytes > 1e9",
    ...         "max_rows": 0,
    ...     },
    ... ]
    >>> found = tf.check(rules, tf.scan("demo.strace")).collect()
    >>> found.select("rule", "passed", "message").rows()
    [('few-calls', False, 'sum(calls) is 6, limit 5'), ('no-large-reads', True, '0 rows, limit 0')]
    """
    given = as_rules(rules)
    return judged(given, events, baselines(given))


def judged(rules: Iterable[Rule], events: Events, base: dict[str, float | None]) -> pl.LazyFrame:
    """Judge logs by rules whose baselines are known.

    Parameters
    ----------
    rules
        The rules.
    events
        The events.
    base
        What :func:`baselines` gives.
    """
    known = list(enumerate(rules))
    rows = rows_of(events, ["source"], "tracefast.check")
    tables = {rule.table: table_function(rule.table)(rows) for _, rule in known}
    # Of the rows of logs themselves, `passed` is false for those that have too few durations.
    timed = timed_share(rows.collect_schema()) >= LEAST_TIMED
    logs = rows.group_by(pl.col("source").cast(pl.String)).agg(timed.first().alias("passed"))
    unset = (pl.lit(None, _FOUND[name]).alias(name) for name in _MORE if name != "passed")
    parts = [logs.with_columns(*unset).select("source", *_MORE)]
    for name, table in tables.items():
        of_table = [(at, rule) for at, rule in known if rule.table == name]
        parts.append(_judged(table, of_table, base))
    of_durations = pl.col(_ORDER).is_in(
        [at for at, rule in known if _uses_durations(rule, tables[rule.table].collect_schema())]
    )
    # A table has no row of a log in which there is no such thing: that is judged as well.
    nothing = {name: table.collect_schema().to_frame() for name, table in tables.items()}

    def complete(found: pl.DataFrame) -> pl.DataFrame:
        of_logs = found.filter(pl.col(_ORDER).is_null())
        judged_rows = found.filter(pl.col(_ORDER).is_not_null())
        there = set(judged_rows.select("source", _ORDER).iter_rows())
        missing = [
            {"source": source, _ORDER: at} | result
            for source in of_logs["source"]
            for at, rule in known
            if (source, at) not in there
            for result in _judge(rule, nothing[rule.table], base.get(rule.name))
        ]
        both = judged_rows.vstack(pl.DataFrame(missing, schema=_FOUND))
        untimed = of_logs.filter(~pl.col("passed"))["source"].to_list()
        both = both.with_columns(_unknown(pl.col("source").is_in(untimed) & of_durations))
        return both.sort("source", _ORDER, maintain_order=True).drop(_ORDER)

    # One after the other: each may take the memory of a whole table.
    return map_rows(pl.concat(parts, parallel=False), complete, dict(SCHEMA))


def _judged(
    table: pl.LazyFrame, rules: list[tuple[int, Rule]], base: dict[str, float | None]
) -> pl.LazyFrame:
    """Judge the logs that have rows in a table by the rules of this table."""

    def judge(rows: pl.DataFrame) -> pl.DataFrame:
        found = [
            {"source": source, _ORDER: at} | result
            for (source,), of_log in rows.partition_by("source", as_dict=True).items()
            for at, rule in rules
            for result in _judge(rule, of_log, base.get(rule.name))
        ]
        return pl.DataFrame(found, schema=_FOUND)

    return map_rows(table, judge, _FOUND)


def _judge(rule: Rule, rows: pl.DataFrame, base: float | None) -> Iterator[dict[str, Any]]:
    """Judge a log by a rule: one row for each limit."""
    unknown = _lacks_times(rule, rows)
    if rule.where is not None:
        rows = rows.filter(evaluate_condition(rows, rule.where, option=f"{rule.place}: where"))
    for kind, limit in rule.limits:
        value, worst = (None, None) if unknown else _value(rule, rows, kind)
        least = limit if limit is not None else _with_tolerance(rule, kind, base)
        passed = None
        if value is not None and least is not None:
            passed = value <= least if kind == "max" else value >= least
        elif kind == "max" and rows.is_empty() and not unknown:
            # Nothing is too large; whether something were large enough, nobody can say.
            passed = True
        broken = rows.slice(worst, 1) if passed is False and worst is not None else rows.clear()
        yield {
            "rule": rule.name,
            "table": rule.table,
            "measured": rule.measured,
            "value": value,
            "limit_kind": kind,
            "limit": least,
            "baseline": base if limit is None else None,
            "passed": passed,
            "about": _first(broken, _ABOUT),
            "line": _first(broken, _LINES),
            "message": f"{rule.measured}: no such row"
            if passed and value is None
            else _message(rule, value, kind, least, base if limit is None else None),
        }


def _unknown(where: pl.Expr) -> list[pl.Expr]:
    """Make results unknown where the log has the durations of too few calls to judge."""
    text = pl.lit("the log says of too few calls how long they took: record with strace -T")
    return [
        *(pl.when(~where).then(name).alias(name) for name in ("value", "passed", "about", "line")),
        pl.when(where).then(text).otherwise("message").alias("message"),
    ]


def _lacks_times(rule: Rule, rows: pl.DataFrame) -> bool:
    """Say whether a rule is about times, and the log has none, as one recorded without ``-T``.

    A condition on them is true for no row then, which does not mean that the limit is kept.
    """
    times = [name for name in rows.columns if name.endswith("_ns")]
    if rows.is_empty() or _used(rule).isdisjoint(times):
        return False
    return all(rows[name].null_count() == rows.height for name in times)


def _uses_durations(rule: Rule, columns: Iterable[str]) -> bool:
    """Say whether a rule is about what durations of calls add up to."""
    times = {name for name in columns if name.endswith("_ns")} - set(FROM_EVENTS)
    return rule.table in OF_DURATIONS and not _used(rule).isdisjoint(times)


def _used(rule: Rule) -> set[str]:
    """Name the columns that the condition and the value of a rule are about."""
    texts = (text for text in (rule.where, rule.value) if text is not None)
    return {name for text in texts for name in pl.sql_expr(text).meta.root_names()}


def _value(rule: Rule, rows: pl.DataFrame, kind: LimitKind) -> tuple[float | None, int | None]:
    """Give what is limited, and the row to name if it breaks the limit.

    Where the expression has a value for each row, it is that of the worst one.
    """
    first = None if rows.is_empty() else 0
    if rule.value is None:
        return float(rows.height), first
    values = evaluate_value(rows, rule.value, option=f"{rule.place}: value").cast(pl.Float64)
    if values.len() == rows.height:
        worst = values.arg_max() if kind == "max" else values.arg_min()
        return (None, None) if worst is None else (values[worst], worst)
    return (values.item() if values.len() == 1 else None), None


def _with_tolerance(rule: Rule, kind: LimitKind, base: float | None) -> float | None:
    if base is None:
        return None
    room = abs(base) * rule.tolerance if rule.relative else rule.tolerance
    return base + room if kind == "max" else base - room


def _first(rows: pl.DataFrame, columns: tuple[str, ...]) -> Any:  # noqa: ANN401 - of any column
    if rows.is_empty():
        return None
    found = next((rows[name][0] for name in columns if name in rows.columns), None)
    return str(found) if columns is _ABOUT and found is not None else found


def _message(
    rule: Rule, value: float | None, kind: LimitKind, limit: float | None, base: float | None
) -> str:
    """Say in one sentence what was found, and what is allowed.

    A value that is null is what the log cannot say.
    """
    what = rule.measured
    if value is None:
        return f"{what} has no value: the log has no such row, or cannot say"
    if limit is None:
        return f"{what} has no value in the baseline"
    unit = _unit(rule.value)
    found = plural(int(value), "row") if rule.value is None else f"{what} is {_number(value)}{unit}"
    bound = "limit" if kind == "max" else "limit: at least"
    text = f"{found}, {bound} {_number(limit)}{unit}"
    if base is None:
        return text
    room = f"{rule.tolerance:.0%}".replace("%", " %") if rule.relative else _number(rule.tolerance)
    sign = "+" if kind == "max" else "-"
    return f"{text} (baseline {_number(base)} {sign} {room})"


def _unit(expression: str | None) -> str:
    """Give the unit of an SQL expression, with a space, if its columns have one in common.

    Examples
    --------
    >>> _unit("sum(total_ns) - sum(wait_ns)"), _unit("sum(read_bytes)"), _unit("total_ns / calls")
    (' ns', ' bytes', '')
    """
    if expression is None or "/" in expression or "*" in expression:
        return ""
    units = {"_ns": " ns", "_bytes": " bytes"}
    found = {
        next((unit for end, unit in units.items() if name.endswith(end)), "")
        for name in pl.sql_expr(expression).meta.root_names()
    }
    # How many rows there are has no unit, whatever they hold.
    counts = "count" in expression.lower()
    return found.pop() if len(found) == 1 and not counts else ""


def _number(value: float) -> str:
    """Write a number with all digits before the point, and at most four after it.

    Examples
    --------
    >>> _number(1234567.0), _number(0.5), _number(1 / 3)
    ('1,234,567', '0.5', '0.3333')
    """
    whole = round(value)
    return f"{whole:,}" if value == whole else f"{value:,.4f}".rstrip("0").rstrip(".")


def baselines(rules: Iterable[Rule]) -> dict[str, float | None]:
    """Give what the baselines of rules have, by the name of the rule; of several logs the median.

    Parameters
    ----------
    rules
        The rules; those without a baseline are left out.

    Raises
    ------
    tracefast.Error
        A baseline cannot be read, is not a log, or has no events; the message names the rule.
    """
    found: dict[str, float | None] = {}
    for rule in rules:
        if rule.baseline is None:
            continue
        try:
            events = tracefast.scan(rule.baseline)
            values = judged([rule], events, {}).collect()
        except tracefast.Error as error:
            raise error_with_hint(
                f"{rule.place}: baseline: {error}", hint_of(error) or "check the name"
            ) from error
        except OSError as error:
            text = f"{error.filename}: {error.strerror}" if error.strerror else str(error)
            raise error_with_hint(f"{rule.place}: baseline: {text}", "check the name") from error
        if values.is_empty():
            raise error_with_hint(
                f"{rule.place}: baseline {rule.baseline}: no event", "name a log that has some"
            )
        known = values["value"].drop_nulls().to_list()
        found[rule.name] = float(median(known)) if known else None
    return found
