"""`tracefast files --page-cache`: one row per file of the page cache."""

from functools import partial
from typing import TYPE_CHECKING

from tracefast.cli.errors import DONE, FAILED, warn
from tracefast.cli.options import Format
from tracefast.reading import FormatIn

if TYPE_CHECKING:
    from tracefast.analysis.inode_map import InodeMap

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


def show(
    inputs: list[str],
    *,
    form: Format | None,
    output: str,
    sort: str | None,
    top: int | None,
    match: str | None,
    wide: bool,
    format_in: FormatIn | None,
    no_clobber: bool,
    inode_map: "InodeMap | None" = None,
) -> int:
    """Print what the page cache did for each file.

    Parameters
    ----------
    inputs
        Logs or Parquet files, patterns, ``-``.
    form
        The form of the result; None for that of the output's name.
    output
        Path of a file, or ``-``.
    sort
        The column to sort by; None for the largest number of bytes first.
    top
        How many rows to print: 0 for all, None for as many as a terminal bears.
    match
        A pattern for paths.
    wide
        Show all columns.
    format_in
        Format of the logs; None to find it from the text.
    no_clobber
        Refuse to replace an output that exists.
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
    from tracefast.analysis.page_cache import SCHEMA, page_cache
    from tracefast.cli.events import answer
    from tracefast.cli.finish import check_sort, finish, matching
    from tracefast.cli.output import choose

    chosen = choose(form, output, no_clobber=no_clobber)
    check_sort(sort, list(SCHEMA))
    table, complete = answer(inputs, partial(page_cache, inode_map=inode_map), format_in)
    if table is None:
        return FAILED
    if table.is_empty():
        warn("nothing of the page cache: trace the events filemap:* and readahead:*")
    # Inputs that were asked one by one are in order each, not together.
    table = table.sort("added_bytes", descending=True, nulls_last=True, maintain_order=True)
    table = matching(match, "path")(table)
    finish(table, main=_MAIN, form=chosen, output=output, sort=sort, top=top, wide=wide)
    return DONE if complete else FAILED
