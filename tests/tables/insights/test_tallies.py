"""Sums over all rows of a log are those that polars gives."""

import polars as pl
import pytest

import tracefast as tf
from support.paths import DATA
from tracefast import _core
from tracefast._polars.folds import fold_together, rows_of_fold

LOGS = [
    *(DATA / name for name in ("flow/gcc.strace.zst", "golden/strace-mixed.log")),
    *sorted((DATA / "stalls").glob("*.strace*"))[:4],
    *sorted((DATA / "ftrace").glob("*.ftrace*"))[:4],
    *sorted((DATA / "golden").glob("strace*.log"))[:20],
    *sorted((DATA / "golden").glob("ftrace*.log"))[:20],
]
WORDS = ("source", "kind", "name", "errno")


@pytest.fixture(params=[log for log in LOGS if log.exists()], ids=lambda log: log.name)
def events(request):
    return tf.scan(request.param)


def tallied(events, fold) -> pl.DataFrame:
    passing = fold_together(events, [fold], question="tallies")
    while True:
        try:
            next(passing)
        except StopIteration as end:
            return rows_of_fold(end.value[0])


def same(found: pl.DataFrame, wanted: pl.LazyFrame, keys: list[str]) -> None:
    rows = wanted.collect().select(found.columns).cast(dict(found.schema))
    assert found.sort(keys).rows() == rows.sort(keys).rows()


def test_rows_by_task_and_kind(events):
    keys = ["source", "task", "kind"]
    end = pl.col("ts") + pl.duration(nanoseconds=pl.col("dur_ns").fill_null(0))
    wanted = (
        events.with_columns(pl.col(WORDS).cast(pl.String))
        .group_by(keys)
        .agg(
            pl.col("pid").last(ignore_nulls=True),
            pl.len().alias("rows"),
            pl.col("cpu").count().alias("with_cpu"),
            pl.col("tid").count().alias("with_tid"),
            pl.col("ts").count().alias("timed"),
            (pl.col("ts").cast(pl.Int64) % 1_000_000_000 == 0).sum().alias("whole_seconds"),
            pl.col("ts").min().alias("first"),
            pl.col("ts").max().alias("last"),
            end.max().alias("end"),
            pl.col("line").min(),
        )
    )
    same(tallied(events, _core.TaskTally), wanted, keys)


def test_calls_by_name_and_file(events):
    keys = ["source", "name", "file"]
    failed = pl.col("errno").is_not_null()
    wanted = (
        events.with_columns(pl.col(WORDS).cast(pl.String))
        .filter(pl.col("kind") == "syscall")
        .group_by(keys)
        .agg(
            pl.len().alias("calls"),
            failed.sum().alias("errors"),
            pl.col("dur_ns").sum(),
            pl.col("dur_ns").filter(failed).sum().alias("error_ns"),
            pl.col("bytes").sum(),
            pl.col("line").min(),
        )
    )
    same(tallied(events, _core.FileTally), wanted, keys)


def test_calls_that_ask_and_get_nothing(events):
    keys = ["source", "task", "name"]
    name, takes = pl.col("name"), ("reads", "receives")
    takers = [*(call for does in takes for call in _core.syscalls_that(does)), "accept4"]
    empty = name.is_in(_core.syscalls_that("polls")) & (pl.col("ret") == 0)
    asks = (
        (empty & (pl.col("dur_ns") < 1_000_000))
        | (name.is_in(takers) & (pl.col("errno") == "EAGAIN"))
        | (name == "sched_yield")
    )
    wanted = (
        events.with_columns(pl.col(WORDS).cast(pl.String))
        .filter(pl.col("kind") == "syscall", asks)
        .group_by(keys)
        .agg(
            pl.len().alias("polls"),
            pl.col("ts").min().alias("first"),
            pl.col("ts").max().alias("last"),
            pl.col("line").min(),
        )
    )
    same(tallied(events, _core.PollTally), wanted, keys)


def test_calls_by_step_size_and_duration(events):
    start = events.select(pl.col("ts").min().cast(pl.Int64)).collect().item() or 0
    source = events.select(pl.col("source").cast(pl.String).first()).collect().item()
    step_ns, steps = 1_000_000, 50
    found = tallied(
        events, lambda: _core.ActivityTally({source: start}, step_ns=step_ns, steps=steps)
    )
    copies = _core.syscalls_that("transfers")
    reads = [*_core.syscalls_that("reads"), *_core.syscalls_that("receives"), *copies]
    writes = [*_core.syscalls_that("writes"), *_core.syscalls_that("sends"), *copies]
    starts = [*_core.syscalls_that("forks"), *_core.syscalls_that("execs")]
    called, name = pl.col("kind") == "syscall", pl.col("name")
    bits = 64 - pl.col("value").bitwise_leading_zeros()
    rows = (
        events.with_columns(pl.col(*WORDS, "status").cast(pl.String))
        .filter(pl.col("kind").is_in(["syscall", "aio"]), name.is_not_null())
        .with_columns(
            step=((pl.col("ts").cast(pl.Int64) - start) // step_ns).clip(0, steps - 1),
            calls=called.cast(pl.Int64),
            ns=pl.when(called).then("dur_ns"),
            moved=pl.when(pl.col("status").ne_missing("injected")).then("bytes"),
        )
        .with_columns(
            read_bytes=pl.when(name.is_in(reads)).then("moved"),
            write_bytes=pl.when(name.is_in(writes)).then("moved"),
        )
    )

    def by_bits(value, column):
        known = rows.with_columns(value=value, calls=pl.lit(1)).filter(pl.col("value") >= 0)
        return known.with_columns(bits.alias(column))

    for by, keys, part in [
        ("task", ["task", "step"], rows),
        ("name", ["name", "step"], rows),
        ("start", ["task", "name"], rows.filter(name.is_in(starts))),
        ("duration", ["name", "ns_bits"], by_bits("ns", "ns_bits")),
        (
            "size",
            ["name", "bytes_bits"],
            by_bits(pl.coalesce("read_bytes", "write_bytes"), "bytes_bits"),
        ),
    ]:
        sums = pl.col("calls", "ns", "read_bytes", "write_bytes").sum()
        wanted = part.group_by("source", *keys).agg(sums)
        columns = ["source", *keys, "calls", "ns", "read_bytes", "write_bytes"]
        same(found.filter(pl.col("by") == by).select(columns), wanted, ["source", *keys])
