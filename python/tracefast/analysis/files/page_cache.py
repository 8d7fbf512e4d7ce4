"""One row per file of the page cache: what reads found there, and what was fetched."""

from functools import partial
from typing import Final

import polars as pl

from tracefast._polars.declared_schema import declared_schema
from tracefast._polars.given_events import Events
from tracefast._polars.map_rows import map_rows
from tracefast.analysis.decoded_fields import Dtypes, decoded
from tracefast.analysis.files.inode_map import InodeMap, inode_frame
from tracefast.arguments import integer

SCHEMA: Final = declared_schema("page_cache")

# A file counts as streamed from this share on, and as read at random up to the second one.
STREAMING: Final = 0.8
RANDOM: Final = 0.2
# Fewer fetches than this show neither.
FEW: Final = 2

LOOKUP: Final = "mm_filemap_get_pages"
MAP: Final = "mm_filemap_map_pages"
FAULT: Final = "mm_filemap_fault"
ADD: Final = "mm_filemap_add_to_page_cache"
DELETE: Final = "mm_filemap_delete_from_page_cache"
SYNC: Final = "page_cache_sync_ra"
ASYNC: Final = "page_cache_async_ra"
_ORDER: Final = "page_cache_ra_order"
_UNBOUNDED: Final = "page_cache_ra_unbounded"

# Events that were added to the kernel together: a log that has one of them can have the others.
USES: Final = (LOOKUP, MAP, FAULT)
AHEAD: Final = (SYNC, ASYNC, _ORDER, _UNBOUNDED)
EVENTS: Final = (*USES, ADD, DELETE, *AHEAD)

_RECORD: Final[Dtypes] = {"source": pl.Categorical(), "task": pl.UInt32}
FIELDS: Final[Dtypes] = {
    "dev": pl.Categorical(),
    "ino": pl.UInt64,
    "ofs": pl.Int64,
    "ofs_end": pl.Int64,
    "index": pl.Int64,
    "last_index": pl.Int64,
    "order": pl.Int64,
    "prev_pos": pl.Int64,
}
# No kernel has larger folios; the limit keeps a damaged number from overflowing.
_ORDER_MAX: Final = 30
# Larger than the pages of any machine.
_LARGEST_PAGE: Final = 1 << 30
# Records whose neighbours are compared at a time.
_PART: Final = 1 << 20
_FILE: Final = ("source", "dev", "ino")
# The columns that the sums need: a record is about the bytes from `start` up to `end`.
_STEP: Final[Dtypes] = {
    **_RECORD,
    "dev": pl.Categorical(),
    "ino": pl.UInt64,
    "name": pl.Enum(EVENTS),
    "start": pl.Int64,
    "end": pl.Int64,
    "prev_pos": pl.Int64,
}


def page_cache(
    events: Events,
    *,
    inode_map: InodeMap | None = None,
    page_bytes: int = 4096,
) -> pl.LazyFrame:
    r"""Give one row per file, by device and inode, of what the page cache did for it.

    The table is made from ftrace's events ``filemap:*`` and ``readahead:*``. A column is null if
    the log has none of the events that it is computed from: kernels before 6.12 only show what was
    added and removed, and which lookups missed is only known with the events of read-ahead.

    Parameters
    ----------
    events
        The events of a log, of Parquet files, or a part of them.
    inode_map
        Paths of files by device and inode: the path of a file with the output of
        ``find / -printf '%D %i %p\n'``, or a frame with the columns `dev` (``"254:0"``), `ino`
        and `path`.
    page_bytes
        Size of a page on the machine of the log, which is not in the log.

    Returns
    -------
    polars.LazyFrame
        Largest `added_bytes` first. Columns that end in ``_bytes`` are bytes, in ``_share``
        fractions of 1.

        `source` : String
            The log.
        `dev` : String
            The device, ``major:minor``.
        `ino` : UInt64
            The inode.
        `path` : String
            The path from `inode_map`; null without it.
        `lookups` : UInt32
            How often a read asked for pages.
        `misses` : UInt32
            Lookups that did not find the first page and had it read (``page_cache_sync_ra``, except
            those of faults).
        `miss_share` : Float64
            misses / lookups.
        `readahead_sync`, `readahead_async` : UInt32
            How often the kernel read ahead because a page was missing, and because a read reached a
            page that it had marked for this.
        `readahead_bytes` : Int64
            Bytes that these added to the cache, including the page that was missing.
        `added_bytes`, `removed_bytes` : Int64
            Bytes added to the cache in total, including by writes; bytes removed.
        `faults` : UInt32
            Faults on mapped pages that no earlier fault had mapped along with its own page.
        `mapped_pages` : Int64
            Pages in the ranges that were mapped around faults, an upper bound.
        `random_misses` : UInt32
            Misses that do not continue where the last read of that open file ended (``prev_pos``),
            except on the first page of the file.
        `streaming_share` : Float64
            Share of the fetches of pages (synchronous and asynchronous read-ahead, faults that had
            to fetch their page) that continue where the previous fetch ended, or start at the
            beginning of the file. A fault continues the last pages that were added.
        `verdict` : String
            ``cached`` where nothing was fetched, ``streaming`` for a `streaming_share` of at least
            0.8, ``random`` for at most 0.2, ``mixed`` in between; null after one fetch, which is no
            pattern.

    Raises
    ------
    OSError
        `inode_map` cannot be read.
    Error
        A line of `inode_map` is not as find prints it.
    ValueError
        `page_bytes` is not a power of two.
    TypeError
        `page_bytes` is not an integer.

    Examples
    --------
    >>> import tracefast as tf
    >>> table = tf.page_cache(tf.scan("demo.ftrace")).collect()
    >>> table.select("dev", "ino", "lookups", "misses", "added_bytes", "verdict").rows()
    [('254:0', 66, 2, 1, 8192, None)]
    """
    page_bytes = integer("page_bytes", page_bytes, low=1, high=_LARGEST_PAGE)
    if page_bytes & (page_bytes - 1):
        raise ValueError(f"page_bytes must be a power of two, got {page_bytes}")
    table = (
        decoded(events, EVENTS, record=_RECORD, fields=FIELDS, question="tracefast.page_cache")
        .drop_nulls(("dev", "ino"))
        .with_columns(ranges(page_bytes))
        .select(pl.col(name).cast(dtype) for name, dtype in _STEP.items())
        .pipe(map_rows, partial(_of_steps, page=page_bytes), SCHEMA)
    )
    if inode_map is None:
        return table
    paths = inode_frame(inode_map).select("dev", "ino", pl.col("path").alias("known"))
    return (
        table.join(paths, on=("dev", "ino"), how="left", maintain_order="left")
        .with_columns(pl.coalesce("path", "known").alias("path"))
        .drop("known")
    )


