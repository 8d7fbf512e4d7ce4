"""The rows of charts: equal to slow references, and bounded however many events there are."""

import math
from collections import Counter, defaultdict
from datetime import UTC, datetime, timedelta

import polars as pl
import pytest

import tracefast as tf
from support.paths import DATA
from tracefast.plot.charts import (
    batches,
    forks,
    gantt,
    latency,
    memory,
    offsets,
    sizes,
    timeline,
)
from tracefast.plot.intervals import at_once

DEMO = tf.scan(DATA / "demo.strace.zst")
FTRACE = tf.scan(DATA / "demo.ftrace.zst")
MILLION = 1_000_000


@pytest.fixture(scope="module")
def demo() -> pl.DataFrame:
    return DEMO.collect().with_columns(pl.col(pl.Categorical).cast(pl.String))


@pytest.fixture(scope="module")
def million() -> pl.LazyFrame:
    """A million reads of one file at random places, and of eight processes."""
    row = pl.int_range(MILLION, eager=True)
    mixed = row.hash(seed=1)
    values = {
        "ts": (row * 1_000).cast(pl.Datetime("ns")),
        "dur_ns": (mixed % 100_000).cast(pl.Int64),
        "task": (row % 8).cast(pl.UInt32),
        "pid": (row % 8).cast(pl.Int32),
        "tid": (row % 8).cast(pl.Int32),
        "ofd": (row % 8).cast(pl.UInt32),
        "offset": (mixed % 2**40).cast(pl.Int64),
        "bytes": (mixed % 70_000).cast(pl.Int64),
        "line": row.cast(pl.UInt64),
    }
    same = {
        "kind": "syscall",
        "name": "read",
        "status": "complete",
        "path": "/big",
        "source": "a.strace",
        "access": "forward",
        "offset_known": "exact",
    }
    frame = pl.DataFrame(values).with_columns(
        pl.lit(7, pl.UInt64).alias("file"),
        *(pl.lit(text).alias(name) for name, text in same.items()),
    )
    schema = DEMO.collect_schema()
    return frame.select(
        pl.col(name).cast(dtype) if name in frame.columns else pl.lit(None, dtype).alias(name)
        for name, dtype in schema.items()
    ).lazy()


def test_a_million_events_give_bounded_charts(million):
    drawn = {
        "offsets": (offsets, offsets.rows(million, 7), 2_000),
        "sizes": (sizes, sizes.rows(million), 130),
        "latency": (latency, latency.rows(million), 8 * 65),
        "timeline": (timeline, timeline.rows(million, measures=("bytes", "calls")), 720),
    }
    for name, (module, rows, most) in drawn.items():
        assert 0 < rows.height <= most, name
        module.chart(rows).to_dict()
    moved = million.filter(pl.col("bytes") > 0).select(pl.len(), pl.col("bytes").sum()).collect()
    cells = drawn["offsets"][1]
    assert (cells["accesses"].sum(), cells["bytes"].sum()) == moved.row(0)
    assert cells.height > 500


def test_tables_with_many_rows_give_bounded_charts():
    row = pl.int_range(MILLION, eager=True)
    at = row.cast(pl.Datetime("ns")).alias("ts")
    table = pl.DataFrame([at]).with_columns(
        (row % 20).cast(pl.UInt32).alias("task"),
        (row % 20).cast(pl.Int32).alias("pid"),
        (row.hash() % 10**9).cast(pl.Int64).alias("anon_bytes"),
        pl.lit(0).alias("file_bytes"),
        pl.lit(None, pl.Int64).alias("shm_bytes"),
        pl.lit("/bin/x").alias("image"),
        pl.lit("mappings").alias("from"),
        pl.lit("a").alias("source"),
    )
    rows = memory.rows_of_table(table.lazy())
    assert rows.height <= 2_000
    assert rows["process"].n_unique() == 8
    assert rows["bytes"].max() == table["anon_bytes"].max()

    many = table.head(100_000).select(
        *("source", "ts"),
        pl.lit(1).alias("pool"),
        pl.lit(1).alias("round"),
        pl.int_range(pl.len()).alias("batch"),
        pl.col("anon_bytes").alias("wait_ns"),
        pl.lit(5).alias("bytes"),
        pl.col("pid").alias("worker_pid"),
        pl.lit("reading").alias("cause"),
        pl.lit("/x").alias("slowest_path"),
    )
    slow = batches.rows_of_table(many.lazy())
    assert slow.height <= 2_000
    assert slow["batches"].sum() == 100_000
    assert slow["wait_s"].max() * 1e9 == pytest.approx(many["wait_ns"].max())

    calls = table.head(50_000).select(
        "source",
        "pid",
        parent_image=pl.format("/bin/{}", pl.col("pid") % 10),
        kind=pl.lit("fork"),
        call_ns=1_000_000 + pl.col("anon_bytes") // 100,
        parent_anon_bytes="anon_bytes",
        errno=pl.lit(None, pl.String),
        child_pid=pl.lit(1),
        line=pl.lit(1),
    )
    points = forks.rows_of_table(calls.lazy())
    assert points.height <= 2_000
    assert points.filter(pl.col("mark") == "line").height == 16
    # Each call takes 1 ms, and 10 ns for each kB: the points are on a line.
    above = points["call_ms"] - (1 + points["memory_mib"] * 2**20 / 1e8)
    assert above.abs().max() < 1e-4


