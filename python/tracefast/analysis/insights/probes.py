"""Programs that look for another one to run in their place, as env does for `#!/usr/bin/env`."""

from collections.abc import Iterator
from typing import Any, Final

import polars as pl

from tracefast.analysis.forks.advice.path_probes import LEAST, LEAST_EACH, probing
from tracefast.analysis.insights.finding import Finding, Severity, Weight
from tracefast.analysis.insights.lines import MOST
from tracefast.analysis.insights.log import Log
from tracefast.quantities import Range

_EXECS: Final = ("execve", "execveat")
_NOT_THERE: Final = ("ENOENT", "ENOTDIR", "EACCES")


def probes_after_exec(log: Log) -> Iterator[Finding]:
    """Find processes that have executed a program, which then tries several paths for the next.

    The advice about started processes knows what a child tries before its first program.
    """
    execs = log.syscalls.filter(pl.col("name").is_in(_EXECS))
    # Of children of which the log shows the fork, those before their first program.
    known = int(log.forks["exec_failed"].sum())
    if int(execs["errors"].sum()) - known < LEAST:
        return
    for row in _probed(log).iter_rows(named=True):
        time = log.time(int(row["took"]), row["failed"], _EXECS)
        # Without times it is low, as of children.
        weight = log.weight(time) if log.wall_ns else Weight(Severity.LOW, 0.0)
        if weight is not None:
            yield _finding(row, time, weight)


def _finding(row: dict[str, Any], time: Range, weight: Weight) -> Finding:
    lines = [line for line in row["lines"] if line is not None]
    first = f"line {lines[0]}" if lines else "an unknown line"
    advice = probing(row["failed"], int(row["each"]), time, row["image"], first)
    by = row["running"] or "?"
    return Finding(
        weight=weight,
        title=advice.what,
        evidence=advice.evidence,
        numbers={
            "processes": row["processes"],
            **advice.numbers,
            "touched_low_ns": time.low,
            "touched_high_ns": time.high,
        },
        object=by if row["image"] is None else f"{by} \N{RIGHTWARDS ARROW} {row['image']}",
        lines=lines[:MOST],
        advice=advice.remedy,
    )


def _probed(log: Log) -> pl.DataFrame:
    """Sum up the failed calls between two programs of a process, by both of them."""
    name, errno = (pl.col(each).cast(pl.String) for each in ("name", "errno"))
    done = pl.col("errno").is_null() & (pl.col("ret") == 0)
    program = pl.when(done).then("path")
    calls = (
        log.events.filter(pl.col("kind").cast(pl.String) == "syscall", name.is_in(_EXECS))
        .select("task", "line", "path", "ret", "dur_ns", errno.alias("errno"))
        .collect()
        .with_columns(
            done.fill_null(value=False).cum_sum().over("task").alias("programs"),
            program.forward_fill().over("task").alias("running"),
            program.backward_fill().over("task").alias("image"),
        )
    )
    return (
        calls.filter(pl.col("programs") > 0, pl.col("errno").is_in(_NOT_THERE))
        .group_by("task", "programs", "running", "image", maintain_order=True)
        .agg(pl.len().alias("failed"), pl.col("dur_ns").sum(), pl.col("line"))
        .group_by("running", "image", maintain_order=True)
        .agg(
            pl.col("task").n_unique().alias("processes"),
            pl.col("failed").sum().cast(pl.Int64),
            pl.col("failed").quantile(0.5, "lower").alias("each"),
            pl.col("dur_ns").sum().alias("took"),
            pl.col("line").explode().alias("lines"),
        )
        .filter(pl.col("failed") >= LEAST, pl.col("each") >= LEAST_EACH)
        .sort("took", "failed", descending=True, maintain_order=True)
    )
