"""Operations of futex(2) that do more than wake one waiter: who ended which wait."""

import polars as pl
import pytest

import tracefast as tf
from support.paths import DATA

STALLS = DATA / "stalls"


@pytest.mark.parametrize(
    ("name", "wakes"),
    [
        # A wake on the futex to which the waiter was moved.
        ("requeued", [("FUTEX_WAKE_PRIVATE, 1", 1, "exact")]),
        # Each is woken by the call that has its bit.
        (
            "bits",
            [
                ("FUTEX_WAKE_BITSET_PRIVATE, 9, 0x1", 1, "exact"),
                ("FUTEX_WAKE_BITSET_PRIVATE, 9, 0x2", 1, "exact"),
            ],
        ),
        # The result counts those of both futexes.
        ("wake_both", [("FUTEX_WAKE_OP_PRIVATE", 1, "inferred")]),
        # It returns no count.
        ("inherited_priority", [("FUTEX_UNLOCK_PI_PRIVATE", 0, "exact")]),
    ],
)
def test_which_call_woke_a_futex(name, wakes):
    events = tf.scan(STALLS / f"{name}.strace")
    ends = events.select(waker_line="line", by="args", result="ret")
    waits = tf.waits(events, min_ns=10_000_000).filter(pl.col("name") == "futex")
    found = waits.join(ends, on="waker_line").sort("ts").collect()
    assert found.height == len(wakes)
    for row, (by, result, known) in zip(found.iter_rows(named=True), wakes, strict=True):
        assert by in row["by"]
        assert (row["result"], row["waker_known"]) == (result, known)


BORN = """
1 1700000000.000000 mmap(NULL, 32, PROT_WRITE, MAP_SHARED|MAP_ANONYMOUS, -1, 0) = 0x7f00 <0.000010>
1 1700000000.000100 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000010>
1 1700000000.000200 clone(child_stack=NULL, flags=SIGCHLD) = 3 <0.000010>
1 1700000000.001000 futex(0x7f00, FUTEX_WAIT, 0, NULL <unfinished ...>
"""
RETURNS = "1 1700000000.021070 <... futex resumed>) = 0 <0.020000>\n"


@pytest.mark.parametrize(
    ("ends", "waker"),
    [
        # strace noted the start of the wait 60 us before its clock ran.
        ("2 {}1010 futex(0x7f00, FUTEX_WAKE, 1) = 1 <0.000020>\n" + RETURNS, (2, "inferred")),
        (
            "2 {}1010 futex(0x7f00, FUTEX_WAKE, 1 <unfinished ...>\n"
            + RETURNS
            + "2 {}1090 <... futex resumed>) = 1 <0.000080>\n",
            (2, "inferred"),
        ),
        # Who began in time is the one, even if another one is done before.
        (
            "3 {}0990 futex(0x7f00, FUTEX_WAKE, 1 <unfinished ...>\n"
            + RETURNS
            + "2 {}1080 futex(0x7f00, FUTEX_WAKE, 1) = 1 <0.000020>\n"
            + "3 {}1120 <... futex resumed>) = 1 <0.000130>\n",
            (3, "exact"),
        ),
        # Long after it, nobody did.
        (RETURNS + "2 {}9000 futex(0x7f00, FUTEX_WAKE, 1) = 1 <0.000020>\n", (None, None)),
    ],
)
def test_a_wait_may_end_later_than_its_time_says(ends, waker, tmp_path):
    log = tmp_path / "log"
    log.write_text(BORN.lstrip() + ends.replace("{}", "1700000000.02"))
    waits = tf.waits(tf.scan(log), min_ns=10_000_000).filter(pl.col("name") == "futex").collect()
    assert waits.select("waker_pid", "waker_known").rows() == [waker]
