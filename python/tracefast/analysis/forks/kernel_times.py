"""What joined events show of starting a process: times without strace."""

from typing import Final

import polars as pl

from tracefast._polars.given_events import Events
from tracefast.analysis.kernel_times import calls_of, has_columns, with_times_of_calls

SCHEMA: Final = pl.Schema({"call_kernel_ns": pl.Int64, "exec_kernel_ns": pl.Int64})
_EXECS: Final = ("execve", "execveat")
_TRACER: Final = ("tracer_low_ns", "tracer_high_ns")


def with_kernel_times(table: pl.LazyFrame, events: Events, question: str) -> pl.LazyFrame:
    """Add `call_kernel_ns` and `exec_kernel_ns` to rows of `forks`, if the events have them.

    Bounds of strace's share are then at least what was measured.

    Parameters
    ----------
    table
        The rows.
    events
        The events that they are made from.
    question
        Name of the function that was called, for messages.
    """
    if not has_columns(events, ("kernel_ns",)):
        return table
    # The execve that succeeded is the first one of the task.
    execs = (
        calls_of(events, ("source", "task", "name", "ret", "line"), question)
        .filter(pl.col("name").cast(pl.String).is_in(_EXECS), pl.col("ret") == 0)
        .sort("line")
        .group_by("source", pl.col("task").alias("child_task"))
        .agg(pl.col("kernel_ns").first().alias("exec_kernel_ns"))
    )
    whole = pl.when(pl.col("restarts").fill_null(0) == 0)
    call, execve = (
        (pl.col(f"{name}_ns") - pl.col(f"{name}_kernel_ns")).clip(0) for name in ("call", "exec")
    )
    measured = pl.when(call.is_not_null() | execve.is_not_null()).then(
        call.fill_null(0) + execve.fill_null(0)
    )
    return (
        with_times_of_calls(table, events, {"call_kernel_ns": "kernel_ns"}, question)
        .join(execs, on=["source", "child_task"], how="left", maintain_order="left")
        .with_columns(whole.then("call_kernel_ns").alias("call_kernel_ns"))
        .with_columns(pl.max_horizontal(name, measured).alias(name) for name in _TRACER)
    )
