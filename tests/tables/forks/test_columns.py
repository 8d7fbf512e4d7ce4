"""Single columns of the table of created tasks, on events made by hand and on recorded logs."""

import json
from statistics import median

import pytest

import tracefast as tf
from support.forks import FORK, MS, call
from support.paths import DATA
from tracefast.analysis.forks.evidence import fork_rows

FORKS = DATA / "forks"
UNTRACED = json.loads((FORKS / "untraced.json").read_text())
THREAD = "child_stack=0x7f01, flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD"


def event(name, task, ts, args):
    return call(name, task, ts, ret=None, dur=None, kind="event", status=None, args=args, cpu=0)


def first(events) -> dict[str, object]:
    return tf.forks(events).collect().row(0, named=True)


# Dynamic linking.

LIBRARY = [
    ("openat", {"ret": 3, "path": "/lib/libc.so.6"}),
    ("mmap", {"args": "NULL, 90, PROT_READ, MAP_PRIVATE, 3, 0", "ret": 0x8000, "requested": 90}),
    ("mmap", {"args": "0x8010, 40, PROT_READ|PROT_EXEC, MAP_PRIVATE, 3, 0x10", "ret": 0x8010}),
    ("close", {}),
]
CACHE = [
    ("openat", {"ret": 3, "path": "/etc/ld.so.cache"}),
    ("mmap", {"args": "NULL, 70, PROT_READ, MAP_PRIVATE, 3, 0", "ret": 0x9000, "requested": 70}),
]


def linked(make_events, steps, path_known=True):
    rows = [call("clone", 1, 0, ret=20, args=FORK, child=2), call("execve", 2, 10, path="/bin/a")]
    for at, (name, rest) in enumerate(steps):
        row = call(name, 2, 20 + 10 * at) | rest
        if name == "mmap":
            file = rest["args"].split(", ")
            row |= {"fd": int(file[4]), "offset": int(file[5], 0)}
            if path_known and rest["ret"] == 0x9000:
                row["path"] = "/etc/ld.so.cache"
        rows.append(row)
    row = first(make_events(rows))
    names = ("startup_ns", "startup_calls", "startup_libraries", "startup_misses")
    return tuple(row[name] for name in names)


@pytest.mark.parametrize("path_known", [True, False])
def test_linking_ends_when_the_cache_is_unmapped(make_events, path_known):
    missing = ("access", {"ret": -1, "errno": "ENOENT"})
    last = [("mprotect", {}), ("munmap", {"args": "0x9000, 70"})]
    rest = [("brk", {}), ("openat", {"ret": -1, "errno": "ENOENT"})]
    steps = [("brk", {}), missing, *CACHE, *LIBRARY, *last, *rest]
    # The ninth call after the first one, at 120 ms, to its end, from the end of execve at 11 ms.
    assert linked(make_events, steps, path_known) == (100 * MS, 10, 1, 1)


def test_linking_without_a_cache_ends_with_the_last_protection(make_events):
    steps = [*LIBRARY, ("mprotect", {}), ("mprotect", {}), ("brk", {}), ("getpid", {})]
    assert linked(make_events, [*steps, ("mprotect", {})]) == (60 * MS, 6, 1, 0)
    # Parts of mappings go, too.
    part = ("munmap", {"args": "0x8000, 40"})
    assert linked(make_events, [*LIBRARY, part, ("mprotect", {})]) == (60 * MS, 6, 1, 0)


def test_programs_that_are_not_linked_have_no_linking(make_events):
    static = [("brk", {}), ("mprotect", {}), ("getpid", {})]
    assert linked(make_events, static) == (None, None, None, None)
    # What they map themselves is no library.
    file = ("mmap", {"args": "NULL, 90, PROT_READ, MAP_PRIVATE, 3, 0", "ret": 1, "requested": 90})
    assert linked(make_events, [*static, file, ("munmap", {"args": "0x1, 90"})])[0] is None


# The pipe that reports a failed execve.