def _of_steps(steps: pl.DataFrame, page: int) -> pl.DataFrame:
    """Aggregate the records of whole logs, which are in order."""
    name = pl.col("name")
    files = steps.select(_FILE).unique(maintain_order=True).with_row_index("file")
    # Numbers instead of keys: what follows compares many neighbours of the same key.
    numbered = steps.join(
        files, on=_FILE, how="left", nulls_equal=True, maintain_order="left"
    ).select("file", "task", "name", "start", "end", "prev_pos")
    # Some files at a time, to limit the memory for the columns that are added to their records.
    parts = steps.height // _PART + 1
    sums = pl.concat(
        _sums(numbered.filter(pl.col("file") % parts == part), page) for part in range(parts)
    )
    recorded = steps.group_by("source").agg(
        name.is_in(USES).any().alias("has_uses"),
        name.is_in(AHEAD).any().alias("has_ahead"),
        (name == ADD).any().alias("has_add"),
        (name == DELETE).any().alias("has_delete"),
    )
    return (
        files.join(sums, on="file")
        .join(recorded, on="source", how="left", nulls_equal=True)
        .with_columns(_known_columns())
        .select(pl.col(column).cast(dtype) for column, dtype in SCHEMA.items())
        .sort(
            "added_bytes",
            pl.sum_horizontal("lookups", "faults", "mapped_pages"),
            "source",
            "dev",
            "ino",
            descending=[True, True, False, False, False],
            nulls_last=True,
        )
    )


