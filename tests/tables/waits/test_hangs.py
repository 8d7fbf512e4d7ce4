"""Programs that hang: who is stuck, what proves it, and the line that explains it."""

import polars as pl
import pytest

import tracefast as tf
from support.paths import DATA

STALLS = DATA / "stalls"
# By log: of each wait with a verdict, in order of the log, the call, the verdict, the proof, and
# the call or end in the line that explains it.
HANGS = {
    "crossed_pipes": [("read", "deadlock", "cycle", "read")] * 2,
    "own_pipe": [("read", "deadlock", "own-pipe", "pipe2")],
    "full_pipe": [
        ("wait4", "deadlock", "cycle", "write"),
        ("write", "deadlock", "cycle", "write"),
    ],
    # A SIGINT of a terminal ended it, and the write returned what it had written.
    "signalled": [
        ("wait4", "deadlock", "cycle", "write"),
        ("write", "deadlock", "cycle", "write"),
    ],
    "socket_pair": [("read", "deadlock", "own-pipe", "socketpair")],
    "event": [("read", "deadlock", "no-writer", "eventfd2")],
    "lost_child": [("read", "deadlock", "lost-child", "SIGKILL")],
    "semaphore": [("futex", "deadlock", "lost-child", "SIGKILL")],
    "flock_cycle": [("flock", "deadlock", "cycle", "flock")] * 2,
    "held_lock": [("flock", "deadlock", "held-lock", "flock")],
    "record_locks": [("fcntl", "deadlock", "cycle", "fcntl")] * 2,
    "vfork_child": [
        ("vfork", "deadlock", "cycle", "read"),
        ("read", "deadlock", "cycle", "read"),
    ],
    "lock_at_fork": [
        ("wait4", "stalled", None, None),
        ("futex", "deadlock", "private-futex", "clone"),
    ],
    "names": [
        ("wait4", "stalled", None, None),
        ("futex", "deadlock", "private-futex", "clone"),
    ],
    "python_fork": [
        ("wait4", "stalled", None, None),
        ("futex", "deadlock", "private-futex", "clone"),
    ],
    "python_forkserver": [
        ("wait4", "stalled", None, None),
        ("futex", "deadlock", "private-futex", "clone"),
    ],
    "openmp_fork": [
        *[("futex", "stalled", None, None)] * 2,
        ("wait4", "stalled", None, None),
        ("futex", "deadlock", "private-futex", "clone"),
    ],
    "two_locks": [("futex", "deadlock", "private-futex", None)] * 2,
    "poll_again": [
        ("read", "deadlock", "own-pipe", "pipe2"),
        ("poll", "stalled", None, None),
    ],
    # Client and server wait for each other: their addresses, or their names with -yy, prove it.
    "tcp_cycle": [("read", "deadlock", "cycle", "read")] * 2,
    "tcp_names": [("read", "deadlock", "cycle", "read")] * 2,
    "unix_names": [("read", "deadlock", "cycle", "read")] * 2,
    "unix_own": [("read", "deadlock", "own-pipe", "accept")],
    "packets": [("read", "deadlock", "cycle", "read")] * 2,
    # The limit of `epoll_wait` is not in the log until it returns: a signal shows it.
    "watched_pipe": [
        ("read", "likely-deadlock", "cycle", "epoll_wait"),
        ("epoll_wait", "likely-deadlock", "cycle", "epoll_wait"),
    ],
    "watched_signalled": [
        ("read", "deadlock", "cycle", "epoll_wait"),
        ("epoll_wait", "deadlock", "cycle", "epoll_wait"),
    ],
    "watched_own": [("epoll_wait", "deadlock", "own-pipe", "pipe2")],
    # One that ends after a minute, which only the signal shows.
    "watched_limit": [("epoll_wait", "likely-deadlock", "own-pipe", "pipe2")],
    "watched_limit_signalled": [],
    # Another thread may add to the set.
    "watched_with_thread": [],
    "watched_thread_signalled": [],
    # Others than those in the log may open a FIFO.
    "fifos": [("read", "likely-deadlock", "cycle", "read")] * 2,
    "fifo_alone": [],
    "fifo_kept_open": [],
    # The log does not show who is connected to whom.
    "tcp_unnamed": [],
    "unix_cycle": [],
    # The read ends after a minute.
    "tcp_limit": [],
    # The queue of who listens is full, or nobody accepts.
    "unix_full": [
        ("read", "deadlock", "cycle", "connect"),
        ("connect", "deadlock", "cycle", "connect"),
    ],
    "unix_not_accepted": [
        ("wait4", "deadlock", "cycle", "read"),
        ("read", "deadlock", "cycle", "read"),
    ],
    "tcp_not_accepted": [
        ("wait4", "deadlock", "cycle", "read"),
        ("read", "deadlock", "cycle", "read"),
    ],
    "semaphores": [("semtimedop", "deadlock", "cycle", "semtimedop")] * 2,
    # Anybody may open a queue with a name.
    "posix_queue_limit": [],
    # A wake on the futex to which it was moved would end it.
    "requeued_for_ever": [],
    # The log does not show where the memory comes from.
    "attached": [("futex", "likely-deadlock", "private-futex", None)] * 2,
    "first_thread_ended": [("futex", "deadlock", "private-futex", None)],
    "joined_crosswise": [("futex", "deadlock", "cycle", "futex")] * 2,
    # Flags, commands and operations by their numbers.
    "flock_cycle_raw": [("flock", "deadlock", "cycle", "flock")] * 2,
    # A thread lives that could unlock both.
    "two_locks_of_three": [],
    # Somebody may connect; a handler of signals may write.
    "server": [],
    "own_handler": [],
    "own_handler_raw": [],
    # Somebody computes or sleeps who will wake it; SIGKILL ended all of them at once.
    "busy_thread": [],
    "busy_child": [],
    # A live process has the other end: by its name in /proc, by a table that it shares, because
    # it started its program with it, because it got it in a message, by a copy.
    "reopened": [],
    "shared_table": [],
    "started_writer": [],
    "sent_writer": [],
    "sent_writer_raw": [],
    "copied_writer": [],
    "copied_writer_raw": [],
    # A handler of signals will wake it.
    "child_ends": [],
    "told_by_signal": [],
}


