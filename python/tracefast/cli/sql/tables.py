"""The tables that a SQL query may name."""

import re
from collections.abc import Callable
from functools import partial
from typing import Final

import polars as pl

import tracefast
from tracefast.cli.messages.errors import CommandError

EVENTS: Final = "events"
ANALYSES: Final[dict[str, Callable[[pl.LazyFrame], pl.LazyFrame]]] = {
    "files": tracefast.files,
    "files_by_process": partial(tracefast.files, by="process"),
    "forks": tracefast.forks,
    "fork_summary": tracefast.fork_summary,
    "fork_advice": tracefast.fork_advice,
    "syscalls": tracefast.syscalls,
    "errors": tracefast.errors,
    "hooks": tracefast.hooks,
    "processes": tracefast.processes,
    "flow": tracefast.flow,
    "roles": tracefast.roles,
    "phases": tracefast.phases,
    "insights": tracefast.insights,
    "waits": tracefast.waits,
    "stuck": tracefast.stuck,
    "wait_graph": tracefast.wait_graph,
    "blocks": tracefast.blocks,
    "page_cache": tracefast.page_cache,
}
TABLES: Final = (EVENTS, *ANALYSES)
# What lists tables or columns.
_LISTING: Final = re.compile(
    r"\b(show|describe|pragma|information_schema|pg_catalog|sqlite_master|duckdb_\w+)\b"
)


def tables_named_in(query: str, events: pl.LazyFrame) -> dict[str, pl.LazyFrame]:
    """Give the tables that a query names: the others need not be computed.

    If the query lists tables, all of them are given, those that it does not name without rows.

    Examples
    --------
    >>> import tracefast as tf
    >>> list(
    ...     tables_named_in(
    ...         'FROM files JOIN "forks" USING (pid) -- blocks_of', tf.scan("demo.strace")
    ...     )
    ... )
    ['files', 'forks']
    >>> list(tables_named_in("SHOW TABLES", tf.scan("demo.strace"))) == list(ANALYSES)
    True
    """
    words = set(re.findall(r"\w+", query.lower()))
    mentioned = {name: analysis(events) for name, analysis in ANALYSES.items() if name in words}
    if _LISTING.search(query.lower()) is None:
        return mentioned
    no_events = events.clear()
    return {name: mentioned.get(name, analysis(no_events)) for name, analysis in ANALYSES.items()}


def not_a_query(statement: str) -> CommandError:
    """Make the error for a statement that is not a query.

    Parameters
    ----------
    statement
        Its first word.
    """
    return CommandError(
        f"SQL: {statement}: only SELECT is supported",
        "the tables cannot be changed; -o FILE writes the result of a query to a file",
    )
