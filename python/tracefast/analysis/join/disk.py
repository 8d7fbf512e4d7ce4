"""What the device moved for each system call."""

from bisect import bisect_right
from collections import defaultdict
from typing import Final, NamedTuple

import polars as pl

from tracefast.analysis.files.page_cache import LOOKUP
from tracefast.analysis.join.kernel import in_calls

_SCHEMA: Final = {"call": pl.UInt32, "request": pl.UInt32, "bytes": pl.Int64}


class _Brought(NamedTuple):
    """Bytes of a file that a request brought, and no call has asked for yet."""

    start: int
    end: int
    request: int


def disk_counts(
    log: pl.DataFrame, calls: pl.DataFrame, issued: pl.DataFrame, moved: pl.DataFrame
) -> pl.DataFrame:
    """Give the requests to the device, their bytes and their time, of each call.

    A byte counts once: for the first call that asked for its page after the page was requested, and
    else for the call that requested it. So read-ahead counts for the calls that used it.

    Parameters
    ----------
    log, calls
        The events and calls of ftrace; `calls` has `last`, as for `page_counts`.
    issued, moved
        The requests and what they moved, as `requests_with_files` gives them.

    Returns
    -------
    polars.DataFrame
        `call`, `disk_requests`, `disk_bytes`, `disk_ns`, of the calls that have any.
    """
    lines = log.select("row", "line")
    issuer = in_calls(issued.join(lines, on="row", how="left").select("row", "tid", "line"), calls)
    parts = moved.join(
        issued.select(pl.col("row").alias("request"), "op"), on="request", how="left"
    )
    looked = (
        in_calls(log.filter(pl.col("name") == LOOKUP), calls)
        .drop_nulls(("call", "dev", "ino"))
        .join(calls.select(pl.col("row").alias("call"), "last"), on="call", how="left")
        .select(
            "call",
            pl.col("dev").cast(pl.String),
            "ino",
            "start",
            pl.min_horizontal("end", "last").alias("end"),
        )
        .filter(pl.col("start") < pl.col("end"))
    )
    claims, left = _claims(parts, looked)
    mine = left.join(issuer.select(pl.col("row").alias("request"), "call"), on="request")
    used = pl.concat([claims, mine.drop_nulls("call").select(list(_SCHEMA))])
    times = issued.select(pl.col("row").alias("request"), "at", "done")
    each = used.group_by("call", "request").agg(pl.col("bytes").sum()).join(times, on="request")
    reached = pl.col("done").cum_max().shift(1).over("call")
    alone = (pl.col("done") - pl.max_horizontal("at", reached)).clip(0)
    return (
        each.sort("call", "at")
        .with_columns(alone.alias("alone"))
        .group_by("call")
        .agg(
            pl.len().alias("disk_requests"),
            pl.col("bytes").sum().alias("disk_bytes"),
            pl.when(pl.col("done").null_count() == 0).then(pl.col("alone").sum()).alias("disk_ns"),
        )
    )


def _claims(parts: pl.DataFrame, looked: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Give what calls asked for of what requests brought, and what no call asked for."""
    steps: list[tuple[int, int, tuple[str, int], int, int]] = []
    left: list[tuple[int, int]] = []
    for request, dev, ino, start, size, op in parts.select(
        "request", "file_dev", "ino", "start", "bytes", "op"
    ).iter_rows():
        if op == "read" and start is not None:
            steps.append((request, 0, (dev, ino), start, start + size))
        else:
            left.append((request, size))
    steps += [
        (call, 1, (dev, ino), start, end) for call, dev, ino, start, end in looked.iter_rows()
    ]
    waiting: dict[tuple[str, int], list[_Brought]] = defaultdict(list)
    claims: list[tuple[int, int, int]] = []
    # A call is at its end, after what it requested.
    for row, is_call, file, start, end in sorted(steps):
        taken = _take(waiting[file], start, end)
        if is_call:
            claims += [(row, one.request, one.end - one.start) for one in taken]
        else:
            # The pages had left the cache before anybody asked for them.
            left += [(one.request, one.end - one.start) for one in taken]
            pages = waiting[file]
            pages.insert(bisect_right(pages, (start,)), _Brought(start, end, row))
    left += [(one.request, one.end - one.start) for pages in waiting.values() for one in pages]
    return (
        pl.DataFrame(claims, schema=_SCHEMA, orient="row"),
        pl.DataFrame(left, schema={"request": pl.UInt32, "bytes": pl.Int64}, orient="row"),
    )


def _take(pages: list[_Brought], start: int, end: int) -> list[_Brought]:
    """Take a range out of a sorted list of ranges; give its parts."""
    first = bisect_right(pages, (start,))
    if first and pages[first - 1].end > start:
        first -= 1
    last = first
    taken: list[_Brought] = []
    rest: list[_Brought] = []
    while last < len(pages) and pages[last].start < end:
        one = pages[last]
        taken.append(one._replace(start=max(one.start, start), end=min(one.end, end)))
        if one.start < start:
            rest.append(one._replace(end=start))
        if one.end > end:
            rest.append(one._replace(start=end))
        last += 1
    pages[first:last] = rest
    return taken
