"""The lines of the log that show a finding."""

from collections.abc import Sequence
from typing import Final

import polars as pl

from tracefast.analysis.insights.finding import Calls
from tracefast.analysis.insights.tables import Tables

MOST: Final = 5
# A finding shows lines of so many files at most: those that matter most come first.
_FILES: Final = 100
_IS_CALL: Final = pl.col("kind").cast(pl.String) == "syscall"


def find_lines(tables: Tables, wanted: Sequence[tuple[str, Calls]]) -> list[list[int]]:
    """Find the first lines of some calls, in one pass that ends when all are found.

    Parameters
    ----------
    tables
        The events.
    wanted
        Logs, and which of their calls.

    Returns
    -------
    list of list of int
        At most `MOST` lines for each.
    """
    found: list[list[int]] = []
    if tables.are_kept:
        # A question for each, not one for all: a log's own events are found at once.
        for source, calls in wanted:
            rows = tables.events_of(source).filter(_IS_CALL, _condition(calls)).head(MOST)
            found.append(rows.select("line").collect()["line"].to_list())
        return found
    if not wanted:
        return found
    found = [[] for _ in wanted]
    conditions = [
        (pl.col("source").cast(pl.String) == source) & _condition(calls) for source, calls in wanted
    ]
    rows = tables.events.filter(_IS_CALL, pl.any_horizontal(conditions)).select(
        "line", *(each.alias(f"{i}") for i, each in enumerate(conditions))
    )
    for batch in rows.collect_batches(maintain_order=True):
        for i, lines in enumerate(found):
            if len(lines) < MOST:
                more = batch.filter(pl.col(f"{i}"))["line"].head(MOST - len(lines))
                lines.extend(more.to_list())
        if all(len(lines) == MOST for lines in found):
            break
    return found


def _condition(calls: Calls) -> pl.Expr:
    conditions = [
        pl.col("name").cast(pl.String).is_in(sorted(calls.names)),
        pl.col("line").is_not_null(),
    ]
    if calls.files:
        conditions.append(pl.col("file").is_in(list(calls.files)[:_FILES]))
    if calls.paths:
        conditions.append(pl.col("path").is_in(list(calls.paths)[:_FILES]))
    if calls.access:
        conditions.append(pl.col("access").cast(pl.String).is_in(sorted(calls.access)))
    if calls.errno:
        conditions.append(pl.col("errno").cast(pl.String).is_in(sorted(calls.errno)))
    return pl.all_horizontal(conditions).fill_null(value=False)
