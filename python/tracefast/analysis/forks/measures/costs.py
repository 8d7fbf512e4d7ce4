"""The part of the time in a new process that depends on how it was started."""

from typing import Final

import polars as pl

from tracefast.analysis.forks.measures import intervals

# A new process by vfork or posix_spawn costs its parent about this much, whatever the parent's
# memory, where nothing traces it: 70 to 140 microseconds were measured on one machine.
VFORK_NS: Final = 100_000

# The parent waits until the child has executed its program.
SUSPENDING: Final = ("vfork", "posix_spawn")

# Parents count as the smallest up to this much above the very smallest.
_SMALLEST: Final = 1.1


def with_costs(rows: pl.DataFrame) -> pl.DataFrame:
    """Add columns to the rows of `forks` from which their costs are computed.

    Added are, in nanoseconds: `begin`, `call_end`, `child_begin`, `exec_begin`, `exec_end` and
    `child_end`, moments on the log's clock; `exec_base_ns`, what the execve would have taken
    without memory to tear down; `wall_ns`, how long the log is.

    The base is the median of the children of vfork and posix_spawn that executed the same program;
    else that of the smallest parents, if the largest has twice their memory; else the fastest
    execve of the log.
    """
    moment = pl.col("ts").cast(pl.Int64)
    suspends = pl.col("kind").is_in(SUSPENDING)
    begun = pl.coalesce(
        pl.col("child_start").cast(pl.Int64),
        # Without events, nothing is known but what follows from the kind.
        pl.when(suspends.fill_null(value=False)).then(moment).otherwise(moment + pl.col("call_ns")),
        moment,
    )
    timed = (
        rows.with_columns(moment.alias("begin"), begun.alias("child_begin"))
        .with_columns(
            (pl.col("begin") + pl.col("call_ns")).alias("call_end"),
            (pl.col("child_begin") + pl.col("exec_gap_ns")).alias("exec_begin"),
            (pl.col("child_begin") + pl.col("lifetime_ns")).alias("child_end"),
        )
        .with_columns((pl.col("exec_begin") + pl.col("exec_ns")).alias("exec_end"))
    )
    ends = [pl.col(name).max() for name in ("begin", "call_end", "exec_end", "child_end")]
    wall = pl.coalesce(pl.col("log_ns").max(), pl.max_horizontal(ends) - pl.col("begin").min())
    walls = timed.group_by("source").agg(wall.alias("wall_ns"))
    # A join copies all columns, so the keys are joined alone.
    found = rows.select("source", "image")
    for more, key in ((walls, ["source"]), (_exec_bases(rows), ["source", "image"])):
        found = found.join(more, on=key, how="left", nulls_equal=True, maintain_order="left")
    return pl.concat([timed, found.select("wall_ns", "exec_base_ns")], how="horizontal")


def _exec_bases(rows: pl.DataFrame) -> pl.DataFrame:
    """Give `exec_base_ns` per `source` and `image`."""
    key = ["source", "image"]
    # A filter copies all columns.
    rows = rows.select(*key, "kind", "exec_ns", "parent_anon_bytes", "log_exec_ns")
    executed = rows.filter(pl.col("exec_ns").is_not_null())
    taken, anon = pl.col("exec_ns"), pl.col("parent_anon_bytes")
    cheap = taken.filter(pl.col("kind").is_in(SUSPENDING))
    smallest = taken.filter(anon <= _SMALLEST * anon.min())
    medians = executed.group_by(key).agg(
        _median(cheap).alias("a"),
        pl.when(anon.max() >= 2 * anon.min()).then(_median(smallest)).alias("b"),
    )
    fastest = pl.min_horizontal(pl.col("log_exec_ns").min(), pl.col("exec_ns").min())
    logs = rows.group_by("source").agg(fastest.alias("c"))
    return medians.join(logs, on="source", how="left", nulls_equal=True).select(
        *key, pl.coalesce("a", "b", "c").alias("exec_base_ns")
    )


def _median(values: pl.Expr) -> pl.Expr:
    """Give the median, the lower of two if there are two; null if there are no values."""
    # Quantiles of polars are floating-point numbers.
    ordered = values.sort()
    return ordered.get((ordered.len().cast(pl.Int64) - 1) // 2, null_on_oob=True)


def busy(rows: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    """Measure how long at least one process was being started: in the call, or in its execve.

    The execve of a child of vfork is inside of the call of its parent.

    Parameters
    ----------
    rows
        The rows of `with_costs`.
    by
        Columns to group by.

    Returns
    -------
    polars.DataFrame
        The columns of `by`, and `covered`.
    """
    return intervals.covered(pl.concat([call_spans(rows, by), exec_spans(rows, by)]), by)


def call_spans(rows: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    """Give the spans that parents spent in the creating call."""
    return rows.select(*by, pl.col("begin").alias("start"), pl.col("call_end").alias("end"))


def exec_spans(rows: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    """Give the spans that children of fork spent in their execve."""
    return rows.filter(pl.col("kind") == "fork").select(
        *by, pl.col("exec_begin").alias("start"), pl.col("exec_end").alias("end")
    )
