"""Every table by its name, with its columns."""

from typing import Final, NamedTuple

from tracefast.columns import (
    accesses,
    blocks,
    darshan,
    errors,
    event_counts,
    events,
    files,
    hooks,
    insights,
    page_cache,
    processes,
    syscalls,
    waits,
)
from tracefast.columns.column_group import ColumnGroup
from tracefast.columns.compare import check, diff
from tracefast.columns.flow import edges, phases, roles
from tracefast.columns.forks import fork_advice, fork_summary, forks
from tracefast.columns.over_time import windows
from tracefast.columns.workers import batches, pools, shared_reads, workers

Groups = tuple[ColumnGroup, ...]

EVENTS: Final[Groups] = events.COLUMNS

# What the functions of the package return. Only `events` has another name here: the events
# themselves are the rows of a log.
TABLES: Final[dict[str, Groups]] = {
    "files": files.COLUMNS + files.WRITE_COLUMNS + files.JOINED,
    "files_by_time": windows.FILES,
    "darshan": darshan.COLUMNS,
    "accesses": accesses.COLUMNS,
    "page_cache": page_cache.COLUMNS,
    "blocks": blocks.COLUMNS,
    "blocks_by_file": blocks.BY_FILE,
    "blocks_by_time": windows.BLOCKS,
    "forks": forks.COLUMNS + forks.JOINED,
    "fork_summary": fork_summary.COLUMNS,
    "fork_advice": fork_advice.COLUMNS,
    "processes": processes.COLUMNS,
    "memory": processes.MEMORY,
    "syscalls": syscalls.COLUMNS,
    "syscalls_by_time": windows.SYSCALLS,
    "errors": errors.COLUMNS,
    "flow": edges.COLUMNS,
    "roles": roles.COLUMNS,
    "phases": phases.COLUMNS,
    "waits": waits.COLUMNS + waits.JOINED,
    "stuck": waits.COLUMNS + waits.JOINED,
    "wait_graph": waits.GRAPH,
    "workers": workers.COLUMNS,
    "pools": pools.COLUMNS,
    "batches": batches.COLUMNS,
    "shared_reads": shared_reads.COLUMNS,
    "shared_reads_by_folder": shared_reads.BY_FOLDER,
    "event_counts": event_counts.COLUMNS,
    "hooks": hooks.COLUMNS,
    "diff": diff.COLUMNS,
    "check": check.COLUMNS,
    "insights": insights.COLUMNS,
}


def names_of(groups: Groups) -> list[str]:
    """Give the names of all columns, in order.

    Examples
    --------
    >>> names_of(TABLES["event_counts"])[:3]
    ['source', 'kind', 'name']
    """
    return [name for group in groups for name in group.names]


class Column(NamedTuple):
    """The description of a single column."""

    type: str
    """Its type: Arrow's for events, polars' for tables."""
    unit: str | None
    """The unit of its values."""
    meaning: str
    """What it means."""


def described(groups: Groups) -> dict[str, Column]:
    """Describe each column of a table; what is said of several columns names all of them.

    Examples
    --------
    >>> described(TABLES["files"])["read_rewinds"]
    Column(type='UInt32', unit=None, meaning='Reads of `read_backward` that start at 0.')
    >>> described(TABLES["blocks"])["size_max"].meaning
    '`size_median`, `size_max`: Size of a request.'
    """
    found: dict[str, Column] = {}
    for group in groups:
        named = ", ".join(f"`{name}`" for name in group.names)
        meaning = group.meaning.replace("``", "`")
        text = f"{named}: {meaning}" if len(group.names) > 1 else meaning
        found |= dict.fromkeys(group.names, Column(group.type, group.unit, text))
    return found
