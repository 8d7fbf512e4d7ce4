"""Rules about workers and those who wait for them: one-slow-worker, starved-trainer, serial-io."""

from collections.abc import Iterator
from typing import Final

import polars as pl

from tracefast.analysis.insights.files.data import calls_on, path_of, total
from tracefast.analysis.insights.finding import Finding, Rule, Severity, Threshold
from tracefast.analysis.insights.lines import MOST
from tracefast.analysis.insights.log import FETCHES, READS, Log
from tracefast.analysis.insights.tables import Tables
from tracefast.analysis.workers.batches import batches_of
from tracefast.quantities import Range, duration, percent, plural, size

FEW_WORKERS: Final = Threshold("workers of a round", 3, "", "of two, one is always the slower one")
UNEVEN: Final = Threshold(
    "busy time of the busiest worker, by their median", 2, "", "the others wait half of the time"
)
FEW_BATCHES: Final = Threshold(
    "results that the maker waited for", 4, "", "fewer are the start of the workers"
)
OWN_WORK: Final = Threshold(
    "share of the time between its first and last result in which the maker does not wait",
    0.2,
    "share",
    "who has no other work may as well wait",
)
SERIAL_FILES: Final = Threshold("files that a thread reads", 10, "", "one after the other")
MOST_OF_ONE: Final = Threshold(
    "share of the time of one file, at most", 0.5, "share", "else it is about this file"
)
FROM_MEMORY: Final = Threshold(
    "bytes per second, at most", 1 << 30, "B", "faster than this they come from memory"
)
SERIAL_SHARE: Final = Threshold(
    "share of the log's time in these reads, without the tracer's share",
    0.05,
    "share",
    "what comes from memory takes less",
)


def _uneven(tables: Tables) -> pl.DataFrame:
    busy = pl.col("busy_ns")
    return (
        tables.table("workers")
        .drop_nulls("busy_ns")
        .group_by("source", "pool", "round", maintain_order=True)
        .agg(
            pl.len().alias("workers"),
            busy.max().alias("most"),
            busy.median().alias("median"),
            busy.mean().alias("mean"),
            pl.col("pid", "task").sort_by("busy_ns").last(),
            pl.col("image").drop_nulls().first(),
        )
        .filter(
            pl.col("workers") >= FEW_WORKERS.value,
            pl.col("most") >= UNEVEN.value * pl.col("median"),
        )
        .sort("most", descending=True, nulls_last=True, maintain_order=True)
    )


def one_slow_worker(log: Log) -> Iterator[Finding]:
    """Find rounds of workers of which one is busy far longer than the others."""
    rounds = log.chosen(_uneven)
    if rounds.is_empty():
        return
    worst = rounds.row(0, named=True)
    longer = int(worst["most"] - worst["median"])
    weight = log.weight(Range(longer, longer))
    if weight is None:
        return
    yield Finding(
        weight=weight,
        evidence=f"of {worst['workers']:,} workers, {worst['pid']} was busy for"
        f" {duration(worst['most'])}, the others for {duration(int(worst['median']))} (median)",
        numbers={
            "workers": worst["workers"],
            "busy_ns": worst["most"],
            "median_ns": worst["median"],
            "rounds": rounds.height,
        },
        object=f"{(worst['image'] or '?').rpartition('/')[2]} {worst['pid']}",
        lines=log.ends_of(worst["task"]),
        # If the work were even, all would be as busy as they are on average.
        saving=Range(0, int(worst["most"] - worst["mean"])),
        advice=ONE_SLOW_WORKER.advice,
    )


ONE_SLOW_WORKER: Final = Rule(
    code="one-slow-worker",
    title="One worker has far more to do than the others.",
    looks_for="Rounds of three workers or more of which one is busy for twice as long as the"
    " median. The round ends when the last worker does.",
    advice="Hand out smaller jobs (chunksize=1), the long ones first; tracefast workers shows what"
    " each of them did.",
    find=one_slow_worker,
    thresholds=(FEW_WORKERS, UNEVEN),
    tables=frozenset({"workers"}),
)


def _results(tables: Tables) -> pl.DataFrame:
    return batches_of(tables.table("workers").lazy()).collect().drop_nulls("wait_ns")


