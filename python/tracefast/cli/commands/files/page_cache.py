"""`tracefast files --page-cache`: one row per file of the page cache."""

from functools import partial
from typing import TYPE_CHECKING, Final

from tracefast.analysis.files.page_cache import SCHEMA, page_cache
from tracefast.cli.command_line.exit_codes import DONE, FAILED
from tracefast.cli.command_line.request import Request
from tracefast.cli.inputs.event_sources import run_analysis
from tracefast.cli.screen.result_table import check_columns, filter_rows, print_table

if TYPE_CHECKING:
    from tracefast.analysis.files.inode_map import InodeMap

# What a table in text shows; the path last, as it may be long.
_MAIN: Final = (
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
# What narrow terminals do without, the first one first.
_SPARE: Final = (
    *("mapped_pages", "faults", "readahead_async", "readahead_sync", "streaming_share"),
    *("random_misses", "lookups", "added_bytes"),
)
# Where every file has a path, these are left out before the others.
_NUMBERS: Final = ("dev", "ino")


def report_page_cache(
    request: Request, *, match: str | None, inode_map: "InodeMap | None" = None
) -> int:
    """Print what the page cache did for each file, and give the exit code.

    Parameters
    ----------
    request
        The options that all tables share.
    match
        A pattern for paths.
    inode_map
        Paths of files by device and inode.

    Raises
    ------
    CommandError
        There is no such column to sort by.
    """
    check_columns(request, SCHEMA)
    table, complete = run_analysis(request, partial(page_cache, inode_map=inode_map))
    if table is None:
        return FAILED
    if table.is_empty():
        request.warn("no events of the page cache: trace the events filemap:* and readahead:*")
    # Each log is in order, but not all together.
    table = table.sort("added_bytes", descending=True, nulls_last=True, maintain_order=True)
    table = filter_rows(table, request, match, "path")
    all_named = table["path"].null_count() == 0
    spare = (*_NUMBERS, *_SPARE) if all_named else _SPARE
    print_table(table, request, main=_MAIN, spare=spare)
    return DONE if complete else FAILED