@pytest.mark.parametrize("way", ["read", "write"])
def test_sizes_are_those_of_the_events(demo, way):
    copies = {"sendfile", "copy_file_range", "splice", "tee"}
    calls = {
        "read": {"read", "pread64", "readv", "recvfrom", "recvmsg"} | copies,
        "write": {"write", "pwrite64", "writev", "sendto", "sendmsg"} | copies,
    }
    found = {
        row["low_bytes"]: (row["calls"], row["bytes"])
        for row in sizes.rows(DEMO).filter(pl.col("way") == way).to_dicts()
    }
    counted: Counter[int] = Counter()
    moved: Counter[int] = Counter()
    for name, size in demo.select("name", "bytes").drop_nulls().iter_rows():
        if name in calls[way]:
            low = 0 if size == 0 else 2 ** math.floor(math.log2(size))
            counted[low] += 1
            moved[low] += size
    assert found == {low: (counted[low], moved[low]) for low in counted}


def test_latencies_are_those_of_the_events(demo):
    rows = latency.rows(DEMO)
    timed = demo.filter(pl.col("kind") == "syscall", pl.col("dur_ns").is_not_null())
    total: Counter[str] = Counter()
    bins: dict[str, Counter[int]] = defaultdict(Counter)
    for name, dur in timed.select("name", "dur_ns").iter_rows():
        total[name] += dur
        bins[name][dur.bit_length()] += 1
    names = [name for name, _ in total.most_common(8)]
    assert rows["name"].unique(maintain_order=True).to_list() == names
    for name, part in rows.group_by("name", maintain_order=True):
        assert part["calls"].to_list() == [bins[name[0]][bits] for bits in sorted(bins[name[0]])]
        assert part["total_s"].sum() == pytest.approx(total[name[0]] / 1e9)
        assert part["below_share"].is_sorted()
        assert part["below_share"][-1] == 1
    only = latency.rows(DEMO, names=["read"])
    assert only["name"].unique().to_list() == ["read"]


def test_calls_of_no_time_are_not_said_to_take_less_than_a_nanosecond():
    rows = latency.rows(FTRACE)
    assert 0 in rows["low_s"].to_list()
    drawn = latency.chart(rows, cumulative=True).to_dict()
    points = [row for held in drawn["datasets"].values() for row in held]
    assert {row["name"] for row in points} == set(rows["name"])
    assert min(row["high_s"] for row in points) > 1e-9
    ends = [row for row in points if row["below_share"] == 1]
    assert {row["name"] for row in ends} == set(rows["name"])


def test_the_axis_of_counts_tells_small_ones_apart():
    for drawn in (latency.chart(latency.rows(DEMO)), sizes.chart(sizes.rows(DEMO))):
        axis = drawn.to_dict()["encoding"]["y"]["axis"]
        assert axis["values"][:4] == [0, 1, 10, 100]


def test_runs_of_offsets_hold_every_access():
    file = tf.files(DEMO).collect()["file"][0]
    accesses = tf.accesses(DEMO, file).filter(pl.col("bytes") > 0).collect()
    rows = offsets.rows(DEMO, file)
    assert rows["accesses"].sum() == accesses.height
    assert rows["bytes"].sum() == accesses["bytes"].sum()
    last: dict[tuple[object, ...], tuple[int, int]] = {}
    runs = 0
    for row in accesses.to_dicts():
        stream = row["ofd"], row["way"]
        if last.get(stream) != (row["offset"], row["task"]):
            runs += 1
        last[stream] = row["offset"] + row["bytes"], row["task"]
    assert rows.height == runs
    few = offsets.rows(DEMO, file, most=20)
    assert few.height <= 20
    assert few["bytes"].sum() == rows["bytes"].sum()
    assert few["offset_end"].max() == rows["offset_end"].max()


def test_intervals_at_once_equal_a_count_of_each_nanosecond():
    starts, ends = [0, 3, 5, 17, 29, 30, 4], [30, 9, 5, 22, 30, 30, 99]
    rows = pl.LazyFrame({"start": starts, "end": ends})
    found = at_once(rows, 0, 7, 5)["value"].to_list()
    for number, value in enumerate(found):
        inside = range(number * 7, number * 7 + 7)
        busy = sum(a <= t < b for t in inside for a, b in zip(starts, ends, strict=True))
        assert value == pytest.approx(busy / 7)


