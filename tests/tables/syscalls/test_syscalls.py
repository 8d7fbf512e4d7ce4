"""What counts as a call, an error, waiting, and a process; and strace's own way of counting."""

import re
import shutil
import subprocess
from pathlib import Path

import polars as pl
import pytest

import tracefast as tf
from support import strace_tables
from support.paths import DATA
from tracefast.analysis.syscalls import strace_counts
from tracefast.cli.screen.strace_summary import render_summary

WALL = DATA / "counts" / "wall.strace"


def table_of(log: Path) -> str:
    """Give the table that strace printed after a trace."""
    return re.search(r"^% time.*", log.read_text(), re.MULTILINE | re.DOTALL)[0]


def by_name(table: pl.LazyFrame, *columns: str) -> dict[str, tuple]:
    return {row[0]: row[1:] for row in table.select("name", *columns).collect().rows()}


def test_the_summary_is_the_one_that_strace_printed():
    expected = table_of(WALL)
    # Calls that were restarted, and a handler that left an error in the register.
    assert re.search(r" 1 rt_sigreturn$", expected, re.MULTILINE)
    assert "ERESTART" in WALL.read_text()
    assert render_summary(strace_counts(tf.scan(WALL)).collect()) == expected


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_the_summary_is_the_one_that_strace_prints_today(tmp_path):
    log = tmp_path / "log"
    ran = subprocess.run(
        [
            *["strace", "-f", "-C", "-w", "--syscall-times=ns", "-o", log],
            *["sh", "-c", "ls /missing; echo | cat; sleep 0.01 & wait; kill -9 $$"],
        ],
        capture_output=True,
        check=False,
    )
    if not log.exists() or b"+++" not in log.read_bytes():
        pytest.skip(f"nothing may be traced here: {ran.stderr.decode()}")
    assert render_summary(strace_counts(tf.scan(log)).collect()) == table_of(log)


def test_what_took_equally_long_is_in_the_order_of_numbers(make_events):
    names = ["close", "syscall_0x999", "_llseek", "write", "read", "openat"]
    events = make_events([{"name": name, "dur_ns": 5, "ret": 0} for name in [*names, "openat"]])
    counted = strace_counts(events).collect()
    assert counted["name"].to_list() == [
        *["openat", "read", "write", "close"],
        # Those that x86-64 does not have.
        *["_llseek", "syscall_0x999"],
    ]
    assert counted["number"].to_list() == [257, 0, 1, 3, None, None]


@pytest.mark.parametrize("name", ["plain", "columns", "stderr", "wall"])
def test_calls_and_errors_are_those_that_strace_counts(name):
    log = DATA / "counts" / f"{name}.strace"
    counted = strace_counts(tf.scan(log)).select("name", "calls", "errors").collect()
    expected = strace_tables.of_log(log)
    assert len(expected) > 30
    assert strace_tables.counted_differently(expected, counted.rows()) == []


def test_seconds_of_times_that_were_cut_off_are_within_rounding(tmp_path):
    log = tmp_path / "log"
    log.write_text(re.sub(r"<(\d\.\d{6})\d{3}>$", r"<\1>", WALL.read_text(), flags=re.MULTILINE))
    assert log.read_bytes() != WALL.read_bytes()
    counted = dict(strace_counts(tf.scan(log)).select("name", "total_ns").collect().rows())
    expected = strace_tables.seconds(log.read_bytes())
    assert strace_tables.timed_differently(expected, counted.items()) == []
    counted["read"] += 20_000
    (found,) = strace_tables.timed_differently(expected, counted.items())
    assert found.startswith("read: strace says ")


def test_our_own_table_has_more_than_that_of_strace():
    table = by_name(tf.syscalls(tf.scan(WALL)), "calls", "errors", "unfinished")
    # One kill killed the task itself; interrupted calls are no errors; the result of a handler is
    # that of another call.
    assert table["kill"] == (3, 0, 1)
    assert table["rt_sigsuspend"][1] == 0
    assert table["rt_sigreturn"][1] == 0
    assert table["exit_group"][2] == 0
    assert table["access"] == (8, 8, 0)


