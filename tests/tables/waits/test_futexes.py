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
