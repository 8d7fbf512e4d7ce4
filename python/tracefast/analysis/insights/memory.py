"""Rules about memory: copy-on-write-growth."""

from collections.abc import Iterator
from typing import Final

import polars as pl

from tracefast.analysis.insights.finding import Finding, Rule, Threshold
from tracefast.analysis.insights.log import Log
from tracefast.analysis.insights.tables import Tables
from tracefast.analysis.insights.weights import weight
from tracefast.quantities import plural, size

COPIES: Final = Threshold(
    "copied pages of the workers", 1000, "", "4 MiB: fewer are stacks and the allocator"
)
_PAGE: Final = 4096


def _copying(tables: Tables) -> pl.DataFrame:
    forked = pl.col("method").is_in(["fork", "forkserver"])
    return (
        tables.table("workers")
        .filter(forked, pl.col("cow_faults").is_not_null())
        .sort("cow_faults", descending=True, nulls_last=True, maintain_order=True)
    )


def copy_on_write_growth(log: Log) -> Iterator[Finding]:
    """Find forked workers that copy the memory which they shared with their maker."""
    workers = log.chosen(_copying)
    copies = int(workers["cow_faults"].sum())
    if copies < COPIES.value:
        return
    copied = copies * _PAGE
    shared = int(workers["anon_start_bytes"].fill_null(0).sum())
    found = weight(data=copied, data_total=max(shared, copied))
    if found is None:
        return
    of_all = f" of {size(shared)} that they started with" if shared else ""
    yield Finding(
        weight=found,
        evidence=f"{plural(workers.height, 'worker')} copied {copies:,} pages, {size(copied)}"
        f"{of_all}, as they wrote to what they shared with their maker",
        numbers={"workers": workers.height, "pages": copies, "bytes": copied, "shared": shared},
        object=workers["image"][0],
        lines=log.lines_of_copies(workers["task"]),
        advice=COPY_ON_WRITE_GROWTH.advice,
    )


COPY_ON_WRITE_GROWTH: Final = Rule(
    code="copy-on-write-growth",
    title="Forked workers copy the memory that they share with their maker.",
    looks_for="Page faults of forked workers on writes to pages that are there, but protected"
    " (exceptions:page_fault_user of ftrace). Of Python, counting references writes to each object"
    " that is only looked at. Its severity is by the share of the memory that they started with.",
    advice="Keep large data where nothing writes to it: arrays of numpy or Arrow instead of lists"
    " of objects, shared memory, a mapped file; call gc.freeze() before the fork.",
    find=copy_on_write_growth,
    thresholds=(COPIES,),
    tables=frozenset({"workers"}),
)
