"""What the device moved for each system call."""

from bisect import bisect_right
from collections import defaultdict
from typing import Final, NamedTuple

import polars as pl

from tracefast.analysis.files.page_cache import LOOKUP
from tracefast.analysis.join.kernel import in_calls

_SCHEMA: Final = {"call": pl.UInt32, "request": pl.UInt32, "bytes": pl.Int64}
_LEFT: Final = {"request": pl.UInt32, "bytes": pl.Int64}


class _Brought(NamedTuple):
    """Bytes of a file that a request brought, and no call has asked for yet."""

    start: int
    end: int
    request: int


class DiskUse:
    """Which call each part of a request counts for.

    A byte counts once: for the first call that asked for its page after the page was requested, and
    else for the call that requested it. So read-ahead counts for the calls that used it.

    Parameters
    ----------
    issued, moved
        The requests and what they moved: `issued_requests` and `files.moved`.
    """

    def __init__(self, issued: pl.DataFrame, moved: pl.DataFrame) -> None:
        self._times = issued.select(pl.col("row").alias("request"), "at", "done")
        # A discard moves nothing, and the kernel makes it in a call of any task.
        self._parts = (
            moved.join(
                issued.select(pl.col("row").alias("request"), "op"), on="request", how="left"
            )
            .filter(pl.col("op").ne_missing("discard"))
            .sort("request", maintain_order=True)
        )
        self._waiting: dict[tuple[str, int], list[_Brought]] = defaultdict(list)
        self._claims = [pl.DataFrame(schema=_SCHEMA)]
        self._left = [pl.DataFrame(schema=_LEFT)]
        self._issuers = [pl.DataFrame(schema={"request": pl.UInt32, "call": pl.UInt32})]

    def add(self, log: pl.DataFrame, calls: pl.DataFrame, end: int) -> None:
        """Account for the next part of a log.

        Parameters
        ----------
        log, calls
            The events and calls of ftrace; `calls` has `last`, as for `page_counts`.
        end
            The row up to which requests are in this part.
        """
        inside = in_calls(log, calls).drop_nulls("call")
        requests = self._times.select(pl.col("request").alias("row"))
        self._issuers.append(
            inside.join(requests, on="row", how="semi").select(
                pl.col("row").alias("request"), "call"
            )
        )
        looked = (
            inside.filter(pl.col("name") == LOOKUP)
            .drop_nulls(("dev", "ino"))
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
        parts = self._parts.filter(pl.col("request") < end)
        self._parts = self._parts[parts.height :]
        self._claim(parts, looked)

    def _claim(self, parts: pl.DataFrame, looked: pl.DataFrame) -> None:
        """Find what calls asked for of what requests brought, and what no call can ask for."""
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
        claims: list[tuple[int, int, int]] = []
        # A call is at its end, after what it requested.
        for row, is_call, file, start, end in sorted(steps):
            taken = _take(self._waiting[file], start, end)
            if is_call:
                claims += [(row, one.request, one.end - one.start) for one in taken]
            else:
                # The pages had left the cache before anybody asked for them.
                left += [(one.request, one.end - one.start) for one in taken]
                pages = self._waiting[file]
                pages.insert(bisect_right(pages, (start,)), _Brought(start, end, row))
        self._claims.append(pl.DataFrame(claims, schema=_SCHEMA, orient="row"))
        self._left.append(pl.DataFrame(left, schema=_LEFT, orient="row"))

    def counts(self) -> pl.DataFrame:
        """Give `call`, `disk_requests`, `disk_bytes`, `disk_ns`, of the calls that have any."""
        rest = [
            (one.request, one.end - one.start) for pages in self._waiting.values() for one in pages
        ]
        left = pl.concat([*self._left, pl.DataFrame(rest, schema=_LEFT, orient="row")])
        mine = left.join(pl.concat(self._issuers), on="request").select(list(_SCHEMA))
        used = pl.concat([*self._claims, mine])
        each = used.group_by("call", "request").agg(pl.col("bytes").sum())
        reached = pl.col("done").cum_max().shift(1).over("call")
        alone = (pl.col("done") - pl.max_horizontal("at", reached)).clip(0)
        known = pl.col("done").null_count() == 0
        return (
            each.join(self._times, on="request")
            .sort("call", "at")
            .with_columns(alone.alias("alone"))
            .group_by("call")
            .agg(
                pl.len().alias("disk_requests"),
                pl.col("bytes").sum().alias("disk_bytes"),
                pl.when(known).then(pl.col("alone").sum()).alias("disk_ns"),
            )
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