@pytest.mark.parametrize("log", ["calls.ftrace", "calls-raw.ftrace"])
def test_ftrace_counts_what_strace_counts(log):
    strace = tf.scan(DATA / "calls" / "calls.strace")
    ftrace = tf.scan(DATA / "calls" / log)
    want = by_name(tf.syscalls(strace), "calls", "errors", "unfinished")
    found = by_name(tf.syscalls(ftrace), "calls", "errors", "unfinished")
    # The write that switched tracing on ends in the log. A task that kills itself has no result for
    # strace; for the kernel it had one.
    assert {name for name in want.keys() | found.keys() if want.get(name) != found.get(name)} == {
        "write",
        "kill",
    }
    assert found["write"] == (want["write"][0] + 1, 0, 0)
    assert (want["kill"], found["kill"]) == ((2, 0, 1), (2, 0, 0))
    assert {"clone", "clone3", "fork", "vfork"} & want.keys()
    # And its own way of counting: ftrace does not show what a handler left.
    want = by_name(strace_counts(strace), "calls", "errors")
    found = by_name(strace_counts(ftrace), "calls", "errors")
    assert {name for name in want.keys() | found.keys() if want.get(name) != found.get(name)} == {
        "write",
        "kill",
        "rt_sigreturn",
    }


def test_parts_of_submissions_and_other_rows_are_no_calls(make_events):
    events = make_events(
        [
            {"name": "io_submit", "dur_ns": 5, "ret": 1},
            {"kind": "aio", "name": "pread", "dur_ns": 50, "bytes": 512},
            {"kind": "signal", "name": "SIGCHLD"},
            {"kind": "event", "name": "sched_switch"},
            {"kind": "function", "name": "vfs_read", "dur_ns": 7},
        ]
    )
    assert tf.syscalls(events).select("name", "calls", "total_ns").collect().rows() == [
        ("io_submit", 1, 5)
    ]


def test_the_first_return_of_a_task_is_not_a_call_but_a_cut_one_is(make_events):
    cut = {"status": "headless"}
    events = make_events(
        [
            {"name": "clone", "ret": 0} | cut,
            {"name": "clone", "ret": 77, "child": 3} | cut,
            {"name": "read", "ret": 0, "bytes": 0} | cut,
        ]
    )
    for table in (tf.syscalls(events), strace_counts(events)):
        assert dict(table.select("name", "calls").collect().rows()) == {"clone": 1, "read": 1}


def test_what_has_no_duration_has_no_times(make_events):
    events = make_events(
        [
            {"name": "read", "dur_ns": None, "file_type": "pipe"},
            {"name": "read", "dur_ns": None, "status": "unfinished", "file_type": "pipe"},
            {"name": "write", "dur_ns": 9, "ret": 3, "bytes": 3},
            {"name": "write", "dur_ns": None, "status": "killed"},
        ]
    )
    write, read = tf.syscalls(events).collect().to_dicts()
    times = [name for name in read if name.endswith("_ns")]
    assert all(read[name] is None for name in [*times, "total_share", "bytes"])
    assert (read["calls"], read["unfinished"]) == (2, 1)
    assert (write["total_ns"], write["mean_ns"], write["bytes"]) == (9, 9, 3)
    # Its start is not known.
    assert write["wall_ns"] is None


