"""Tables by windows of time: every call is in the window in which it began, and in no other."""

from datetime import timedelta

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import tracefast as tf
from support.paths import DATA

DEMO = DATA / "demo.strace.zst"
BLOCKS = DATA / "page-cache" / "rand-fields.ftrace.zst"


def sums(table: pl.LazyFrame, keys: list[str], measures: list[str]) -> pl.DataFrame:
    """Add up all windows."""
    numbers = pl.col(measures).cast(pl.Int64)
    known = pl.when(numbers.count() > 0).then(numbers.sum())
    return table.group_by(keys).agg(known).sort(keys).collect()


@pytest.mark.parametrize("every", ["7ms", timedelta(seconds=1), "1h"])
def test_windows_add_up_to_the_whole_table(every):
    events, blocks = tf.scan(DEMO), tf.scan(BLOCKS)
    moved = pl.col("reads") + pl.col("writes") > 0
    for table, by_time, keys, measures in (
        (
            tf.files(events).filter(moved, pl.col("file").is_not_null()),
            tf.files(events, every=every).filter(moved, pl.col("file").is_not_null()),
            ["file"],
            ["reads", "read_bytes", "read_ns", "writes", "write_bytes", "write_ns"],
        ),
        (
            tf.syscalls(events),
            tf.syscalls(events, every=every),
            ["name"],
            ["calls", "errors", "total_ns", "bytes"],
        ),
        (
            tf.blocks(blocks),
            tf.blocks(blocks, every=every),
            ["dev", "op"],
            ["requests", "bytes", "completed"],
        ),
    ):
        whole = sums(table, keys, measures)
        nothing = pl.col(measures).fill_null(0)
        assert_frame_equal(
            sums(by_time, keys, measures).with_columns(nothing), whole.with_columns(nothing)
        )


def test_a_call_is_in_the_window_in_which_it_began(tmp_path):
    log = tmp_path / "app.strace"
    times = (0.0, 0.0999, 0.1, 0.35)
    log.write_text(
        "".join(f'5 {1_700_000_000 + at:.6f} read(3</a>, "", 8) = 8 <0.500000>\n' for at in times)
    )
    events = tf.scan(log)
    for table in (tf.syscalls(events, every="100ms"), tf.files(events, every="100ms")):
        rows = table.collect()
        counts = rows["calls"] if "calls" in rows.columns else rows["reads"]
        starts = rows["ts"].cast(pl.Int64) // 1_000_000 - 1_700_000_000_000
        assert list(zip(starts, counts, strict=True)) == [(0, 2), (100, 1), (300, 1)]
    assert tf.syscalls(events, every="100ms").collect()["max_ns"].to_list() == [500_000_000] * 3


def test_a_copy_reads_one_file_and_writes_the_other(tmp_path):
    log = tmp_path / "app.strace"
    log.write_text(
        "5 1700000000.000000 copy_file_range(3</a>, NULL, 4</b>, NULL, 8, 0) = 8 <0.000100>\n"
    )
    rows = tf.files(tf.scan(log), every="1s").sort("path").collect()
    assert rows.select("path", "read_bytes", "write_bytes").rows() == [("/a", 8, 0), ("/b", 0, 8)]


def test_what_is_no_window_is_refused():
    events = tf.scan(DEMO)
    for every in ("", "0", "-1s", "soon", timedelta(0), 5):
        with pytest.raises(ValueError, match="every"):
            tf.syscalls(events, every=every)
    for refused in (
        lambda: tf.syscalls(events, by="process", every="1s"),
        lambda: tf.files(events, by="open", every="1s"),
        lambda: tf.blocks(events, by="file", every="1s"),
    ):
        with pytest.raises(ValueError, match="every: not with"):
            refused()


def test_the_command_says_what_does_not_go_together(run):
    ran = run("files", DEMO, "--every", "100ms", "--by", "open")
    assert (ran.returncode, ran.stderr) == (
        2,
        "error: --every and --by: not together\nhint: leave out --by\n",
    )
    rows = run("syscalls", DEMO, "--every", "1h", "--match", "read", "--format", "csv")
    assert len(rows.stdout.splitlines()) == 2


def test_histograms_of_blocks_count_every_request(run):
    ran = run("blocks", BLOCKS, "--hist", "--format", "csv")
    rows = pl.read_csv(ran.stdout.encode())
    of_latency = pl.col("low_ns").is_not_null()
    whole = tf.blocks(tf.scan(BLOCKS)).collect()
    assert rows.filter(of_latency)["calls"].sum() == whole["completed"].sum()
    assert rows.filter(~of_latency)["calls"].sum() == whole["requests"].sum()
    assert rows.filter(~of_latency)["bytes"].sum() == whole["bytes"].sum()
