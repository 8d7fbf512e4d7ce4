"""Names of files by device and inode: what calls of strace read, and ftrace's page cache shows."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import polars as pl

from tracefast._polars.given_events import Events
from tracefast.analysis.files.inode_map import SCHEMA
from tracefast.analysis.files.page_cache import ADD, LOOKUP
from tracefast.analysis.join.calls import calls_of, check_calls
from tracefast.analysis.join.kernel import in_calls, kernel_events, scheduler_events
from tracefast.analysis.join.matching import matched
from tracefast.analysis.join.rows import Rows
from tracefast.analysis.join.windows import FtraceLog, Window

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
    with TemporaryDirectory(prefix="tracefast-join-") as name:
        folder = Path(name)
        strace = Rows(calls_of(strace_events, more=_MORE), folder / "strace.parquet")
        calls = Rows(calls_of(ftrace_events), folder / "ftrace.parquet")
        check_calls(strace, calls)
        pairs = matched(strace, calls, folder, more=_MORE).pairs
        log = kernel_events(ftrace_events, _PAGE, "tracefast.blocks")
        pages = log.filter(pl.col("name").is_in((LOOKUP, ADD)))
        nothing = scheduler_events(ftrace_events, "tracefast.blocks").limit(0)
        ftrace = FtraceLog(
            calls,
            Rows(pages, folder / "log.parquet"),
            Rows(nothing, folder / "scheduled.parquet"),
        )
        named = [_named(window, pairs) for window in ftrace.windows()]
    return (
        pl.concat(named)
        .group_by("dev", "ino", "path")
        .agg(pl.col("len").sum())
        .sort("len", "path", descending=[True, False])
        .unique(("dev", "ino"), keep="first", maintain_order=True)
        .select(list(SCHEMA))
    )


def _named(window: Window, pairs: Rows) -> pl.DataFrame:
    """Count how often calls of a part of the log asked for pages of a file by a path."""
    read = (
        pairs.between("frow", window.first, window.end)
        .filter(pl.col("fd").is_not_null(), pl.col("bytes") >= 0)
        .drop_nulls("path")
    )
    return (
        in_calls(window.log, window.calls)
        .drop_nulls(("call", "dev", "ino"))
        # A call that asked for pages of several files does not say which is its own.
        .filter(pl.struct("dev", "ino").n_unique().over("call") == 1)
        .join(read.select(pl.col("frow").alias("call"), "path"), on="call")
        .group_by(pl.col("dev").cast(pl.String), "ino", "path")
        .len()
    )
