"""The table of created tasks, on events made by hand and on recorded logs."""

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import tracefast as tf
from support.forks import FORK, MS, call
from tracefast.analysis.forks.table import SCHEMA


def table_of(events) -> pl.DataFrame:
    table = tf.forks(events).collect()
    assert dict(table.schema) == SCHEMA
    return table


def test_a_life(make_events):
    wait = {"args": "20, [{WIFEXITED(s) && WEXITSTATUS(s) == 3}], 0, NULL"}
    events = make_events(
        [
            call("execve", 1, 0, path="/bin/sh"),
            call("clone", 1, 10, ret=20, dur=2 * MS, args=FORK, child=2),
            call("set_robust_list", 2, 11),
            call("execve", 2, 15, ret=-1, errno="ENOENT", path="/usr/local/bin/true", dur=100),
            call("execve", 2, 16, ret=-1, errno="ENOENT", path="/sbin/true", dur=200),
            call("execve", 2, 17, path="/bin/true", dur=5 * MS),
            call("execve", 2, 30, path="/bin/other"),
            call("exited", 2, 41, ret=3, dur=None, kind="exit"),
            call("wait4", 1, 13, ret=20, dur=29 * MS, **wait),
            call("SIGCHLD", 1, 42, ret=None, dur=None, kind="signal")
            | {"args": "{si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=20, si_utime=2, si_stime=5}"},
        ]
    )
    row = table_of(events).row(0, named=True)
    expected = {
        "line": 2,
        "task": 1,
        "pid": 10,
        "parent_image": "/bin/sh",
        "name": "clone",
        "kind": "fork",
        "child_task": 2,
        "child_pid": 20,
        "errno": None,
        "call_ns": 2 * MS,
        "restarts": 0,
        "exec_gap_ns": 6 * MS,
        "exec_failed": 2,
        "exec_failed_ns": 300,
        "exec_ns": 5 * MS,
        "image": "/bin/true",
        "lifetime_ns": 30 * MS,
        "exit_status": 3,
        "exit_signal": None,
        "reap_ns": 1 * MS,
        "child_utime_ns": 20 * MS,
        "child_stime_ns": 50 * MS,
    }
    assert {name: row[name] for name in expected} == expected


def test_restarts_are_one_call(make_events):
    again = {"ret": None, "errno": "ERESTARTNOINTR", "status": "interrupted", "args": FORK}
    events = make_events(
        [
            call("clone", 1, 0, **again),
            call("clone", 2, 1, ret=90, args=FORK, child=9),
            call("clone", 1, 2, **again),
            call("clone", 1, 4, ret=30, args=FORK, child=3),
            call("clone", 1, 8, ret=40, args=FORK, child=4),
            call("clone", 2, 9, **again),
        ]
    )
    table = table_of(events)
    assert table.select("line", "task", "child_pid", "restarts", "call_ns", "errno").rows() == [
        (1, 1, 30, 2, 3 * MS, None),
        (2, 2, 90, 0, MS, None),
        (5, 1, 40, 0, MS, None),
        (6, 2, None, 0, MS, "ERESTARTNOINTR"),
    ]


def test_calls_that_fail_and_calls_that_are_made_up(make_events):
    events = make_events(
        [
            call("clone", 1, 0, ret=-1, errno="EAGAIN", args=FORK),
            call("fork", 1, 1, ret=20, status="injected"),
            call("fork", 1, 2, ret=None, dur=None, status="unfinished"),
        ]
    )
    table = table_of(events)
    columns = ("name", "child_task", "child_pid", "errno", "exec_failed", "call_ns")
    assert table.select(columns).rows() == [
        ("clone", None, None, "EAGAIN", None, MS),
        ("fork", None, None, None, None, None),
    ]


def test_the_child_side_of_ftrace_is_the_start_and_no_row(make_events):
    flags = "clone_flags: 0x1200011, newsp: 0, parent_tidptr: 0"
    events = make_events(
        [
            call("sched_wakeup_new", 2, 1, ret=None, kind="event"),
            call("clone", 2, 3, ret=0, dur=None, status="headless"),
            call("clone", 1, 0, ret=20, args=flags, child=2),
            call("sched_process_exec", 2, 5, ret=None, dur=None, kind="event")
            | {"args": "filename=/opt/my program pid=20 old_pid=20"},
            call("execve", 2, 4, path=None, args="filename: 0x7ff"),
            call("exit_group", 2, 8, ret=None, args="error_code: 0x2", status="unfinished"),
            call("sched_process_exit", 2, 9, ret=None, dur=None, kind="event"),
        ]
    )
    table = table_of(events)
    columns = ("kind", "exec_gap_ns", "image", "lifetime_ns", "exit_status")
    assert table.select(columns).rows() == [("fork", MS, "/opt/my program", 6 * MS, 2)]