def starved_trainer(log: Log) -> Iterator[Finding]:
    """Find processes that wait for the results of their workers."""
    batches = log.chosen(_results)
    for (_pool,), pool in batches.group_by("pool", maintain_order=True):
        # The first result of a round holds the start of the workers.
        later = pool.filter(pl.col("batch") > 0)
        waited = later.filter(pl.col("cause") != "queue")
        if waited.height < FEW_BATCHES.value:
            continue
        spans = pool.group_by("round").agg(
            (pl.col("ts").max() - pl.col("ts").min()).cast(pl.Int64).alias("span")
        )
        span, wait = int(spans["span"].sum()), int(later["wait_ns"].sum())
        if span - wait < OWN_WORK.value * span:
            continue
        time = Range(max(wait - 2 * waited.height * log.stop_ns, 0), wait)
        weight = log.weight(time)
        if weight is None:
            continue
        causes = waited.group_by("cause").agg(pl.col("wait_ns").sum()).sort("wait_ns")
        cause = causes.row(-1, named=True)
        longest = waited.sort("wait_ns", descending=True, nulls_last=True)
        slowest = longest.row(0, named=True)
        file = f", which read {slowest['slowest_path']}" if slowest["slowest_path"] else ""
        yield Finding(
            weight=weight,
            evidence=f"it waited {duration(wait)} for {plural(later.height, 'result')}, up to"
            f" {duration(slowest['wait_ns'])} for one of {slowest['worker_pid']}{file};"
            f" {percent(cause['wait_ns'] / max(int(waited['wait_ns'].sum()), 1))} of it while the"
            f" worker was {cause['cause']}",
            numbers={
                "results": later.height,
                "wait_ns": wait,
                "longest_ns": slowest["wait_ns"],
                "span_ns": span,
            },
            object=slowest["slowest_path"],
            lines=longest["line"].drop_nulls().head(MOST).to_list(),
            saving=Range(0, wait),
            advice=STARVED_TRAINER.advice,
        )


STARVED_TRAINER: Final = Rule(
    code="starved-trainer",
    title="A process waits for the results of its workers.",
    looks_for="Processes that have work of their own between the results of their workers, as a"
    " training loop has, and wait for these. The first result of a round is left out, as it holds"
    " the start of the workers.",
    advice="tracefast workers --batches says for each result what the worker did. If it reads, make"
    " the files smaller or nearer; if it computes, more workers or less work on each item;"
    " prefetch_factor= evens out single slow items.",
    find=starved_trainer,
    thresholds=(FEW_BATCHES, OWN_WORK),
    tables=frozenset({"workers"}),
)


def _read_alone(tables: Tables) -> pl.DataFrame:
    return tables.data_files.filter(pl.col("read_bytes") > 0, pl.col("tasks") == 1).sort(
        "read_ns", descending=True, nulls_last=True
    )


def serial_io(log: Log) -> Iterator[Finding]:
    """Find programs that read many files one after the other, and wait for each."""
    files = log.chosen(_read_alone)
    if files.height < SERIAL_FILES.value:
        return
    reads, moved, read_ns = (total(files, name) for name in ("reads", "read_bytes", "read_ns"))
    if (
        int(files["read_ns"][0] or 0) > MOST_OF_ONE.value * read_ns
        or moved * 1_000_000_000 > FROM_MEMORY.value * read_ns
    ):
        return
    own = log.syscalls.filter(pl.col("name").is_in(sorted(READS)))
    if int(own["wall_ns"].sum()) < _APART * int(own["total_ns"].sum()):
        return
    time = Range(max(read_ns - reads * log.stop_ns, 0), read_ns)
    if time.low < SERIAL_SHARE.value * log.wall_ns:
        return
    # Without names they may be modules and libraries, whose reads a program cannot change.
    named = 2 * files["path"].count() >= files.height
    weight = log.weight(time, most=Severity.HIGH if named else Severity.MEDIUM)
    if weight is None:
        return
    yield Finding(
        weight=weight,
        evidence=f"{plural(reads, 'read')} of {plural(files.height, 'file')} ({size(moved)}) took"
        f" {time}, {percent(time.low / log.wall_ns)} of the log's time at least, and no two of them"
        " at the same time",
        numbers={"files": files.height, "reads": reads, "bytes": moved, "read_ns": read_ns},
        object=path_of(files),
        calls=calls_on(files, FETCHES),
        saving=Range(0, time.high),
        advice=SERIAL_IO.advice,
    )


# Less than this of the sum: some reads ran at the same time.
_APART: Final = 0.95

SERIAL_IO: Final = Rule(
    code="serial-io",
    title="Files are read one after the other, and the program waits for each.",
    looks_for="Reads of ten files or more that take a good part of the time, even without what the"
    " tracer may have taken, and never two at a time. A disk answers several requests in the time"
    " of one. It is at most medium where the log has no names: they may be modules.",
    advice="Read ahead of the work: a thread or a pool that reads, posix_fadvise"
    "(POSIX_FADV_WILLNEED), io_uring; in PyTorch num_workers= and prefetch_factor=.",
    find=serial_io,
    thresholds=(SERIAL_FILES, MOST_OF_ONE, FROM_MEMORY, SERIAL_SHARE),
    tables=frozenset({"files", "roles"}),
)
