"""A file that goes into a pipe waits for the pipe's reader."""

import polars as pl
import pytest

import tracefast as tf
from support.paths import DATA

LOG = DATA / "stalls" / "file_into_pipe.strace"


@pytest.mark.parametrize("form", ["log", "parquet"])
def test_the_time_of_a_full_pipe_is_waiting(form, tmp_path):
    events = tf.scan(LOG)
    if form == "parquet":
        tf.parse(LOG, tmp_path / "log.parquet")
        events = tf.scan(tmp_path / "log.parquet")
    calls = events.filter(pl.col("name") == "sendfile").collect()
    long = calls.filter(pl.col("dur_ns") >= 1_000_000)["dur_ns"].sum()
    assert long > 30_000_000
    # The pipe has no name in this log: the table knows it by the call that made it.
    assert calls["path2"].null_count() == calls.height
    row = tf.syscalls(events).filter(pl.col("name") == "sendfile").collect()
    assert row["wait_ns"].item() == long
    pid = calls["pid"][0]
    process = tf.processes(events).filter(pl.col("pid") == pid).collect()
    assert process["wait_ns"].item() >= long
    named = events.filter(pl.col("name") == "sendfile").with_columns(path2=pl.lit("pipe:[5]"))
    assert tf.syscalls(named).collect()["wait_ns"].item() == long
    assert tf.syscalls(events.filter(pl.col("name") == "sendfile")).collect()["wait_ns"].item() == 0


def test_who_waits_for_the_reader():
    waits = tf.waits(tf.scan(LOG)).filter(pl.col("name") == "sendfile").collect()
    assert waits.select("on", "object", "waker_known").row(0) == (
        "pipe",
        "pipe of line 16",
        "exact",
    )
