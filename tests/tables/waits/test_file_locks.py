"""Locks on files: who gave one back."""

import polars as pl

import tracefast as tf

# The one who held the lock has ended before the other one, on a busy machine, returned with it.
LOG = """\
1 1700000000.000000 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000010>
2 1700000000.000100 openat(AT_FDCWD, "/srv/lock", O_WRONLY) = 3 <0.000010>
2 1700000000.000200 flock(3, LOCK_EX) = 0 <0.000010>
1 1700000000.000300 openat(AT_FDCWD, "/srv/lock", O_WRONLY) = 3 <0.000010>
1 1700000000.000400 flock(3, LOCK_EX <unfinished ...>
2 1700000000.050000 flock(3, LOCK_UN) = 0 <0.000010>
2 1700000000.060000 exit_group(0) = ?
2 1700000000.061000 +++ exited with 0 +++
1 1700000000.100400 <... flock resumed>) = 0 <0.100000>
"""


def test_a_lock_that_was_given_back_long_before_it_was_had(tmp_path):
    log = tmp_path / "log"
    log.write_text(LOG)
    waits = tf.waits(tf.scan(log)).filter(pl.col("on") == "lock").collect()
    assert waits.select("tid", "waker_pid", "waker_line", "waker_known").rows() == [
        (1, 2, 6, "exact")
    ]