def _sums(steps: pl.DataFrame, page: int) -> pl.DataFrame:
    """Aggregate the records of each file."""
    name = pl.col("name")
    rows = _linked(steps, page)
    length = pl.col("end") - pl.col("start")
    fetch = name.is_in([SYNC, ASYNC]) | pl.col("demand")
    miss = (name == SYNC) & ~pl.col("of_fault")
    return rows.group_by("file").agg(
        (name == LOOKUP).sum().alias("lookups"),
        miss.sum().alias("misses"),
        (name == SYNC).sum().alias("readahead_sync"),
        (name == ASYNC).sum().alias("readahead_async"),
        length.filter((name == ADD) & pl.col("ahead")).sum().alias("readahead_bytes"),
        length.filter(name == ADD).sum().alias("added_bytes"),
        length.filter(name == DELETE).sum().alias("removed_bytes"),
        (name == FAULT).sum().alias("faults"),
        (length.filter(name == MAP) // page).sum().alias("mapped_pages"),
        (miss & ~pl.col("goes_on")).sum().alias("random_misses"),
        fetch.sum().alias("fetches"),
        (fetch & pl.col("goes_on")).sum().alias("streaming"),
    )


def ranges(page: int) -> list[pl.Expr]:
    """Give the bytes of the file that a record is about, from `start` up to `end`."""
    name = pl.col("name")
    start = pl.coalesce("ofs", pl.col("index") * page)
    # Kernels that do not print the order have no folios of several pages.
    order = pl.col("order").fill_null(0).clip(0, _ORDER_MAX)
    folio = page * pl.lit(2).pow(order).cast(pl.Int64)
    end = (
        pl.when(name.is_in([LOOKUP, MAP]))
        # Both print the last page.
        .then(pl.coalesce(pl.col("ofs_end") + 1, (pl.col("last_index") + 1) * page))
        .when(name.is_in([ADD, DELETE]))
        .then(start + folio)
        .otherwise(start + page)
    )
    return [start.alias("start"), end.alias("end")]


def _linked(rows: pl.DataFrame, page: int) -> pl.DataFrame:
    """Find out from the order of the records why pages were fetched, and after which others.

    A lookup is recorded when it has its pages, after what was fetched for it; a fault before that.
    """
    name, start, end = pl.col("name"), pl.col("start"), pl.col("end")
    # For one task and one file, the order of the records is that of the kernel's steps.
    user = ("task", "file")
    rows = rows.with_row_index("row")
    # A long read makes several lookups, which end at the same page.
    begin = pl.when(end.ne_missing(end.shift(1).over(user))).then(start)
    lookups = rows.filter(name == LOOKUP).select(
        "row", begin.forward_fill().over(user).alias("read_start")
    )
    before, before_start = name.shift(1).over(user), start.shift(1).over(user)
    after, after_start = name.shift(-1).over(user), start.shift(-1).over(user)
    # Read-ahead that a marked page triggers fetches pages after that of the fault.
    fetched = after.is_in([ADD, _ORDER, _UNBOUNDED]) & (after_start <= start)
    cause = pl.when(~name.is_in([ADD, DELETE])).then(name.is_in(AHEAD))
    rows = rows.join(lookups, on="row", how="left", maintain_order="left").with_columns(
        ((name == FAULT) & fetched).fill_null(value=False).alias("demand"),
        ((name == SYNC) & (before == FAULT) & (before_start == start))
        .fill_null(value=False)
        .alias("of_fault"),
        cause.forward_fill().over(user).fill_null(value=False).alias("ahead"),
        pl.when(name == LOOKUP).then(end).backward_fill().over(user).alias("read_end"),
        pl.col("read_start").backward_fill().over(user),
        pl.when(name == ADD).then(end).forward_fill().over("file").alias("added_end"),
    )
    prev_pos, read_start = pl.col("prev_pos"), pl.col("read_start")
    own = (read_start <= start) & (start < pl.col("read_end"))
    origin = pl.when(own).then(read_start).otherwise(start)
    by_read = (
        (origin == 0)
        | ((origin - prev_pos).abs() < page)
        # Mappings do not change prev_pos: for them only the mark is known.
        | ((name == ASYNC) & (prev_pos < 0))
    )
    by_fault = (start == 0) | (start == pl.col("added_end"))
    goes_on = pl.when(pl.col("demand") | pl.col("of_fault")).then(by_fault).otherwise(by_read)
    return rows.with_columns(goes_on.fill_null(value=False).alias("goes_on"))


def _known_columns() -> list[pl.Expr]:
    """Set columns without events in the log to null, and compute those that depend on others."""
    uses, ahead = pl.col("has_uses"), pl.col("has_ahead")
    add, delete = pl.col("has_add"), pl.col("has_delete")
    lookups, fetches = pl.col("lookups"), pl.col("fetches")
    # Faults show by themselves that they fetched pages; reads need the events of read-ahead.
    known = ahead | (uses & (lookups == 0))
    share = pl.when(known & (fetches > 0)).then(pl.col("streaming") / fetches)
    used = pl.sum_horizontal("lookups", "faults", "mapped_pages") > 0
    nothing = (fetches == 0) & (ahead | (add & (pl.col("added_bytes") == 0)))
    verdict = (
        pl.when(used & nothing)
        .then(pl.lit("cached"))
        # One fetch is no pattern: it follows no other.
        .when(fetches < FEW)
        .then(None)
        .when(share >= STREAMING)
        .then(pl.lit("streaming"))
        .when(share <= RANDOM)
        .then(pl.lit("random"))
        .when(share.is_not_null())
        .then(pl.lit("mixed"))
    )
    need = {
        "lookups": uses,
        "misses": ahead,
        "readahead_sync": ahead,
        "readahead_async": ahead,
        "readahead_bytes": ahead & add,
        "added_bytes": add,
        "removed_bytes": delete,
        "faults": uses,
        "mapped_pages": uses,
        "random_misses": ahead,
    }
    return [
        *(pl.when(known).then(pl.col(column)).alias(column) for column, known in need.items()),
        pl.when(ahead & (lookups > 0)).then(pl.col("misses") / lookups).alias("miss_share"),
        share.alias("streaming_share"),
        verdict.alias("verdict"),
        pl.lit(None, pl.String).alias("path"),
    ]
