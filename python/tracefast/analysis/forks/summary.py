"""What starting processes costs: one row per parent program, kind of start, and program."""

from typing import Final, NamedTuple

import polars as pl

from tracefast._polars.declared_schema import declared_schema
from tracefast._polars.given_events import Events
from tracefast._polars.map_rows import map_rows
from tracefast.analysis.forks.advice.case import Advice, Case
from tracefast.analysis.forks.advice.rules import advise
from tracefast.analysis.forks.evidence import fork_rows
from tracefast.analysis.forks.measures import intervals
from tracefast.analysis.forks.measures.costs import SUSPENDING, VFORK_NS, busy, with_costs
from tracefast.analysis.forks.measures.slopes import Slope, theil_sen

KEYS: Final = ["source", "parent_image", "kind", "image"]
# The times of a row that are summed up, with their unit left out.
PHASES: Final = ("call", "exec_gap", "exec", "startup", "error_pipe", "lifetime")
# When each of these began and ended.
SPANS: Final = ("begin", "call_end", "exec_begin", "exec_end", "child_end")
_MIB: Final = 1 << 20

SCHEMA: Final = declared_schema("fork_summary")
ADVICE_SCHEMA: Final = declared_schema("fork_advice")


def fork_summary(events: Events, *, threads: bool = False) -> pl.LazyFrame:
    """Sum up what starting processes cost: one row per parent program, kind, and program.

    Parameters
    ----------
    events
        The events of a log, of Parquet files, or a part of them; or rows of `tracefast.forks`.
        Rows have less information than events: not all causes, and not the length of the log.
    threads
        Include the creation of threads.

    Returns
    -------
    polars.LazyFrame
        Largest `tax_ns` first. Null means that the log cannot say. Times are nanoseconds, as the
        log has them: bounds of the tracer's share are in the rows of `tracefast.forks`. Percentiles
        are exact, nearest rank.

        `source` : String
            The log.
        `parent_image`, `kind`, `image` : String
            The program that started others; how (``fork``, ``vfork``, ``posix_spawn``, ``shared``,
            ``thread``); what they executed, null if nothing.
        `count`, `failed` : UInt32
            Tasks that were started; calls that failed.
        `rate_per_s` : Float64, in 1/s
            How many per second, from the first call to the last; null for a single one.
        `in_flight_max` : UInt32
            The largest number that were alive at the same time. A task whose end is not in the log
            counts as alive until the end.
        `call_sum_ns`, `call_p50_ns`, `call_p95_ns` : Int64
            Time in the call that creates the task: sum, median, 95th percentile.
        `exec_gap_sum_ns`, `exec_gap_p50_ns`, `exec_gap_p95_ns` : Int64
            From the start of the child to its execve.
        `exec_sum_ns`, `exec_p50_ns`, `exec_p95_ns` : Int64
            Time in that execve.
        `startup_sum_ns`, `startup_p50_ns`, `startup_p95_ns` : Int64
            Dynamic linking.
        `error_pipe_sum_ns`, `error_pipe_p50_ns`, `error_pipe_p95_ns` : Int64
            Time that the parent waits on the pipe that reports a failed execve.
        `lifetime_sum_ns`, `lifetime_p50_ns`, `lifetime_p95_ns` : Int64
            From the start of the child to its exit.
        `tax_ns` : Int64
            What this way of starting them costs: the time in the call and, for `kind` ``fork``, the
            time in execve beyond what it takes without copied page tables to free. That base is the
            median of the children of vfork and posix_spawn that executed the same program;
            otherwise the median of the children of the smallest parents (up to 10 % above the
            smallest), if the largest has at least twice their memory; otherwise the fastest execve
            in the log.
        `wall_share` : Float64
            The part of the log's time during which at least one of them was in the call or, after
            fork, in execve.
        `parent_anon_min_bytes`, `parent_anon_max_bytes` : Int64
            Private writable memory of the parents, smallest and largest.
        `slope_ns_per_mib` : Float64, in ns/MiB
            How much longer the call takes for each MiB of that memory: the median of the slopes of
            all pairs (Theil-Sen). Null unless the memory varies at least twofold, and for fewer
            than three calls.
        `slope_r2` : Float64
            The squared correlation.
        `slope_points` : UInt32
            Calls that the slope is computed from: all, or 1,500 evenly chosen ones if there are
            more.
        `saving_ns` : Int64
            The part of `tax_ns` that vfork or posix_spawn would save, at 0.1 ms per process, which
            is about what vfork takes when nothing traces it; 0 for vfork and posix_spawn; null
            where no program was executed.
        `advice` : String
            Codes of the advice in `tracefast.fork_advice`, separated by blanks.

    Raises
    ------
    polars.exceptions.ColumnNotFoundError
        The events, or the rows, lack a column that is needed.

    Examples
    --------
    >>> import tracefast as tf
    >>> table = tf.fork_summary(tf.scan("demo.strace")).collect()
    >>> table.select("kind", "image", "count", "call_p50_ns", "saving_ns").rows()
    [('vfork', '/bin/true', 1, 300000, 0)]
    """
    return map_rows(fork_rows(events), lambda rows: report(rows, threads=threads).summary, SCHEMA)


