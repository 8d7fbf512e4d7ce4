"""The fold of the table of system calls, compared with a slow and plain one."""

from functools import partial

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tracefast as tf
from support.folding import (
    SCHEMA,
    check_cuts,
    check_layouts,
    frame,
    maybe,
    near_enough,
    plain,
    summed,
)
from support.paths import DATA
from support.reference.syscalls import slow_syscalls
from tracefast import _core

COLUMNS = list(_core.Syscalls(by="process").needed)
WORDS = [name for name in COLUMNS if SCHEMA[name] == pl.Categorical]


NAMES = [
    *["read", "read", "read", "pread64", "splice", "write", "openat", "futex", "recvfrom"],
    *["clone", "clone", "vfork", "execve", "execve", "exit_group", "rt_sigreturn", "poll"],
]
STATUSES = [
    *["complete"] * 12,
    *["interrupted", "injected", "delayed", "unfinished", "killed", "headless", "superseded"],
]
TYPES = ["regular", "pipe", "socket", "char", "char", "anon", "memfd", "unknown"]
PATHS = ["/dev/pts/0", "/dev/urandom", "/dev/null", "/dev/shm/x", "/bin/a", "/bin/b", "pipe:[1]"]
ERRORS = ["ENOENT", "EINTR", "ERESTARTSYS"]
ARGS = [
    "child_stack=0x7f12, flags=CLONE_VM|CLONE_THREAD|CLONE_SIGHAND",
    "child_stack=NULL, flags=SIGCHLD",
    "filename=/bin/c pid=1 old_pid=1",
    "pid=9 comm=a clone_flags=3d0f00 oom_score_adj=0",
]
# Durations of a clock of microseconds, and of one of nanoseconds.
DURATIONS = st.one_of(st.integers(0, 12), st.sampled_from([0, 1000, 1000, 2000]))


@st.composite
def event(draw):
    kind = draw(st.sampled_from(["syscall"] * 12 + ["exit", "aio", "signal", "event"]))
    others = {
        "exit": ["exited", "superseded", "superseded"],
        "event": ["sched_process_exec", "task_newtask", "sched_switch"],
    }
    task = draw(maybe(st.integers(0, 7), 20))
    # Few processes, so that they have threads and one number after the other.
    pid = draw(st.sampled_from([(task or 0) % 2 + 1] * 20 + [3, None]))
    # Both grammars give every exit a name, which says whether the task is gone.
    name = st.sampled_from(others.get(kind, NAMES))
    return {
        "ts": draw(maybe(st.integers(0, 40), 30)),
        "dur_ns": draw(maybe(DURATIONS, 12)),
        "kind": kind,
        "name": draw(name if kind == "exit" else maybe(name, 40)),
        "args": draw(st.sampled_from([None, *ARGS])),
        "ret": draw(st.sampled_from([None, -1, 0, 0, 0, 8])),
        "errno": draw(st.sampled_from([None, None, None, *ERRORS])),
        "status": draw(maybe(st.sampled_from(STATUSES), 20)),
        "path": draw(maybe(st.sampled_from(PATHS), 6)),
        "file_type": draw(maybe(st.sampled_from(TYPES), 4)),
        "bytes": draw(maybe(st.integers(0, 9), 2)),
        "source": draw(st.sampled_from(["log", "log", "log", "other"])),
        "task": task,
        "pid": pid,
        "tid": draw(st.sampled_from([pid] * 8 + [1, 9, 9, None])),
        "comm": draw(st.sampled_from([None, None, "sh", "cat"])),
        "child": draw(maybe(st.integers(0, 7), 1)),
    }


def in_order(table):
    """Say whether the largest sums of times come first, and sums that are not known last.

    Calls without an end count with what they took at least.
    """
    totals = [
        -1 if total is None and open_ns is None else (total or 0) + (open_ns or 0)
        for total, open_ns in table.select("total_ns", "open_ns").rows()
    ]
    return totals == sorted(totals, reverse=True)


@pytest.mark.parametrize("by", [None, "process"])
@settings(max_examples=80, deadline=None)
@given(rows=st.lists(event(), max_size=40))
def test_every_column_is_that_of_the_slow_table(by, rows):
    table = summed(_core.Syscalls(by=by), frame(rows, COLUMNS))
    near_enough(plain(table), sorted(slow_syscalls(rows, by), key=repr))
    assert in_order(table)


@pytest.mark.parametrize("by", [None, "process"])
@settings(max_examples=60, deadline=None)
@given(rows=st.lists(event(), max_size=40), cuts=st.lists(st.integers(0, 40), max_size=6))
def test_batches_may_be_cut_anywhere(by, rows, cuts):
    check_cuts(partial(_core.Syscalls, by=by), frame(rows, COLUMNS), cuts)


@pytest.mark.parametrize("by", [None, "process"])
@settings(max_examples=40, deadline=None)
@given(rows=st.lists(event(), max_size=30))
def test_text_in_any_layout_gives_the_same_table(by, rows):
    make, ask = partial(_core.Syscalls, by=by), partial(tf.syscalls, by=by)
    check_layouts(make, ask, frame(rows, COLUMNS))


LOGS = [
    DATA / "counts" / "wall.strace",
    DATA / "calls" / "calls.strace",
    DATA / "calls" / "calls.ftrace",
    DATA / "spawn" / "spawn.strace",
    DATA / "spawn" / "spawn.ftrace",
]


@pytest.mark.parametrize("by", [None, "process"])
@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.name)
def test_real_logs_and_parts_of_them(log, by):
    # Times of the slow table are counted one by one, so in microseconds.
    micro = pl.col("ts", "dur_ns").cast(pl.Int64).floordiv(1000)
    events = pl.DataFrame(tf.read(log)).select(COLUMNS).with_columns(micro)
    events = events.with_columns(
        pl.col(WORDS).cast(pl.String),
        # Not from 1970 on, but from the start of the log.
        (pl.col("ts") - pl.col("ts").min()).cast(pl.Datetime("ns")),
    )
    parts = [
        events,
        events.filter(pl.col("name").is_in(["read", "futex", "wait4", "execve"])),
        events.filter(pl.col("task") % 2 == 1),
    ]
    for part in parts[: 1 if by is None else 3]:
        rows = part.with_columns(pl.col("ts").cast(pl.Int64)).to_dicts()
        table = tf.syscalls(part, by=by).collect()
        assert table.height > 3
        near_enough(plain(table), sorted(slow_syscalls(rows, by), key=repr))


@pytest.mark.parametrize("log", [*LOGS, DATA / "processes" / "thread-exec-4.8.strace.zst"])
def test_processes_are_those_of_the_table_of_processes(log):
    events = pl.DataFrame(tf.read(log)).lazy()
    image = pl.coalesce("image", "comm").alias("image")
    processes = tf.processes(events).filter(pl.col("calls") > 0).select("pid", image, "calls")
    calls = tf.syscalls(events, by="process").group_by("pid", "image")
    expected = processes.group_by("pid", "image").agg(pl.col("calls").sum())
    found = calls.agg(pl.col("calls").cast(pl.UInt64).sum())
    assert plain(found.collect()) == plain(expected.collect())
