"""FIFOs: who waits for the other side, and who ended it."""

import polars as pl

import tracefast as tf
from support.paths import DATA

STALLS = DATA / "stalls"


def test_who_opened_and_who_wrote():
    events = tf.scan(STALLS / "fifos_talk.strace")
    by = events.select(waker_line="line", by="name", by_args="args")
    waits = tf.waits(events).filter(pl.col("on") == "pipe").join(by, on="waker_line")
    found = waits.sort("ts").select("name", "object", "by", "waker_known").collect().rows()
    assert found == [
        ("openat", "f", "openat", "inferred"),
        ("read", "g", "write", "inferred"),
    ]
    args = waits.sort("ts").select("by_args").collect()["by_args"].to_list()
    assert "O_WRONLY" in args[0]


def test_anybody_may_open_a_fifo():
    for name in ("fifo_alone", "fifo_kept_open"):
        row = tf.waits(tf.scan(STALLS / f"{name}.strace")).collect().row(-1, named=True)
        assert (row["on"], row["object"], row["verdict"]) == ("pipe", "f", "waiting")
        assert row["could_wake"] is None
