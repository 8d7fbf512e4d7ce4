"""The columns of `page_cache`."""

from typing import Final

from tracefast.columns.column_group import columns

COLUMNS: Final = (
    columns("source", "String", "The log."),
    columns("dev", "String", "The device, ``major:minor``."),
    columns("ino", "UInt64", "The inode."),
    columns("path", "String", "The path from `inode_map`; null without it."),
    columns("lookups", "UInt32", "How often a read asked for pages."),
    columns(
        "misses",
        "UInt32",
        "Lookups that did not find the first page and had it read (``page_cache_sync_ra``,"
        " except those of faults).",
    ),
    columns("miss_share", "Float64", "misses / lookups."),
    columns(
        "readahead_sync readahead_async",
        "UInt32",
        "How often the kernel read ahead because a page was missing, and because a read reached"
        " a page that it had marked for this.",
    ),
    columns(
        "readahead_bytes",
        "Int64",
        "Bytes that these added to the cache, including the page that was missing.",
    ),
    columns(
        "added_bytes removed_bytes",
        "Int64",
        "Bytes added to the cache in total, including by writes; bytes removed.",
    ),
    columns(
        "faults",
        "UInt32",
        "Faults on mapped pages that no earlier fault had mapped along with its own page.",
    ),
    columns(
        "mapped_pages",
        "Int64",
        "Pages in the ranges that were mapped around faults, an upper bound.",
        unit="pages",
    ),
    columns(
        "random_misses",
        "UInt32",
        "Misses that do not continue where the last read of that open file ended"
        " (``prev_pos``), except on the first page of the file.",
    ),
    columns(
        "streaming_share",
        "Float64",
        "Share of the fetches of pages (synchronous and asynchronous read-ahead, faults that"
        " had to fetch their page) that continue where the previous fetch ended, or start at"
        " the beginning of the file. A fault continues the last pages that were added.",
    ),
    columns(
        "verdict",
        "String",
        "``cached`` where nothing was fetched, ``streaming`` for a `streaming_share` of at least"
        " 0.8, ``random`` for at most 0.2, ``mixed`` in between; null after one fetch, which is no"
        " pattern.",
    ),
)
