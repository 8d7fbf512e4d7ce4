"""A first file of rules for a log: what it shows now, and a little more, is the limit."""

from collections.abc import Iterator
from typing import Final, NamedTuple

import polars as pl

from tracefast._polars.given_events import Events, rows_of
from tracefast.analysis.compare.rules import table_function
from tracefast.analysis.conditions import evaluate_condition, evaluate_value

# What a run may have more than the first one, in percent. Of a program that has not changed, calls
# take several times as long on a busy machine, or another one.
_COUNTS: Final = 10
_TIMES: Final = 400


class _Measure(NamedTuple):
    """What is worth a rule."""

    name: str
    table: str
    value: str
    where: str | None = None
    room: int = _COUNTS
    unit: str = ""


_MEASURES: Final = (
    _Measure("failed-opens", "files", "sum(opens_failed)"),
    _Measure("opens", "files", "sum(opens)"),
    _Measure("bytes-read", "files", "sum(read_bytes)", "type = 'regular'", unit=" bytes"),
    _Measure(
        "bytes-read-again", "files", "sum(read_reread_bytes)", "type = 'regular'", unit=" bytes"
    ),
    _Measure("bytes-written", "files", "sum(write_bytes)", "type = 'regular'", unit=" bytes"),
    _Measure("system-calls", "syscalls", "sum(calls)"),
    _Measure("processes", "processes", "count(*)"),
    _Measure("working-time", "syscalls", "sum(total_ns) - sum(wait_ns)", room=_TIMES, unit=" ns"),
)
_HEAD: Final = """\
# Rules for: tracefast check RULES.toml LOG
# Each limit is what the first log shows and {counts} % more, of times {times} %: machines differ.
"""
_NOBODY_HANGS: Final = """
[[rule]]
name = "nobody-hangs"
table = "stuck"
max_rows = 0
"""
_SOMEBODY_HANGS: Final = """
# Left out: nobody-hangs (table stuck), as the log shows somebody who hangs: tracefast waits --stuck
"""


def first_rules(events: Events) -> str:
    """Write a file of rules that a log keeps.

    Parameters
    ----------
    events
        The events of one log, or of several: the largest value counts.

    Examples
    --------
    >>> import tracefast as tf
    >>> print(first_rules(tf.scan("demo.strace")).split("[[rule]]")[1].strip())
    name = "opens"
    table = "files"
    value = "sum(opens)"
    max = 2  # 1 in the log
    """
    rows = rows_of(events, ["source"], "tracefast.check")
    tables = {
        name: table_function(name)(rows).collect().partition_by("source")
        for name in dict.fromkeys([*(measure.table for measure in _MEASURES), "stuck"])
    }
    text = _HEAD.format(counts=_COUNTS, times=_TIMES)
    for measure in _MEASURES:
        values = list(_values(tables[measure.table], measure))
        if values and max(values) > 0:
            text += _rule(measure, round(max(values)))
    return text + (_SOMEBODY_HANGS if tables["stuck"] else _NOBODY_HANGS)


def _values(logs: list[pl.DataFrame], measure: _Measure) -> Iterator[float]:
    """Give the value of each log that can say it."""
    for log in logs:
        rows = log
        if measure.where is not None:
            rows = log.filter(evaluate_condition(log, measure.where))
        value = evaluate_value(rows, measure.value).item()
        if value is not None:
            yield value


def _rule(measure: _Measure, value: int) -> str:
    limit = value + -(-value * measure.room // 100)
    lines = [f'name = "{measure.name}"', f'table = "{measure.table}"']
    if measure.where is not None:
        lines.append(f'where = "{measure.where}"')
    lines += [
        f'value = "{measure.value}"',
        f"max = {limit:_}  # {value:_}{measure.unit} in the log",
    ]
    return "\n[[rule]]\n" + "".join(f"{line}\n" for line in lines)