def test_a_timeline_adds_up_to_the_tables(demo):
    rows = timeline.rows(DEMO, bins=50)
    assert rows.height == 250
    seconds = rows["end_s"] - rows["start_s"]
    sums = rows.with_columns(amount=pl.col("value") * seconds)
    sums = dict(
        sums.group_by("measure", "series")
        .agg(pl.col("amount").sum())
        .select(pl.concat_str("measure", "series", separator="/"), "amount")
        .iter_rows()
    )
    assert sums["calls/calls"] == pytest.approx((demo["kind"] == "syscall").sum())
    table = tf.files(DEMO).select(pl.col("read_bytes", "write_bytes").sum()).collect().row(0)
    assert (sums["bytes/read"], sums["bytes/written"]) == pytest.approx(table)
    waits = tf.waits(DEMO).select(pl.coalesce("dur_ns", "open_ns").sum()).collect().item()
    assert sums["waits/waiting"] == pytest.approx(waits / 1e9, rel=1e-3)
    with pytest.raises(ValueError, match="measures are bytes, calls"):
        timeline.rows(DEMO, measures=["heat"])


def test_requests_are_those_of_the_table():
    events = tf.scan(DATA / "page-cache" / "pairs.ftrace.zst")
    table = tf.blocks(events).group_by("op").agg(pl.col("bytes", "completed", "requests").sum())
    known = {op: values for op, *values in table.collect().rows()}
    rows = timeline.rows(events, measures=("requests", "request bytes"))
    area = (pl.col("value") * (pl.col("end_s") - pl.col("start_s"))).sum().alias("area")
    areas = {
        (measure, op): value
        for measure, op, value in rows.group_by("measure", "series").agg(area).rows()
    }
    counted = latency.rows_of_requests(events)
    for op, (moved, completed, requests) in known.items():
        assert areas["request bytes", op] == pytest.approx(moved)
        of = counted.filter(name=op)
        assert of["calls"].sum() == completed <= requests
        assert areas["requests", op] == pytest.approx(of["total_s"].sum(), rel=1e-3)
        assert of["below_share"].max() == 1
    assert latency.rows_of_requests(events, match=lambda device: device == "9:9").is_empty()
    assert timeline.rows(DEMO, measures=["requests"]).is_empty()
    latency.chart_of_requests(counted).to_dict()
    timeline.chart(rows).to_dict()


def test_bars_of_processes():
    table = tf.processes(DEMO).collect()
    rows = gantt.rows(DEMO)
    bars = rows.filter(pl.col("mark") == "process")
    assert sorted(bars["pid"]) == sorted(table["pid"])
    assert bars["processes"].sum() == table.height
    executed = rows.filter(pl.col("mark") == "exec")
    assert executed.height == table["images"].list.len().sum()
    few = gantt.rows(DEMO, bars=5, marks=3)
    assert few.filter(pl.col("mark") == "process").height <= 5
    assert few.filter(pl.col("mark") == "process")["processes"].sum() == table.height
    assert few.filter(pl.col("mark") == "exec").height <= 3


def test_like_children_of_many_parents_are_one_bar():
    pids = range(1, 101)
    start = datetime(2026, 1, 1, tzinfo=UTC).replace(tzinfo=None)
    table = pl.DataFrame(
        {
            "source": "log",
            "task": pids,
            "pid": pids,
            "parent_task": [None] * 50 + list(range(1, 51)),
            "image": "/bin/a",
            "comm": "a",
            "ts_start": [start + timedelta(seconds=pid // 51) for pid in pids],
            "ts_end": [start + timedelta(seconds=9)] * 100,
            "exit_status": 0,
            "exit_signal": None,
        },
        schema_overrides={
            "ts_start": pl.Datetime("ns"),
            "ts_end": pl.Datetime("ns"),
            "exit_signal": pl.String,
        },
    )
    bars = gantt.rows_of_table(table, bars=5)
    assert bars["label"].to_list() == ["50x a", "50x a (2)"]
    assert bars["processes"].to_list() == [50, 50]


def test_memory_is_that_of_the_table():
    total = pl.sum_horizontal("anon_bytes", "file_bytes", "shm_bytes")
    table = tf.memory(DEMO).with_columns(bytes=total).collect()
    peaks = table.group_by("task").agg(pl.col("bytes").max())["bytes"].sort(descending=True)
    rows = memory.rows(DEMO, most=100)
    assert rows.height <= 100
    found = rows.group_by("process").agg(pl.col("bytes").max())["bytes"].sort(descending=True)
    assert found.to_list() == peaks.head(8).to_list()


def test_nothing_gives_nothing():
    none = DEMO.head(0)
    modules = {sizes, latency, gantt, memory, batches, forks, timeline}
    for module in modules:
        rows = module.rows(none)
        assert rows.is_empty()
        module.chart(rows).to_dict()
    assert offsets.rows(none, "/x").is_empty()
    offsets.chart(offsets.rows(none, "/x")).to_dict()


def test_a_timeline_reads_a_log_twice_at_most():
    log = DATA / "demo.strace.zst"
    read = tf.Progress()
    tf.scan(log, progress=read).collect()
    drawn = tf.Progress()
    timeline.rows(tf.scan(log, progress=drawn))
    assert drawn.rows <= 2 * read.rows
