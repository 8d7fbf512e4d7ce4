"""Waits for the other end of a connection: who ended them, and how sure that is."""

import polars as pl
import pytest

import tracefast as tf
from support.paths import DATA

STALLS = DATA / "stalls"


def waits(name):
    events = tf.scan(STALLS / f"{name}.strace")
    return tf.waits(events).filter(pl.col("on") == "socket", pl.col("end") == "woken")


@pytest.mark.parametrize(
    ("name", "known", "enders"),
    [
        # With -yy strace names both ends.
        (
            "unix_talk_names",
            "exact",
            [("accept", "connect"), ("read", "write"), ("read", "write")],
        ),
        # Otherwise the order suggests it.
        ("unix_talk", "inferred", [("accept", "connect"), ("read", "write"), ("read", "write")]),
        # The port that accept returned is the client's. A half close is an end of file.
        ("tcp_half_closed", "exact", [("read", "shutdown"), ("read", "write")]),
    ],
)
def test_who_ended_a_wait(name, known, enders):
    named = tf.scan(STALLS / f"{name}.strace").select(
        waker_line="line", ender="name", ender_pid="pid"
    )
    found = waits(name).join(named, on="waker_line").sort("ts").collect()
    found = found.filter(pl.col("waker_known") == known, pl.col("dur_ns") > 10_000_000)
    assert found.select("name", "ender").rows() == enders
    assert found["waker_pid"].equals(found["ender_pid"], check_names=False)
    assert (found["waker_pid"] != found["pid"]).all()


def test_names_show_both_ends():
    objects = waits("unix_talk_names").sort("ts").collect()["object"].to_list()
    client, server = (name.split(":[")[1].split(",")[0].rstrip("]") for name in objects[1:])
    assert client.split("->") == server.split("->")[::-1]