def fork_advice(events: Events) -> pl.LazyFrame:
    """Say what makes starting processes expensive or dangerous, with evidence and a remedy.

    Parameters
    ----------
    events
        The events of a log, of Parquet files, or a part of them; or rows of `tracefast.forks`,
        which do not show all causes.

    Returns
    -------
    polars.LazyFrame
        In the order of `tracefast.fork_summary`.

        `source`, `parent_image`, `kind`, `image` : String
            The row of `tracefast.fork_summary` that the advice is about.
        `code` : String
            Name of the advice, such as ``page-table-copy``.
        `what` : String
            What was found.
        `evidence` : String
            What in the log shows it, with numbers.
        `remedy` : String
            What to do.
        `saving_low_ns`, `saving_high_ns` : Int64
            Time that it would save, at least and at most; null if the advice is not about time, or
            the saving is not known. The lower bound leaves out what the tracer itself may have
            taken.

    Raises
    ------
    polars.exceptions.ColumnNotFoundError
        The events, or the rows, lack a column that is needed.

    Examples
    --------
    >>> import tracefast as tf
    >>> tf.fork_advice(tf.scan("demo.strace")).collect().height
    0
    """
    rows = fork_rows(events, "tracefast.fork_advice")
    return map_rows(rows, lambda rows: _advice_table(report(rows)), ADVICE_SCHEMA)


class Report(NamedTuple):
    """The summary of the rows of `forks`, and what it was made of."""

    summary: pl.DataFrame
    """One row per group: `SCHEMA`."""
    cases: list[Case]
    """The groups with their rows, in the same order."""
    advice: list[list[Advice]]
    """What the rules say about each of them."""


def report(rows: pl.DataFrame, *, threads: bool = False) -> Report:
    """Sum up the rows of `fork_rows`, and ask the rules for advice."""
    if not threads:
        rows = rows.filter(pl.col("kind").ne_missing("thread"))
    rows = with_costs(rows)
    table = _with_slopes(_summary(rows), rows)
    cases = [
        Case(summary, rows, indices)
        for summary, indices in zip(
            table.drop("rows").iter_rows(named=True), table["rows"], strict=True
        )
    ]
    said = [advise(case) for case in cases]
    codes = pl.Series([" ".join(each.code for each in advice) for advice in said], dtype=pl.String)
    summary = table.with_columns(codes.alias("advice")).select(
        pl.col(name).cast(dtype) for name, dtype in SCHEMA.items()
    )
    return Report(summary, cases, said)


