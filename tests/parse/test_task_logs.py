"""Logs of ``strace -ff``, a file for each task: read as the one log that they are."""

import gzip
import shutil

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import tracefast as tf
from support.paths import DATA

TASKS = DATA / "tasks"
LOGS = sorted(TASKS.glob("log.*"))


@pytest.fixture
def merged() -> pl.DataFrame:
    return pl.DataFrame(tf.read(str(TASKS / "log")))


def test_a_list_a_pattern_and_the_common_name_are_the_same(merged):
    for sources in ([*reversed(LOGS)], str(TASKS / "log.*")):
        assert_frame_equal(pl.DataFrame(tf.read(sources)), merged)
    scanned = tf.scan(str(TASKS / "log")).collect()
    assert_frame_equal(scanned, merged.cast({"name": pl.String, "source": pl.String}))
    assert merged["source"].unique().to_list() == [str(TASKS / "log")]


def test_rows_say_where_they_come_from(merged):
    for log in LOGS:
        pid = int(log.suffix[1:])
        rows = merged.filter(pl.col("tid") == pid)
        assert rows["line"].to_list() == list(range(1, 1 + len(log.read_text().splitlines())))
        alone = pl.DataFrame(tf.read(log))
        assert alone["tid"].unique().to_list() == [pid]
        assert_frame_equal(alone.select("line", "ts", "args"), rows.select("line", "ts", "args"))


def test_rows_are_in_the_order_of_their_effects(merged):
    at_entry = pl.col("name").cast(pl.String).is_in(["clone", "vfork", "fork", "clone3", "close"])
    took = pl.when(at_entry).then(0).otherwise(pl.col("dur_ns").fill_null(0))
    effects = merged.select(pl.col("ts").cast(pl.Int64) + took, "tid").to_series()
    # Times of calls in a row are printed at different moments: a line may be a little early.
    latest = effects.cum_max()
    assert (latest - effects).max() < 100_000


def test_children_are_those_of_a_log_with_a_pid_column(merged):
    def births(frame: pl.LazyFrame) -> list[tuple[object, ...]]:
        born = tf.forks(frame).select("name", "kind", "image", "exit_status").collect()
        return sorted(born.rows(), key=str)

    whole = births(tf.scan(TASKS / "all.strace"))
    assert len(whole) == len(LOGS) - 1
    assert births(merged.lazy()) == whole


def test_every_line_and_byte_is_counted_once(tmp_path):
    report = tf.parse(str(TASKS / "log"), tmp_path / "out.parquet")
    assert report.lines == sum(len(log.read_text().splitlines()) for log in LOGS)
    assert report.bytes == sum(log.stat().st_size for log in LOGS)
    assert report.warnings == []
    assert report.unparsed == []


def test_compressed_logs_belong_too(tmp_path, merged):
    for i, log in enumerate(LOGS):
        if i % 2:
            (tmp_path / f"{log.name}.gz").write_bytes(gzip.compress(log.read_bytes()))
        else:
            shutil.copy(log, tmp_path)
    frame = pl.DataFrame(tf.read(tmp_path / "log"))
    assert_frame_equal(frame.drop("source"), merged.drop("source"))


def test_the_command_takes_the_common_name(run, tmp_path):
    for log in LOGS:
        shutil.copy(log, tmp_path)
    done = run("parse", "log", "-o", "out.parquet")
    assert done.returncode == 0, done.stderr
    done = run("forks", "log", "--format", "csv")
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == len(LOGS)
    done = run("parse", "none", "-o", "out.parquet")
    assert done.returncode == 2
    assert "none" in done.stderr


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    shutil.copy(LOGS[0], tmp_path / "log.1000")
    (tmp_path / "log.1001.gz").write_bytes(gzip.compress(LOGS[1].read_bytes())[:-20])
    with pytest.raises(OSError, match=r"log\.1001\.gz"):
        tf.parse(str(tmp_path / "log"), tmp_path / "out.parquet")
    assert not (tmp_path / "out.parquet").exists()


@pytest.mark.parametrize(
    ("name", "lasts"),
    [
        *(("read", True), ("pread", True), ("pread64", True), ("pwrite", True), ("pwrite64", True)),
        *(("oldstat", True), ("oldlstat", True), ("oldfstat", True), ("fstat", True)),
        *(("readdir", True), ("getpid", False)),
    ],
)
def test_what_may_have_ended_later_comes_after_what_surely_ended(tmp_path, name, lasts):
    # 420 + 30 µs is the earliest end of the first call. Only of calls that use a file's data, size
    # or position does it matter that the end may have been later.
    (tmp_path / "log.400").write_text(f"1795175299.000420 {name}(3) = 1 <0.000030>\n")
    other = 'pread64(3, "x", 1, 0) = 1 <0.000001>'
    (tmp_path / "log.401").write_text(
        f"1795175299.000457 {other}\n1795175299.000465 getpid() = 401\n"
    )
    tids = pl.DataFrame(tf.read(tmp_path / "log"))["tid"].to_list()
    assert tids == ([401, 401, 400] if lasts else [400, 401, 401])


def test_the_order_of_ends_is_not_reported_as_odd(merged):
    assert (merged["ts"].diff().drop_nulls().dt.total_nanoseconds() < 0).any()
    assert tf.parse(str(TASKS / "log"), None).oddities["time_steps_back"] == 0
