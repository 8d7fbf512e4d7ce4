"""One row per pool of workers: what starting them cost, how busy they were, what they read."""

from typing import Final

import polars as pl

from tracefast import _core
from tracefast._polars.given_events import Events
from tracefast.analysis.workers.table import workers_in_detail

_KEYS: Final = ("source", "pool")
# What would save most of the time of starting, by method. A fork has nothing to import.
_SAVING: Final = {"spawn": "forkserver-preload", "forkserver": "preload"}


def pools(events: Events) -> pl.LazyFrame:
    r"""Give one row per pool of workers: what starting cost, how busy they were, what they read.

    Parameters
    ----------
    events
        The events of a log or of Parquet files, in their order: all of them, as for
        `tracefast.workers`, which says what a pool is.

    Returns
    -------
    polars.LazyFrame
        In order of `source` and `pool`. Null means that the log cannot say. Columns that end in
        ``_ns`` are nanoseconds, in ``_bytes`` bytes.

        `source` : String
            The log.
        `pool` : UInt32
            Number of the pool, from 0 in each log, in order of their start.
        `method` : String
            How its workers were started, as in `tracefast.workers`.
        `image` : String
            The program that they ran; of several the most common one.
        `parent_pid` : Int32
            The process that made them.
        `workers` : UInt32
            Workers, in all rounds.
        `rounds` : UInt32
            Rounds of work.
        `start_sum_ns`, `start_p50_ns` : Int64
            `start_ns` of `tracefast.workers`: the sum, which may be longer than the log, as workers
            start at the same time; and the median.
        `busy_share`, `wait_share` : Float64
            Shares of the time of all workers: `busy_ns` and `wait_ns` of `tracefast.workers`.
        `imbalance` : Float64
            `busy_ns` of the busiest worker divided by their median, of the least even round.
        `read_bytes` : Int64
            Bytes that they read from files.
        `read_shared_bytes` : Int64
            Bytes that were read again: the sum of the distinct bytes that each worker read, minus
            the distinct bytes that all of them read together, as in `tracefast.files`.
        `saving_low_ns`, `saving_high_ns` : Int64
            What `saving_method` would save of `start_sum_ns`: at least the time that the fastest
            worker took from one call on a module to the next, with nothing between, for all but one
            of them; at most all of it, but for the calls that create the workers. What the server
            itself takes to import them is not in it. Null if nobody can say.
        `saving_method` : String
            What would save it: ``forkserver-preload`` (method ``forkserver``, and
            ``set_forkserver_preload`` for what all import), or ``preload`` (the latter alone).

    Raises
    ------
    polars.exceptions.ColumnNotFoundError
        The events lack a column that is needed.

    Examples
    --------
    A process that forks two workers, and gives each a job through a pipe:

    >>> from pathlib import Path
    >>> import tracefast as tf
    >>> log = Path("worker.strace")
    >>> _ = log.write_text(
    ...     "7 1700000000.000000 pipe2([3, 4], 0) = 0 <0.000010>\n"
    ...     "7 1700000000.001000 clone(child_stack=NULL, flags=SIGCHLD) = 8 <0.000200>\n"
    ...     "7 1700000000.002000 clone(child_stack=NULL, flags=SIGCHLD) = 9 <0.000200>\n"
    ...     '7 1700000000.003000 write(4, "ab", 2) = 2 <0.000020>\n'
    ...     '8 1700000000.004000 read(3, "a", 1) = 1 <0.000020>\n'
    ...     '9 1700000000.006000 read(3, "b", 1) = 1 <0.000020>\n'
    ...     "8 1700000000.009000 +++ exited with 0 +++\n"
    ...     "9 1700000000.009000 +++ exited with 0 +++\n"
    ... )
    >>> columns = "method", "workers", "rounds", "start_sum_ns"
    >>> tf.pools(tf.scan(log)).select(columns).collect().rows()
    [('fork', 2, 1, 7000000)]
    """
    return pools_of(workers_in_detail(events, question="tracefast.pools"))


def pools_of(workers: pl.LazyFrame) -> pl.LazyFrame:
    """Group workers, with their details, by pool."""
    busiest = workers.group_by(*_KEYS, "round").agg(
        (pl.col("busy_ns").max() / pl.col("busy_ns").median()).alias("imbalance")
    )
    imbalance = busiest.group_by(_KEYS).agg(pl.col("imbalance").max())
    started = pl.col("start_ns").is_not_null()
    # All but one of them at least could have had what one imported, and saved what that took the
    # fastest one: others may have been slow because they imported at the same time. With a server
    # that imports for all, what is left may be little more than the calls that create them.
    low = pl.col("module_ns").filter(started).min() * (started.sum().cast(pl.Int64) - 1)
    high = (pl.col("start_ns") - pl.col("made_ns").fill_null(0)).clip(0).sum()
    time = pl.col("busy_ns").sum() + pl.col("wait_ns").sum()
    method = pl.col("method").first().replace_strict(_SAVING, default=None, return_dtype=pl.String)
    # Of one start, and of workers that imported nothing, nothing can be saved.
    saves = method.is_not_null() & (started.sum() > 1) & (pl.col("modules").sum() > 0)
    table = workers.group_by(_KEYS).agg(
        pl.col("method").first(),
        pl.col("image").drop_nulls().mode(maintain_order=True).first(),
        pl.col("parent_pid").first(),
        pl.len().cast(pl.UInt32).alias("workers"),
        (pl.col("round").max() + 1).alias("rounds"),
        pl.when(started.any()).then(pl.col("start_ns").sum()).alias("start_sum_ns"),
        pl.col("start_ns").median().round().cast(pl.Int64).alias("start_p50_ns"),
        (pl.col("busy_ns").sum() / time).fill_nan(None).alias("busy_share"),
        (pl.col("wait_ns").sum() / time).fill_nan(None).alias("wait_share"),
        pl.col("read_bytes").sum(),
        pl.col("read_again_bytes").first().alias("read_shared_bytes"),
        pl.when(saves).then(pl.min_horizontal(low, high)).alias("saving_low_ns"),
        pl.when(saves).then(high).alias("saving_high_ns"),
        pl.when(saves).then(method).alias("saving_method"),
    )
    order = [
        *(*_KEYS, "method", "image", "parent_pid", "workers", "rounds", "start_sum_ns"),
        *("start_p50_ns", "busy_share", "wait_share", "imbalance", "read_bytes"),
        *("read_shared_bytes", "saving_low_ns", "saving_high_ns", "saving_method"),
    ]
    joined = table.join(imbalance, on=_KEYS, how="left", nulls_equal=True)
    return joined.select(order).sort(_KEYS)


# The columns of the table, and their types.
SCHEMA: Final = pools_of(pl.LazyFrame(schema=pl.Schema(_core.Workers().schema))).collect_schema()