@pytest.mark.parametrize(
    ("name", "args", "kind"),
    [
        ("fork", "", "fork"),
        ("vfork", "", "vfork"),
        ("clone", FORK, "fork"),
        ("clone", "child_stack=NULL, flags=CLONE_VM|CLONE_VFORK|SIGCHLD", "vfork"),
        ("clone", "child_stack=0x7f01, flags=CLONE_VM|CLONE_VFORK|SIGCHLD", "posix_spawn"),
        ("clone", "child_stack=0x7f01, flags=CLONE_VM|SIGCHLD", "shared"),
        ("clone", "child_stack=0x7f01, flags=CLONE_VFORK|SIGCHLD", "fork"),
        ("clone", "child_stack=0x7f01, flags=CLONE_VM|CLONE_FS|CLONE_THREAD", "thread"),
        (
            "clone3",
            "{flags=CLONE_VM|CLONE_VFORK|CLONE_CLEAR_SIGHAND, stack=0x7f}, 88",
            "posix_spawn",
        ),
        ("clone3", "{flags=CLONE_PIDFD, exit_signal=SIGCHLD, stack=NULL}, 88", "fork"),
        ("clone3", "{flags=0, exit_signal=SIGCHLD, stack=NULL, stack_size=0}, 88", "fork"),
        ("clone", "child_stack=NULL, flags=SIGCHLD", "fork"),
        ("clone", "clone_flags: 0x1200011, newsp: 0, tls: 0", "fork"),
        ("clone", "clone_flags: 1200011, newsp: 0, tls: 0", "fork"),
        ("clone", "clone_flags: 4111, newsp: 0, tls: 0", "vfork"),
        ("clone", "clone_flags: 0x4111, newsp: 0x7f, tls: 0", "posix_spawn"),
        ("clone", "clone_flags: 0x3d0f00, newsp: 0x7f, tls: 0", "thread"),
        ("clone", "clone_flags: 0x111, newsp: 0x7f, tls: 0", "shared"),
        ("clone3", "uargs: 0x7ffe, size: 88", None),
        ("clone", None, None),
    ],
)
def test_kinds(make_events, name, args, kind):
    assert table_of(make_events([call(name, 1, 0, ret=20, args=args)]))["kind"].to_list() == [kind]


def test_a_thread_is_known_by_its_process(make_events):
    events = make_events(
        [
            call("clone3", 1, 0, ret=20, args="uargs: 0x7ffe, size: 88", child=2),
            call("clone3", 1, 1, ret=30, args="uargs: 0x7ffe, size: 88", child=3),
            call("getpid", 2, 2) | {"pid": 10},
            call("getpid", 3, 3),
        ]
    )
    assert table_of(events)["kind"].to_list() == ["thread", None]


def test_a_child_runs_its_parents_program_until_it_starts_one(make_events):
    events = make_events(
        [
            call("execve", 1, 0, path="/bin/sh"),
            call("fork", 1, 1, ret=20, child=2),
            call("fork", 2, 2, ret=30, child=3),
            call("execve", 2, 3, ret=-1, errno="ENOENT", path="/no"),
            call("fork", 2, 4, ret=40, child=4),
            call("execve", 2, 5, path="/bin/make"),
            call("fork", 2, 6, ret=50, child=5),
            call("fork", 3, 7, ret=60, child=6),
            call("fork", 8, 8, ret=70, child=7, comm="worker"),
            call("fork", 9, 9, ret=80, child=10),
            call("fork", 1, 9, ret=90, child=11, source="other"),
        ]
    )
    images = table_of(events).sort("source", "line")["parent_image"].to_list()
    assert images == [*["/bin/sh"] * 3, "/bin/make", "/bin/sh", "worker", None, None]


def test_numbers_of_processes_are_used_again(make_events):
    signal = "{si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=20, si_utime=%d, si_stime=0}"
    events = make_events(
        [
            # Never collected by anyone in this log.
            call("fork", 1, 0, ret=20, child=2),
            call("getpid", 2, 1),
            call("exited", 2, 2, ret=0, dur=None, kind="exit"),
            call("fork", 1, 10, ret=20, child=3),
            call("getpid", 3, 11),
            call("wait4", 1, 12, ret=20, args="20, [{WIFSTOPPED(s) && WSTOPSIG(s) == SIGSTOP}]"),
            call("SIGKILL", 3, 15, ret=None, dur=None, kind="exit"),
            call("SIGCHLD", 1, 16, ret=None, kind="signal", args=signal % 4),
            call("waitid", 1, 17, ret=0, dur=2 * MS)
            | {"args": "P_PID, 20, {si_signo=SIGCHLD, si_code=CLD_KILLED, si_pid=20}, WEXITED"},
        ]
    )
    table = table_of(events)
    columns = ("child_task", "exit_signal", "lifetime_ns", "reap_ns", "child_utime_ns")
    assert table.select(columns).rows() == [
        (2, None, MS, None, None),
        (3, "SIGKILL", 4 * MS, 4 * MS, 40 * MS),
    ]