def piped(make_events, *, flags="O_CLOEXEC", dup=None, close=True, read=(0,), run=0, read_at=6):
    rows = [
        call("pipe2", 1, 0, ofd=5, ofd2=6, args=f"[3, 4], {flags}", dur=100),
        call("clone", 1, 1, ret=20, args=FORK, child=2),
    ]
    if close:
        rows.append(call("close", 1, 3, ofd=6, dur=100))
    if dup:
        rows.append(call(dup[0], 2, 4, ofd=6, args=dup[1], dur=100))
    failed = {"errno": "ENOENT"} if run else {}
    rows.append(call("execve", 2, 5, ret=run, path="/bin/a", dur=4 * MS) | failed)
    for at, ret in enumerate(read):
        rows.append(call("read", 1, read_at + 2 * at, ret=ret, ofd=5, dur=2 * MS))
    rows.append(call("exit_group", 2, 20, ret=None, dur=None, args="0"))
    rows.append(call("exited", 2, 21, dur=None, kind="exit"))
    return first(make_events(rows))["error_pipe_ns"]


def test_a_wait_on_the_error_pipe(make_events):
    assert piped(make_events) == 2 * MS
    # The message, then the end.
    assert piped(make_events, run=-1, read=(8, 0)) == 4 * MS
    for handed_on in (("dup3", "4, 9, O_CLOEXEC"), ("fcntl", "4, F_GETFD")):
        assert piped(make_events, dup=handed_on) == 2 * MS


@pytest.mark.parametrize(
    "other",
    [
        {"flags": "0"},
        # The program writes to it.
        {"dup": ("dup2", "4, 1")},
        {"dup": ("fcntl", "4, F_DUPFD, 10")},
        {"read": (8, 0)},
        # The parent could write to it.
        {"close": False},
        # It ended before the execve, or with the program.
        {"read_at": 2},
        {"read_at": 19},
        {"read": ()},
    ],
)
def test_other_pipes(make_events, other):
    assert piped(make_events, **other) is None


# Threads of the caller.


def test_threads_of_the_caller_that_live_at_the_call(make_events):
    rows = [
        call("clone", 1, 0, ret=20, args=THREAD, child=2),
        call("getpid", 2, 2) | {"pid": 10},
        # Never seen again.
        call("clone", 1, 4, ret=30, args=THREAD, child=3),
        # Ends during the call.
        call("exited", 2, 12, dur=None, kind="exit") | {"pid": 10},
        call("clone", 1, 10, ret=40, args=FORK, child=4, dur=5 * MS),
        call("getpid", 4, 16),
        call("clone", 4, 17, ret=50, args=FORK, child=5),
        call("clone", 1, 20, ret=60, args=FORK, child=6),
    ]
    for times in (True, False):
        events = make_events([row if times else row | {"ts": None} for row in rows])
        counts = tf.forks(events).sort("line").collect()["parent_tasks"].to_list()
        # Without times by rows: the thread had ended when the call was over.
        assert counts == [1, 2, 3 if times else 2, 1, 2]


# Events of ftrace.


def test_events_alone_show_births(make_events):
    events = make_events(
        [
            event("rss_stat", 1, 0, "mm_id=7 curr=1 type=MM_ANONPAGES size=8192B"),
            event("task_newtask", 1, 1, "pid=20 comm=sh clone_flags=1200000 oom_score_adj=0"),
            event("sched_process_fork", 1, 2, "comm=sh pid=10 child_comm=sh child_pid=20"),
            event("sched_wakeup", 2, 5, "comm=x pid=3"),
            event("sched_process_exec", 2, 6, "filename=/bin/a pid=20 old_pid=20"),
            event("sched_process_fork", 2, 8, "comm=a pid=20 child_comm=a child_pid=30"),
            event("sched_process_exit", 2, 9, "comm=a pid=20 prio=120"),
        ]
    )
    table = tf.forks(events).collect()
    columns = ("line", "task", "name", "kind", "child_task", "child_pid", "image", "lifetime_ns")
    assert table.select(columns).rows() == [
        (2, 1, None, "fork", 2, 20, "/bin/a", 4 * MS),
        (6, 2, None, None, None, 30, None, None),
    ]
    assert table["parent_image"].to_list() == [None, "/bin/a"]
    assert table["parent_anon_bytes"].to_list() == [8192, None]
    assert table["tracer_high_ns"].to_list() == [None, None]