@pytest.mark.parametrize(
    ("name", "type_", "path", "expected"),
    [
        ("read", "pipe", "pipe:[1]", 10),
        ("read", "fifo", "/run/fifo", 10),
        ("read", "socket", "socket:[1]", 10),
        ("read", "anon", "anon_inode:[eventfd]", 10),
        ("read", "anon", "anon_inode:inotify", 10),
        ("read", "char", "/dev/pts/3", 10),
        ("read", "char", "/dev/tty", 10),
        ("read", "char", "/dev/urandom", 0),
        ("read", "char", "/dev/zero", 0),
        ("read", "char", None, 10),
        ("read", "regular", "/etc/passwd", 0),
        ("read", "block", "/dev/vda", 0),
        ("read", "memfd", "/memfd:x", 0),
        ("read", None, None, None),
        ("read", None, "[io_uring]", None),
        # All that is known is a name.
        ("read", None, "/etc/passwd", 0),
        ("read", "unknown", "/dev/shm/x", 0),
        ("read", None, "/dev/pts/3", 10),
        ("read", None, "/dev/zero", 0),
        ("splice", "pipe", "pipe:[1]", 10),
        ("sendfile", "regular", "/a", 0),
        # Whatever they act on.
        ("poll", None, None, 10),
        ("recvmsg", None, None, 10),
        ("futex", None, None, 10),
        ("clock_nanosleep", None, None, 10),
        ("wait4", None, None, 10),
        ("restart_syscall", None, None, 10),
        ("write", "pipe", "pipe:[1]", 0),
        ("fsync", "regular", "/a", 0),
        ("openat", None, "/run/fifo", 0),
    ],
)
def test_waiting_and_working_by_the_file_of_the_descriptor(
    make_events, name, type_, path, expected
):
    events = make_events([{"name": name, "file_type": type_, "path": path, "dur_ns": 10}])
    assert tf.syscalls(events).select("total_ns", "wait_ns").collect().rows() == [(10, expected)]


def test_shares_are_those_of_a_log(make_events):
    events = make_events(
        [
            {"name": "read", "dur_ns": 30, "source": "a"},
            {"name": "write", "dur_ns": 10, "source": "a"},
            {"name": "read", "dur_ns": 7, "source": "b"},
        ]
    )
    table = tf.syscalls(events).select("source", "name", "total_share").collect()
    assert table.rows() == [("a", "read", 0.75), ("a", "write", 0.25), ("b", "read", 1.0)]


def test_time_under_way_counts_once(make_events):
    times = [(0, 10), (5, 10), (30, 5), (100, 0)]
    rows = [{"name": "read", "ts": ts, "dur_ns": ns, "task": ts} for ts, ns in times]
    table = tf.syscalls(make_events(rows)).select("total_ns", "wall_ns").collect()
    assert table.rows() == [(25, 20)]


def processes(events: pl.DataFrame) -> list[tuple]:
    table = tf.syscalls(events, by="process").select("pid", "image", "name", "calls")
    return sorted(table.collect().rows(), key=repr)


def call(task: int, pid: int, tid: int, name: str = "read", **more: object) -> dict[str, object]:
    return {"task": task, "pid": pid, "tid": tid, "name": name, "ret": 0} | more


def test_a_number_that_is_used_again_is_another_process(make_events):
    events = make_events(
        [
            call(0, 100, 100, "execve", path="/bin/a"),
            call(1, 100, 101),
            call(0, 100, 100),
            call(2, 100, 100, "execve", path="/bin/b"),
            # A thread of the second, though its number is one of the first's.
            call(3, 100, 101),
            call(3, 100, 101),
        ]
    )
    everything = [
        (100, "/bin/a", "execve", 1),
        (100, "/bin/a", "read", 2),
        (100, "/bin/b", "execve", 1),
        (100, "/bin/b", "read", 2),
    ]
    assert processes(events) == everything
    # In any order, and in any part of the log.
    assert processes(events.reverse()) == everything
    reads = [(100, None, "read", 2), (100, None, "read", 2)]
    assert processes(events.filter(pl.col("name") == "read")) == [(100, None, "read", 4)]
    assert processes(events.filter(pl.col("line") != 4)) != reads


