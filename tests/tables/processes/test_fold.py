"""The fold of the table of processes, compared with a slow and plain one."""

from hypothesis import given, settings
from hypothesis import strategies as st

import tracefast as tf
from support.folding import check_cuts, check_layouts, frame, maybe, plain, summed
from support.reference.processes import slow_processes
from tracefast import _core

NEEDED = list(_core.Processes().needed)
FLAGS = [
    "child_stack=NULL, flags=CLONE_CHILD_CLEARTID|CLONE_CHILD_SETTID|SIGCHLD",
    "child_stack=0x7f12, flags=CLONE_VM|CLONE_VFORK|SIGCHLD",
    "child_stack=NULL, flags=CLONE_VM|CLONE_VFORK|SIGCHLD",
    "child_stack=0x7f12, flags=CLONE_VM|CLONE_THREAD|CLONE_SIGHAND",
    "child_stack=0x7f12, flags=0x10100 /* CLONE_VM|CLONE_THREAD */|0",
    "0x4111, 0x7f12, 0, 0, 0",
    "clone_flags: 1200011, newsp: 0, parent_tidptr: 0",
    "clone_flags: 0x3d0f00, newsp: 0x7f12",
    "child_stack=0x7f12, flags=CLONE_VM|SIGCHLD",
]
FLAGS3 = [
    "{flags=CLONE_VM|CLONE_VFORK, exit_signal=SIGCHLD, stack=0x7f12, stack_size=0x9000}, 88",
    "{flags=CLONE_VM|CLONE_THREAD, exit_signal=0, stack=0x7f12}, 88",
    "{flags=0, exit_signal=SIGCHLD, stack=NULL, stack_size=0}, 88",
    "uargs: 0x7ffd3a10, size: 0x58",
]
STARTS = [
    '"/bin/sh", ["sh", "-c", "echo \\"a, b]\\"\\n"], 0x7ffd /* 39 vars */',
    '"/bin/sh", ["python3", "from multiprocessing.spawn impor"..., ...], 0x7ffd',
    '3</tmp/a[b>, "", ["\\303\\251", ""], [], AT_EMPTY_PATH',
    '"/bin/sh", [], 0x7ffd',
    '"/bin/sh", 0x7f00, ["A=1"]',
    "filename: 0x55d0, argv: 0x55e0, envp: 0x55f0",
]
DATA = ["read", "recvmsg", "pread64", "write", "sendto", "splice", "fsync", "poll", "mmap"]
TYPES = ["regular", "regular", "pipe", "socket", "anon", "char", "unknown", None]
PATHS = ["/dev/tty", "/dev/null", "/srv/a", None]


@st.composite
def event(draw):
    number = st.integers(0, 7)
    row = {
        "ts": draw(maybe(st.integers(0, 60), 30)),
        "dur_ns": draw(maybe(st.integers(0, 15), 3)),
        "task": draw(maybe(number, 60)),
        # Few numbers, so that they are those of other tasks, too.
        "tid": draw(maybe(st.integers(0, 5), 30)),
        "comm": draw(st.sampled_from([None, "sh", "worker"])),
        "status": draw(st.sampled_from(["complete"] * 20 + ["injected", "headless"])),
        "ret": draw(st.sampled_from([None, -1, 0, 0, 0, 3, 5])),
        "source": draw(st.sampled_from(["log", "log", "log", "other", None])),
        "kind": "syscall",
    }
    row["pid"] = draw(st.sampled_from([row["tid"], row["tid"], row["tid"], 1, 2, None]))
    return row | draw(st.one_of(making(), making(), calls(), calls(), ends(), events()))


@st.composite
def making(draw):
    name = draw(st.sampled_from(["clone", "clone", "clone3", "vfork", "fork", "syscall_435"]))
    args = draw(st.sampled_from(FLAGS3 if name == "clone3" else FLAGS))
    return {
        "name": name,
        "args": draw(maybe(st.just(args), 15)),
        "ret": draw(st.sampled_from([0, 1, 2, 3, 4, 5])),
        # Of a higher number than its maker's, so that no task is its own ancestor.
        "child": draw(st.sampled_from([None, 8, 9])),
    }