def _summary(rows: pl.DataFrame) -> pl.DataFrame:
    """Give one row per group, without slopes and advice; `rows` has the numbers of its rows."""
    started = pl.col("errno").is_null()
    seconds = (pl.col("begin").max() - pl.col("begin").min()) / 1e9
    forked = pl.col("kind") == "fork"
    beyond = (pl.col("exec_ns") - pl.col("exec_base_ns")).filter(forked).sum().clip(0)
    table = (
        rows.with_row_index("row")
        .group_by(KEYS, maintain_order=True)
        .agg(
            pl.col("row").alias("rows"),
            started.sum().alias("count"),
            (~started).sum().alias("failed"),
            pl.when((pl.len() > 1) & (seconds > 0))
            .then((pl.len() - 1) / seconds)
            .alias("rate_per_s"),
            *(each for phase in PHASES for each in _figures(phase)),
            _sum("call_ns").add(beyond).alias("tax_ns"),
            pl.col("wall_ns").first(),
            pl.col("parent_anon_bytes").min().alias("parent_anon_min_bytes"),
            pl.col("parent_anon_bytes").max().alias("parent_anon_max_bytes"),
            _sum("tracer_low_ns").alias("tracer_low_ns"),
            _sum("tracer_high_ns").alias("tracer_high_ns"),
        )
    )
    table = table.with_row_index("group")
    # Numbers are grouped far more quickly than four texts.
    groups = table.select("group", "rows").explode("rows").sort("rows")["group"]
    numbered = rows.select("kind", "errno", *SPANS).with_columns(groups)
    life = numbered.filter(started).select(
        "group", pl.col("begin").alias("start"), pl.col("child_end").alias("end")
    )
    most, covered = intervals.most_at_once(life, ["group"]), busy(numbered, ["group"])
    saving = (pl.col("tax_ns") - pl.col("count").cast(pl.Int64) * VFORK_NS).clip(0)
    return (
        _joined(_joined(table, most.rename({"most": "in_flight_max"})), covered)
        .drop("group")
        .with_columns(
            pl.when(pl.col("wall_ns") > 0)
            .then((pl.col("covered") / pl.col("wall_ns")).clip(0, 1))
            .alias("wall_share"),
            pl.when(pl.col("kind").is_in(SUSPENDING))
            .then(0)
            .when(forked & pl.col("image").is_not_null())
            .then(saving)
            .alias("saving_ns"),
        )
        .sort("tax_ns", "count", descending=True, nulls_last=True, maintain_order=True)
    )


def _joined(table: pl.DataFrame, more: pl.DataFrame) -> pl.DataFrame:
    return table.join(more, on="group", how="left", maintain_order="left")


def _sum(name: str) -> pl.Expr:
    """Sum up what is known; null if nothing is."""
    return pl.when(pl.col(name).count() > 0).then(pl.col(name).sum())


def _figures(phase: str) -> list[pl.Expr]:
    name = f"{phase}_ns"
    return [
        _sum(name).alias(f"{phase}_sum_ns"),
        nearest_rank(name, 50).alias(f"{phase}_p50_ns"),
        nearest_rank(name, 95).alias(f"{phase}_p95_ns"),
    ]


def nearest_rank(name: str, percent: int) -> pl.Expr:
    """Give a percentile of a column, nearest rank: a value that occurs; null if there is none.

    Examples
    --------
    >>> pl.DataFrame({"a": [4, None, 1, 3, 2]}).select(nearest_rank("a", 50)).item()
    2
    """
    known = pl.col(name).drop_nulls().sort()
    rank = (pl.col(name).count().cast(pl.Int64) * percent + 99) // 100
    return known.get(rank - 1, null_on_oob=True)


def _with_slopes(table: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """Add how the call's time grows with the parent's memory, where that varies enough."""
    found: list[Slope | None] = []
    varies = (pl.col("max") > pl.col("min")) & (pl.col("max") >= 2 * pl.col("min"))
    limits = table.select(
        pl.col("parent_anon_min_bytes").alias("min"),
        pl.col("parent_anon_max_bytes").alias("max"),
        "rows",
    ).select(varies.fill_null(value=False).alias("varies"), "rows")
    memory, calls = rows["parent_anon_bytes"] / _MIB, rows["call_ns"]
    for wanted, indices in limits.iter_rows():
        found.append(
            theil_sen(*(of.gather(indices).to_list() for of in (memory, calls))) if wanted else None
        )
    return table.with_columns(
        # What rules compute with is of the types that the summary has.
        *(pl.col(name).cast(dtype) for name, dtype in SCHEMA.items() if name in table.columns),
        pl.Series("slope_ns_per_mib", [s and s.slope for s in found], dtype=pl.Float64),
        pl.Series("slope_r2", [s and s.r2 for s in found], dtype=pl.Float64),
        pl.Series("slope_points", [s and s.points for s in found], dtype=pl.UInt32),
    )


def _advice_table(found: Report) -> pl.DataFrame:
    return pl.DataFrame(
        [
            {
                **{name: case.summary[name] for name in KEYS},
                "code": each.code,
                "what": each.what,
                "evidence": each.evidence,
                "remedy": each.remedy,
                "saving_low_ns": each.saving and each.saving.low,
                "saving_high_ns": each.saving and each.saving.high,
            }
            for case, advice in zip(found.cases, found.advice, strict=True)
            for each in advice
        ],
        schema=ADVICE_SCHEMA,
    )
