"""The tables that a question in SQL may name."""

import re
from collections.abc import Callable
from typing import Final

import polars as pl

import tracefast

EVENTS: Final = "events"
ANALYSES: Final[dict[str, Callable[[pl.LazyFrame], pl.LazyFrame]]] = {
    "files": tracefast.files,
    "forks": tracefast.forks,
    "fork_summary": tracefast.fork_summary,
    "syscalls": tracefast.syscalls,
    "processes": tracefast.processes,
    "blocks": tracefast.blocks,
}
TABLES: Final = (EVENTS, *ANALYSES)


def named(query: str, events: pl.LazyFrame) -> dict[str, pl.LazyFrame]:
    """Give the analyses that a query may mean: what it does not name need not be computed.

    Examples
    --------
    >>> import tracefast as tf
    >>> list(named('FROM files JOIN "forks" USING (pid) -- blocks_of', tf.scan("demo.strace")))
    ['files', 'forks']
    """
    words = set(re.findall(r"\w+", query.lower()))
    return {name: analysis(events) for name, analysis in ANALYSES.items() if name in words}
