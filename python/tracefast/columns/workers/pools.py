"""The columns of `pools`."""

from typing import Final

from tracefast.columns.column_group import columns

COLUMNS: Final = (
    columns("source", "String", "The log."),
    columns("pool", "UInt32", "Number of the pool, from 0 in each log, in order of their start."),
    columns("method", "String", "How its workers were started, as in `tracefast.workers`."),
    columns("image", "String", "The program that they ran; of several the most common one."),
    columns("parent_pid", "Int32", "The process that made them."),
    columns("workers", "UInt32", "Workers, in all rounds."),
    columns("rounds", "UInt32", "Rounds of work."),
    columns(
        "start_sum_ns start_p50_ns",
        "Int64",
        "`start_ns` of `tracefast.workers`: the sum, which may be longer than the log, as workers"
        " start at the same time; and the median.",
    ),
    columns(
        "busy_share wait_share",
        "Float64",
        "Shares of the time of all workers: `busy_ns` and `wait_ns` of `tracefast.workers`.",
    ),
    columns(
        "imbalance",
        "Float64",
        "`busy_ns` of the busiest worker divided by their median, of the least even round.",
    ),
    columns("read_bytes", "Int64", "Bytes that they read from files."),
    columns(
        "read_shared_bytes",
        "Int64",
        "Bytes that were read again: the sum of the distinct bytes that each worker read, minus the"
        " distinct bytes that all of them read together, as in `tracefast.files`.",
    ),
    columns(
        "saving_low_ns saving_high_ns",
        "Int64",
        "What `saving_method` would save of `start_sum_ns`: at least the time that the fastest"
        " worker took from one call on a module to the next, with nothing between, for all but one"
        " of them; at most all of it, but for the calls that create the workers. What the server"
        " itself takes to import them is not in it. Null if nobody can say.",
    ),
    columns(
        "saving_method",
        "String",
        "What would save it: ``forkserver-preload`` (method ``forkserver``, and"
        " ``set_forkserver_preload`` for what all import), or ``preload`` (the latter alone).",
    ),
)