@st.composite
def calls(draw):
    name = draw(st.sampled_from([*DATA, "execve", "execve", "execveat"]))
    return {
        "kind": draw(st.sampled_from(["syscall"] * 9 + ["aio", "notice"])),
        "name": name,
        "args": draw(maybe(st.sampled_from(STARTS))) if "exec" in name else None,
        "path": draw(st.sampled_from(["/bin/sh", "/bin/true", None] if "exec" in name else PATHS)),
        "file_type": draw(st.sampled_from(TYPES)),
        "bytes": draw(st.sampled_from([None, 0, 7])),
    }


@st.composite
def ends(draw):
    status = draw(st.integers(0, 3))
    code = draw(st.sampled_from(["EXITED", "KILLED", "DUMPED", "STOPPED"]))
    how = status if code == "EXITED" else "SIGTERM"
    pid = draw(st.integers(1, 5))
    waited = draw(st.sampled_from(["WIFEXITED(s) && WEXITSTATUS(s) == 2", "WIFSTOPPED(s)"]))
    return draw(
        st.sampled_from(
            [
                {"kind": "exit", "name": "exited", "ret": status},
                {"kind": "exit", "name": "exited", "ret": status},
                {"kind": "exit", "name": "SIGKILL", "ret": None},
                {"kind": "exit", "name": "superseded", "ret": None},
                {"name": "exit_group", "args": str(status), "ret": None},
                {"name": "exit", "args": f"error_code: {status}", "ret": None},
                {"name": "wait4", "args": f"-1, [{{{waited}}}], 0, NULL", "ret": pid},
                {
                    "kind": "signal",
                    "name": "SIGCHLD",
                    "args": f"{{si_code=CLD_{code}, si_pid={pid}, si_uid=0, si_status={how}}}",
                },
            ]
        )
    )


@st.composite
def events(draw):
    pid = draw(st.integers(1, 5))
    return {"kind": "event", "ret": None} | draw(
        st.sampled_from(
            [
                {"name": "task_newtask", "args": f"pid={pid} comm=a clone_flags=1200000 oom=0"},
                {"name": "task_newtask", "args": f"pid={pid} comm=a clone_flags=3d0f00 oom=0"},
                {"name": "task_newtask", "args": f"pid={pid} comm=a clone_flags=4100 oom=0"},
                {
                    "name": "sched_process_fork",
                    "args": f"comm=a pid=1 child_comm=a child_pid={pid}",
                },
                {"name": "sched_process_exec", "args": "filename=/bin/ls pid=1 old_pid=1"},
                {"name": "sched_process_exit", "args": "comm=a pid=1 prio=120"},
                {"name": "sched_switch", "args": "prev_comm=a"},
            ]
        )
    )


@st.composite
def log(draw):
    """Make rows whose creations make tasks of higher numbers than those of their makers.

    Rings of makers are for the tests of the fold itself.
    """
    rows = draw(st.lists(event(), max_size=40))
    for row in rows:
        if row.get("child") is not None:
            row["child"] = draw(st.integers((row["task"] or 0) + 1, 8))
        if row["name"] in ("task_newtask", "sched_process_fork", "syscall_435"):
            # Any task may answer to these: the lowest one is the maker.
            row["task"] = 0
    return rows


def full(rows):
    return [{name: row.get(name) for name in NEEDED} for row in rows]


@settings(max_examples=250, deadline=None)
@given(rows=log())
def test_every_column_is_that_of_the_slow_table(rows):
    table = summed(_core.Processes(), frame(rows, NEEDED))
    expected = sorted(slow_processes(full(rows)), key=repr)
    for got, wanted in zip(plain(table), expected, strict=True):
        assert got == wanted


@settings(max_examples=100, deadline=None)
@given(rows=log(), cuts=st.lists(st.integers(0, 40), max_size=6))
def test_batches_may_be_cut_anywhere(rows, cuts):
    check_cuts(_core.Processes, frame(rows, NEEDED), cuts)


@settings(max_examples=60, deadline=None)
@given(rows=log())
def test_text_in_any_layout_gives_the_same_table(rows):
    check_layouts(_core.Processes, tf.processes, frame(rows, NEEDED))
