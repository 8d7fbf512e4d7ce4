"""`tracefast files --page-cache`: one row per file of the page cache."""

from functools import partial
from typing import TYPE_CHECKING

from tracefast.cli.command_line.request import Request
from tracefast.cli.messages.errors import DONE, FAILED

if TYPE_CHECKING:
    from tracefast.analysis.files.inode_map import InodeMap

# What a table in text shows; the path last, as it may be long.
_MAIN = (
    "verdict",
    "streaming_share",
    "lookups",
    "misses",
    "miss_share",
    "random_misses",
    "readahead_sync",
    "readahead_async",
    "added_bytes",
    "faults",
    "mapped_pages",
    "dev",
    "ino",
    "path",
)
# What narrow terminals do without, the first one first; and where every file has a path.
_SPARE = (
    *("mapped_pages", "faults", "readahead_async", "readahead_sync", "streaming_share"),
    *("random_misses", "lookups", "added_bytes"),
)
_NUMBERS = ("dev", "ino")


def show(
    request: Request,
    *,
    match: str | None,
    inode_map: "InodeMap | None" = None,
) -> int:
    """Print what the page cache did for each file.

    Parameters
    ----------
    request
        What all tables are asked for.
    match
        A pattern for paths.
    inode_map
        Paths of files by device and inode.

    Returns
    -------
    int
        The exit code.

    Raises
    ------
    CommandError
        There is no column to sort by.
    """
    from tracefast.analysis.files.page_cache import SCHEMA, page_cache
    from tracefast.cli.inputs.event_sources import answer
    from tracefast.cli.screen.result_table import check_columns, chosen, finish

    check_columns(request, SCHEMA)
    table, complete = answer(request, partial(page_cache, inode_map=inode_map))
    if table is None:
        return FAILED
    if table.is_empty():
        request.warn("nothing of the page cache: trace the events filemap:* and readahead:*")
    # Inputs that were asked one by one are in order each, not together.
    table = table.sort("added_bytes", descending=True, nulls_last=True, maintain_order=True)
    table = chosen(table, request, match, "path")
    named = table["path"].null_count() == 0
    spare = (*_NUMBERS, *_SPARE) if named else _SPARE
    finish(table, request, main=_MAIN, spare=spare)
    return DONE if complete else FAILED