def log(name):
    plain = STALLS / f"{name}.strace"
    return plain if plain.exists() else STALLS / f"{name}.strace.zst"


@pytest.mark.parametrize("name", HANGS)
def test_who_hangs_is_proved(name):
    events = tf.scan(log(name))
    stuck = tf.stuck(events).sort("line").collect()
    named = events.select(because_line="line", because="name")
    rows = stuck.join(named.collect(), on="because_line", how="left", maintain_order="left")
    found = rows.select("name", "verdict", "proof", "because").rows()
    assert sorted(found, key=str) == sorted(HANGS[name], key=str)
    # Each leads to one that is proved.
    roots = stuck.filter(pl.col("verdict") != "stalled")["task"]
    assert stuck["root_task"].is_in(roots.implode()).all()
    # When strace lets go of its programs, it does not say when.
    if stuck.height and name != "attached":
        assert stuck["open_ns"].min() > 100_000_000


@pytest.mark.parametrize("name", [name for name in HANGS if not name.startswith("python")])
def test_a_log_that_ends_early_is_only_likely(name, tmp_path):
    proved = tf.stuck(tf.scan(log(name))).filter(pl.col("verdict") == "deadlock").collect()
    if proved.is_empty():
        pytest.skip("nothing is proved")
    # Up to the line on which the last of them begins to wait.
    lines = log(name).read_bytes().splitlines(keepends=True)
    (tmp_path / "log").write_bytes(b"".join(lines[: proved["line"].max()]))
    early = tf.waits(tf.scan(tmp_path / "log")).collect()
    assert "deadlock" not in early["verdict"]


def test_who_holds_the_lock_is_the_thread_that_was_not_copied():
    events = tf.scan(log("lock_at_fork"))
    root = tf.stuck(events).filter(pl.col("verdict") == "deadlock").collect()
    threads = events.filter(pl.col("name") == "clone3").select("ret").collect()
    assert threads.height == 1
    assert root["object"].item().startswith("futex 0x")
    assert root["could_wake"].item().to_list() == []


@pytest.mark.parametrize("name", HANGS)
def test_parquet_gives_the_same(name, tmp_path):
    tf.parse(log(name), tmp_path / "log.parquet")
    one, other = tf.waits(tf.scan(log(name))), tf.waits(tf.scan(tmp_path / "log.parquet"))
    assert one.collect().equals(other.collect())


@pytest.mark.parametrize("name", HANGS)
def test_a_log_without_times_or_memory_proves_nothing(name):
    events = tf.scan(log(name))
    untimed = events.with_columns(ts=pl.lit(None, pl.Datetime("ns")), dur_ns=pl.lit(None, pl.Int64))
    part = events.filter(~pl.col("name").is_in(["mmap", "brk", "execve"]))
    for events in (untimed, part):
        assert "deadlock" not in tf.waits(events).collect()["verdict"]


def test_who_connects_waits_for_those_who_listen():
    waits = tf.waits(tf.scan(log("unix_full"))).filter(pl.col("name") == "connect").collect()
    assert waits["object"].to_list() == ["socket at @tracefast-stalls"]


def test_a_limit_of_a_socket_is_one_of_its_reads():
    waits = tf.waits(tf.scan(log("tcp_limit"))).sort("timeout_ns", nulls_last=True).collect()
    found = waits.filter(pl.col("verdict").is_not_null()).select("timeout_ns", "verdict").rows()
    assert found == [(60_000_000_000, "asleep"), (None, "waiting")]