def test_events_and_their_call_are_one_row(make_events):
    again = {"ret": None, "errno": "ERESTARTNOINTR", "status": "interrupted"}
    address = {"args": "uargs: 0x7ffe, size: 88", "cpu": 0}
    new_task = "pid=20 comm=sh clone_flags=4100 oom_score_adj=0"
    events = make_events(
        [
            call("clone3", 1, 0, **again) | address,
            event("task_newtask", 1, 3, new_task),
            event("sched_process_fork", 1, 4, "comm=sh pid=10 child_comm=sh child_pid=20"),
            call("clone3", 2, 5, dur=None, status="headless") | {"cpu": 0},
            call("clone3", 1, 2, ret=20, child=2) | address,
            call("vfork", 1, 8, ret=None, dur=None, status="unfinished") | {"cpu": 0},
        ]
    )
    table = tf.forks(events).collect()
    columns = ("line", "name", "kind", "child_task", "restarts", "call_ns")
    assert table.select(columns).rows() == [
        (1, "clone3", "posix_spawn", 2, 1, 2 * MS),
        (6, "vfork", "vfork", None, 0, None),
    ]


def test_clone3_by_number_is_recognised_by_what_the_child_does(make_events):
    number = {"args": "0x7ffe, 0x58, 0x7f01", "child": None}
    events = make_events(
        [
            call("set_robust_list", 2, 1),
            call("syscall_435", 1, 0, ret=20, dur=3 * MS) | number,
            call("execve", 3, 6, path="/bin/a"),
            call("syscall_0x1b3", 1, 5, ret=30, dur=3 * MS) | number,
            call("clone3", 1, 9, ret=40, child=4) | number,
            call("execve", 4, 11, path="/bin/a"),
            call("clone3", 1, 12, ret=50, child=5) | number,
        ]
    )
    table = tf.forks(events).collect()
    rows = [("clone3", "thread", 2), ("clone3", "posix_spawn", 3)]
    rows += [("clone3", "fork", 4), ("clone3", None, None)]
    assert table.select("name", "kind", "child_task").rows()[:3] == rows[:3]
    assert table["kind"].to_list()[3] is None
    assert table["parent_tasks"].to_list() == [1, 2, 2, 2]


# Recorded logs.


@pytest.mark.parametrize("name", ["open", "openat", "openat2", "creat"])
def test_every_call_that_opens_a_file_shows_what_the_parent_runs(make_events, name):
    module = "/usr/lib/python3.7/torch/__pycache__/__init__.cpython-37.pyc"
    opened = call(name, 1, 0, ret=3, path=module)
    row = fork_rows(make_events([opened, call("fork", 1, 1, ret=20, child=2)])).collect()
    assert row.select("parent_python", "parent_torch").rows() == [("3.7", True)]


@pytest.fixture(params=sorted(UNTRACED))
def recorded(request):
    kind = request.param
    table = tf.forks(tf.scan(FORKS / f"{kind}.strace.zst")).collect()
    # The first one was to warm up.
    return kind, table[1:], median(UNTRACED[kind]["start_ns"])


def test_ways_to_start_a_program(recorded):
    kind, table, _ = recorded
    assert table.select("kind", "image", "exit_status").rows() == [(kind, "/bin/true", 0)] * 8
    assert (table["parent_anon_bytes"] / 2**20).is_between(195, 225).all()
    assert table.select("startup_calls", "startup_libraries", "startup_misses").n_unique() == 1
    assert table["startup_libraries"][0] == 1
    assert table["error_pipe_ns"].is_null().all() == (kind == "posix_spawn")
    assert table["reap_ns"].is_between(0, 50 * MS).all()


def test_the_wait_for_the_child_ends_at_its_execve(recorded):
    kind, table, _ = recorded
    if kind == "fork":
        # The parent reads from before the child's first call, to the execve.
        took = table["exec_gap_ns"] + table["exec_ns"]
        assert (table["error_pipe_ns"] / took).is_between(0.5, 1.1).all()


def test_the_untraced_time_is_between_the_bounds(recorded):
    kind, table, untraced = recorded
    if kind == "fork":
        assert table["call_ns"].median() == pytest.approx(untraced, rel=0.15)
        return
    whole = table["call_ns"] + table["exec_gap_ns"] + table["exec_ns"]
    assert (whole - table["tracer_high_ns"]).median() <= untraced
    assert untraced <= (table["call_ns"] - table["tracer_low_ns"]).median()
    # A lower bound near zero would be useless.
    assert (table["tracer_low_ns"] / table["call_ns"]).median() > 0.15


def test_bounds_are_bounds(recorded):
    _, table, _ = recorded
    whole = table["call_ns"] + table["exec_gap_ns"] + table["exec_ns"]
    assert (table["tracer_low_ns"] > 0).all()
    assert (table["tracer_low_ns"] <= table["exec_gap_ns"]).all()
    assert (table["tracer_low_ns"] <= table["tracer_high_ns"]).all()
    assert (table["tracer_high_ns"] <= whole).all()
