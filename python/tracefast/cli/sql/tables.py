"""The tables that a question in SQL may name, and what is no question about them."""

import re
from collections.abc import Callable
from typing import Final

import polars as pl

import tracefast
from tracefast.cli.messages.errors import CommandError

EVENTS: Final = "events"
ANALYSES: Final[dict[str, Callable[[pl.LazyFrame], pl.LazyFrame]]] = {
    "files": tracefast.files,
    "forks": tracefast.forks,
    "fork_summary": tracefast.fork_summary,
    "fork_advice": tracefast.fork_advice,
    "syscalls": tracefast.syscalls,
    "processes": tracefast.processes,
    "blocks": tracefast.blocks,
    "page_cache": tracefast.page_cache,
}
TABLES: Final = (EVENTS, *ANALYSES)
# What asks which tables or columns there are.
_LISTS: Final = re.compile(
    r"\b(show|describe|pragma|information_schema|pg_catalog|sqlite_master|duckdb_\w+)\b"
)


def named(query: str, events: pl.LazyFrame) -> dict[str, pl.LazyFrame]:
    """Give the analyses that a query may mean: what it does not name need not be computed.

    All of them, without rows, where it asks which there are.

    Examples
    --------
    >>> import tracefast as tf
    >>> list(named('FROM files JOIN "forks" USING (pid) -- blocks_of', tf.scan("demo.strace")))
    ['files', 'forks']
    >>> list(named("SHOW TABLES", tf.scan("demo.strace"))) == list(ANALYSES)
    True
    """
    words = set(re.findall(r"\w+", query.lower()))
    mentioned = {name: analysis(events) for name, analysis in ANALYSES.items() if name in words}
    if _LISTS.search(query.lower()) is None:
        return mentioned
    nothing = events.clear()
    return {name: mentioned.get(name, analysis(nothing)) for name, analysis in ANALYSES.items()}


def no_question(statement: str) -> CommandError:
    """Say that a statement does something else than to ask.

    Parameters
    ----------
    statement
        Its first word.
    """
    return CommandError(
        f"SQL: {statement} is no question, and nothing that is asked about can be changed",
        "ask with SELECT; -o FILE writes the answer to a file",
    )