def test_a_thread_that_becomes_the_first_by_execve_is_the_same_process(make_events):
    gone = {"kind": "exit", "ret": None}
    rows = [
        call(0, 100, 100, "execve", path="/bin/a"),
        call(1, 100, 101),
        call(0, 100, 100, "superseded") | gone,
        call(1, 100, 100, "execve", path="/bin/b"),
        call(1, 100, 100),
    ]
    assert processes(make_events(rows)) == [
        (100, "/bin/b", "execve", 2),
        (100, "/bin/b", "read", 2),
    ]
    # Also where the end of the first thread is not among the events.
    assert processes(make_events([*rows[:2], *rows[3:]])) == processes(make_events(rows))
    # Or where the other one never showed itself before.
    assert processes(make_events([rows[0], *rows[2:]])) == [
        (100, "/bin/b", "execve", 2),
        (100, "/bin/b", "read", 1),
    ]


def test_a_process_that_starts_no_program_runs_that_of_its_parent(make_events):
    events = make_events(
        [
            call(0, 100, 100, "execve", path="/bin/a"),
            # The grandchild and the child show themselves before the calls that make them return.
            call(2, 102, 102, comm="other"),
            call(1, 101, 101, "fork", ret=102, child=2),
            call(0, 100, 100, "fork", ret=101, child=1),
            call(0, 100, 100, "execve", path="/bin/b"),
            call(1, 101, 101),
            call(3, 103, 103, comm="named"),
            call(5, 103, 109, comm="thread"),
            call(4, 104, 104, "execve", ret=-1, errno="ENOENT", path="/bin/c"),
        ]
    )
    assert processes(events) == [
        (100, "/bin/b", "execve", 2),
        (100, "/bin/b", "fork", 1),
        (101, "/bin/a", "fork", 1),
        (101, "/bin/a", "read", 1),
        (102, "/bin/a", "read", 1),
        (103, "named", "read", 2),
        (104, None, "execve", 1),
    ]


def test_the_maker_of_a_process_is_recorded_once(make_events):
    events = make_events(
        [
            call(0, 100, 100, "execve", path="/bin/a"),
            call(1, 101, 101, "execve", path="/bin/b"),
            call(0, 100, 100, "fork", ret=102, child=2),
            call(1, 101, 101, "fork", ret=102, child=2),
            # And no process is its own ancestor.
            call(3, 103, 103, "fork", ret=104, child=4),
            call(4, 104, 104, "fork", ret=103, child=3),
            call(2, 102, 102),
        ]
    )
    images = {pid: image for pid, image, _name, _calls in processes(events)}
    assert images == {100: "/bin/a", 101: "/bin/b", 102: "/bin/a", 103: None, 104: None}


def test_by_process_of_a_real_log():
    table = tf.syscalls(tf.scan(DATA / "spawn" / "spawn.strace"), by="process").collect()
    images = dict(table.select("pid", "image").unique().rows())
    assert images == {
        9530: "/usr/bin/python3",
        9532: "/usr/bin/true",
        9533: "/usr/bin/sh",
        # These were forked, and started nothing: one could not, two did not want to.
        9534: "/usr/bin/python3",
        9535: "/bin/true",
        9536: "/usr/bin/python3",
        9537: "/usr/bin/python3",
    }
    whole = tf.syscalls(tf.scan(DATA / "spawn" / "spawn.strace")).collect()
    for column in ("calls", "errors", "total_ns", "wait_ns", "bytes"):
        assert table[column].sum() == whole[column].sum()
    assert abs(table["total_share"].sum() - 1) < 1e-9


def test_what_is_missing_is_named():
    with pytest.raises(pl.exceptions.ColumnNotFoundError, match=r"tracefast\.syscalls.*'errno'"):
        tf.syscalls(pl.DataFrame({"ts": []}))
    with pytest.raises(ValueError, match="by must be None, 'process' or 'phase'"):
        tf.syscalls(pl.DataFrame(), by="thread")


def test_the_table_is_lazy():
    table = tf.syscalls(tf.scan(WALL))
    assert table.collect_schema().names()[:3] == ["source", "name", "calls"]
    assert table.filter(pl.col("errors") > 0).select("name").head(1).collect().height == 1
    assert "SYSCALLS" in table.explain()
    assert table.collect().equals(table.collect())
