"""Names of files by device and inode: what calls of strace read, and ftrace's page cache shows."""

from typing import Final

import polars as pl

from tracefast._polars.given_events import Events
from tracefast.analysis.files.inode_map import SCHEMA
from tracefast.analysis.files.page_cache import ADD, LOOKUP
from tracefast.analysis.join.calls import calls_of, check_calls
from tracefast.analysis.join.kernel import in_calls, kernel_events
from tracefast.analysis.join.matching import matched

_MORE: Final = {"path": pl.String(), "fd": pl.Int32(), "bytes": pl.Int64()}
_PAGE: Final = 4096


def named_inodes(strace_events: Events, ftrace_events: Events) -> pl.DataFrame:
    """Give the paths of the files whose pages strace's calls asked for or wrote.

    Parameters
    ----------
    strace_events, ftrace_events
        The events of two logs of one run.

    Returns
    -------
    polars.DataFrame
        `dev` as ``major:minor``, `ino` and `path`, as `inode_map` of :func:`tracefast.blocks` takes
        them; the most common path of each inode.

    Raises
    ------
    Error
        The logs are not of one run.
    """
    strace, ftrace = calls_of(strace_events, more=_MORE), calls_of(ftrace_events)
    check_calls(strace, ftrace)
    pairs, _ = matched(strace, ftrace)
    log = kernel_events(ftrace_events, _PAGE, "tracefast.blocks").collect()
    read = strace.filter(pl.col("fd").is_not_null(), pl.col("bytes") >= 0).drop_nulls("path")
    return (
        in_calls(log.filter(pl.col("name").is_in((LOOKUP, ADD))), ftrace)
        .drop_nulls(("call", "dev", "ino"))
        # A call that asked for pages of several files does not say which is its own.
        .filter(pl.struct("dev", "ino").n_unique().over("call") == 1)
        .join(pairs.select(pl.col("frow").alias("call"), pl.col("row").alias("srow")), on="call")
        .join(read.select(pl.col("row").alias("srow"), "path"), on="srow")
        .group_by(pl.col("dev").cast(pl.String), "ino", "path")
        .len()
        .sort("len", "path", descending=[True, False])
        .unique(("dev", "ino"), keep="first", maintain_order=True)
        .select(list(SCHEMA))
    )
