"""What is worth a change: one row per finding."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

import polars as pl
from polars.io.plugins import register_io_source

from tracefast._polars.declared_schema import declared_schema
from tracefast._polars.given_events import Events, rows_of
from tracefast._polars.projection import project
from tracefast._polars.source_threads import inside
from tracefast.analysis.insights.finding import Calls, Finding, Rule, Severity
from tracefast.analysis.insights.lines import find_lines
from tracefast.analysis.insights.log import Log
from tracefast.analysis.insights.registry import chosen_rules
from tracefast.analysis.insights.tables import QUESTION, Tables
from tracefast.scanning.folds_ahead import FoldsAhead

SCHEMA: Final = declared_schema("insights")
_ORDER: Final = list(Severity)


def insights(
    events: Events, *, select: Sequence[str] = (), ignore: Sequence[str] = ()
) -> pl.LazyFrame:
    """Find what is worth a change in a program, or in how it was recorded.

    Rules look at the tables of the log. One row per finding, and for most rules at most one per
    log: the numbers sum up all files, processes or waits of that kind.

    Parameters
    ----------
    events
        The events of a log or of Parquet files, in their order.
    select
        Only these findings: codes, or their beginnings, such as ``read``.
    ignore
        Without these findings: codes, or their beginnings.

    Returns
    -------
    polars.LazyFrame
        In order of `source`, the most severe first.

        `source` : String
            The log.
        `code` : String
            Name of the rule, such as ``small-reads``.
        `severity` : String
            ``high``, ``medium`` or ``low``, by the share of the log's time, or of the bytes moved
            to and from files, that it touches. Time that the tracer may have taken makes nothing
            ``high``.
        `title` : String
            What was found.
        `evidence` : String
            What in the log shows it, in one sentence with numbers.
        `numbers` : List(Struct)
            The numbers of this sentence: `name` and `value`. Times are in ns, sizes in bytes.
        `object` : String
            The path, process or program that it is about, of several one.
        `lines` : List(UInt64)
            Lines of the log that show it: the first ones, at most five.
        `saving_low_ns`, `saving_high_ns` : Int64
            Part of the log's time that the advice would save, at least and at most. The lower bound
            leaves out what the tracer may have taken. Null if nobody can say.
        `advice` : String
            What to do.
        `page` : String
            The page of the documentation that explains it, and its section.

    Raises
    ------
    ValueError
        No code begins like one of `select` or `ignore`.
    polars.exceptions.ColumnNotFoundError
        The events lack a column that is needed.

    Examples
    --------
    >>> import tracefast as tf
    >>> events = tf.scan("demo.strace")
    >>> tf.insights(events).select("code", "severity").collect().rows()
    []
    """
    return insights_and_logs(events, select=select, ignore=ignore)


def insights_and_logs(
    events: Events,
    *,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    logs: Callable[[list[str]], object] | None = None,
    ahead: FoldsAhead | None = None,
) -> pl.LazyFrame:
    """Give the rows of `insights`, and name the logs, also those in which nothing was found.

    Parameters
    ----------
    events, select, ignore
        As for `insights`.
    logs
        Called with the logs that have events, each time that the table is made.
    ahead
        Makes the tables of these events that need a pass over them, and has started.
    """
    rules = chosen_rules(select, ignore)
    rows_of(events, (), QUESTION)
    nothing = SCHEMA.to_frame()

    def source(
        with_columns: list[str] | None,
        predicate: pl.Expr | None,
        n_rows: int | None,
        _batch_size: int | None,
    ) -> Iterator[pl.DataFrame]:
        found = nothing
        for step in _steps(events, rules, logs, ahead):
            if step is None:
                yield project(nothing, with_columns)
            else:
                found = step
        if n_rows is not None:
            found = found[:n_rows]
        yield project(found if predicate is None else found.filter(predicate), with_columns)

    return register_io_source(
        lambda *asked: inside(source(*asked)), schema=SCHEMA, is_pure=True, explain_name="INSIGHTS"
    )


class _Found(NamedTuple):
    source: str
    rule: Rule
    finding: Finding


def _steps(
    events: Events,
    rules: Sequence[Rule],
    logs: Callable[[list[str]], object] | None,
    ahead: FoldsAhead | None,
) -> Iterator[pl.DataFrame | None]:
    """Apply rules; gives None from time to time, and the table at the end."""
    tables = Tables(events, {name for rule in rules for name in rule.tables}, ahead)
    for _ in tables.read():
        yield None
    yield from found_by(rules, tables)
    if logs is not None:
        logs(tables.sources)


def found_by(rules: Sequence[Rule], tables: Tables) -> Iterator[pl.DataFrame | None]:
    """Apply rules to tables; gives None from time to time, and the findings at the end.

    Parameters
    ----------
    rules
        The rules.
    tables
        The tables that they ask, which are made.
    """
    found: list[_Found] = []
    logs = [Log(tables, name) for name in tables.sources]
    for rule in rules:
        for log in logs:
            found += (_Found(log.source, rule, finding) for finding in rule.find(log))
            yield None
        tables.next_rule()
    yield _rows(tables, found)


def _rows(tables: Tables, found: list[_Found]) -> pl.DataFrame:
    asked = [(i, each.finding.calls) for i, each in enumerate(found)]
    wanted: list[tuple[int, Calls]] = [(i, calls) for i, calls in asked if calls is not None]
    lines = find_lines(tables, [(found[i].source, calls) for i, calls in wanted])
    known = dict(zip((i for i, _ in wanted), lines, strict=True))
    rows = [
        {
            "source": source,
            "code": rule.code,
            "severity": finding.weight.severity.value,
            "title": finding.title or rule.title,
            "evidence": finding.evidence,
            "numbers": [
                {"name": name, "value": float(value)} for name, value in finding.numbers.items()
            ],
            "object": finding.object,
            "lines": known.get(i, list(finding.lines)),
            "saving_low_ns": finding.saving and finding.saving.low,
            "saving_high_ns": finding.saving and finding.saving.high,
            "advice": finding.advice,
            "page": rule.where,
        }
        for i, (source, rule, finding) in enumerate(found)
    ]
    order = sorted(range(len(rows)), key=lambda i: _key(found[i]))
    return pl.DataFrame([rows[i] for i in order], schema=SCHEMA)


def by_severity(findings: pl.DataFrame) -> pl.DataFrame:
    """Put the most severe findings of all logs first; those of one log stay in their order."""
    rank = {severity.value: at for at, severity in enumerate(_ORDER)}
    order = pl.col("severity").cast(pl.String).replace_strict(rank, return_dtype=pl.UInt8)
    return findings.sort(order, maintain_order=True)


def _key(found: _Found) -> tuple[str, int, float]:
    weight = found.finding.weight
    return found.source, _ORDER.index(weight.severity), -weight.share