@pytest.mark.parametrize("name", ["wait4", "waitpid", "oldwait4", "osf_wait4"])
def test_every_call_that_waits_for_children_collects_them(make_events, name):
    waited = "20, [{WIFEXITED(s) && WEXITSTATUS(s) == 3}], 0, NULL"
    events = make_events(
        [
            call("fork", 1, 0, ret=20, child=2),
            call("exited", 2, 10, ret=3, dur=None, kind="exit"),
            call(name, 1, 5, ret=20, dur=7 * MS, args=waited),
        ]
    )
    assert table_of(events)["reap_ns"].to_list() == [2 * MS]


@pytest.mark.parametrize("name", ["exit", "_exit", "exit_group"])
def test_every_call_that_ends_a_task_is_asked_for_its_status(make_events, name):
    events = make_events(
        [
            call("clone2", 1, 0, ret=20, child=2),
            call(name, 2, 8, ret=None, args="error_code: 0x2", status="unfinished"),
            call("sched_process_exit", 2, 9, ret=None, dur=None, kind="event"),
        ]
    )
    assert table_of(events).select("name", "exit_status").rows() == [("clone2", 2)]


def test_the_program_under_strace(spawn_strace):
    table = table_of(tf.scan(spawn_strace))
    columns = ("kind", "image", "exec_failed", "exit_status", "exit_signal")
    assert table.select(columns).rows() == [
        ("thread", None, 0, 0, None),
        ("vfork", "/usr/bin/true", 2, 0, None),
        ("vfork", "/usr/bin/sh", 2, 3, None),
        ("vfork", None, 1, 255, None),
        ("posix_spawn", "/bin/true", 0, 0, None),
        ("fork", None, 0, 7, None),
        ("fork", None, 0, None, "SIGKILL"),
    ]
    assert table["child_pid"].to_list() == list(range(9531, 9538))
    assert table["call_ns"].to_list()[1:4] == [1_863_000, 1_656_000, 1_805_000]
    assert table["parent_image"].unique().to_list() == ["/usr/bin/python3"]
    assert table["reap_ns"].null_count() == 1
    assert table["lifetime_ns"].null_count() == 0


def test_the_program_under_ftrace(spawn_ftrace):
    # The first row is the recorder starting the program.
    table = table_of(tf.scan(spawn_ftrace)).slice(1)
    columns = ("name", "kind", "image", "exit_status")
    assert table.select(columns).rows() == [
        # The flags of clone3 are not in the log, but what the child does is.
        ("clone3", "thread", None, 0),
        ("vfork", "vfork", "/usr/bin/true", 0),
        ("vfork", "vfork", "/usr/bin/sh", 3),
        ("vfork", "vfork", None, 255),
        ("clone3", "posix_spawn", "/bin/true", 0),
        ("clone", "fork", None, 7),
        ("clone", "fork", None, None),
    ]
    assert table["child_pid"].to_list() == list(range(9539, 9546))
    assert table["lifetime_ns"].null_count() == 0
    assert (table["exec_gap_ns"].drop_nulls() > 0).all()


def test_the_same_table_from_a_log_from_parquet_and_from_a_frame(spawn, tmp_path):
    tf.parse(spawn, tmp_path / "events.parquet")
    expected = table_of(tf.scan(spawn))
    assert_frame_equal(table_of(tf.scan(tmp_path / "events.parquet")), expected)
    assert_frame_equal(table_of(tf.scan(spawn).collect()), expected)


def test_nothing(make_events):
    assert table_of(make_events([])).height == 0


def test_queries_on_the_table(spawn_strace):
    table = tf.forks(tf.scan(spawn_strace)).filter(pl.col("kind") == "vfork").select("call_ns")
    assert table.collect()["call_ns"].to_list() == [1_863_000, 1_656_000, 1_805_000]


def test_argv_are_the_arguments_of_the_first_program(spawn_strace, spawn_parquet, spawn_ftrace):
    for log in (spawn_strace, spawn_parquet):
        table = tf.forks(tf.scan(log)).select("image", "argv").collect()
        assert table.schema["argv"] == pl.List(pl.String)
        assert ("/usr/bin/sh", ["sh", "-c", "exit 3"]) in table.rows()
        assert table.filter(pl.col("image").is_null())["argv"].null_count() > 0
    # ftrace prints their address.
    table = tf.forks(tf.scan(spawn_ftrace)).collect()
    assert table["image"].count() > 0
    assert table["argv"].count() == 0
