"""Semaphores, queues, leases: what a wait is for, how long it may last, and who ended it."""

import polars as pl
import pytest

import tracefast as tf
from support.paths import DATA

STALLS = DATA / "stalls"


def waits(name):
    events = tf.scan(STALLS / f"{name}.strace")
    by = events.select(waker_line="line", by="name")
    calls = tf.waits(events).filter(pl.col("object").is_not_null(), pl.col("on") != "child")
    return calls.join(by, on="waker_line", how="left").sort("ts").collect()


@pytest.mark.parametrize(
    ("name", "objects", "ends", "enders"),
    [
        ("raised", ["semaphore 0 of set 0"], ["woken"], [("semtimedop", "exact")]),
        (
            "messages",
            ["queue 0", "queue 0"],
            ["woken", "error"],
            [("msgsnd", "exact"), ("msgctl", "exact")],
        ),
        # Others may know the key, or the name.
        ("messages_with_key", ["queue 1"], ["error"], [("msgctl", "inferred")]),
        ("posix_queue", ["queue /tracefast-stalls"], ["woken"], [("mq_timedsend", "inferred")]),
        ("lease", ["lease lock-0"], ["woken"], [("fcntl", "exact")]),
        ("semaphore_limit", ["semaphore 0 of set 3"], ["timeout"], [(None, None)]),
    ],
)
def test_what_ended_a_wait(name, objects, ends, enders):
    found = waits(name)
    assert found["object"].to_list() == objects
    assert found["end"].to_list() == ends
    assert found.select("by", "waker_known").rows() == enders


def test_limits():
    assert waits("semaphore_limit")["timeout_ns"].to_list() == [40_000_000]
    assert waits("raised")["timeout_ns"].to_list() == [None]


def test_anybody_may_end_a_wait_for_a_queue_with_a_name():
    row = waits("posix_queue_limit").row(0, named=True)
    assert (row["object"], row["could_wake"]) == ("queue /tracefast-stalls", None)
    assert row["verdict"] == "waiting"
