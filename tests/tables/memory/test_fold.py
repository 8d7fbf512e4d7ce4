"""The fold of the table of memory, compared with a slow and plain one."""

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tracefast as tf
from support.folding import check_cuts, check_layouts, frame, summed
from support.paths import DATA
from support.reference.memory import slow_memory
from tracefast import _core

NEEDED = list(_core.Memory().needed)
PAGE = 4096
FLAGS = ["MAP_PRIVATE|MAP_ANONYMOUS", "MAP_SHARED|MAP_ANONYMOUS", "MAP_PRIVATE", "MAP_SHARED"]
PATHS = ["/usr/lib/libc.so.6", "/dev/shm/x", "/memfd:numbers", "/dev/nvidia0", None]
FORK = "child_stack=NULL, flags=CLONE_CHILD_CLEARTID|SIGCHLD"
MAKES = [
    ("fork", ""),
    ("vfork", ""),
    ("clone", FORK),
    ("clone", "child_stack=0x7f12, flags=CLONE_VM|CLONE_VFORK|SIGCHLD"),
    ("clone", "child_stack=0x7f12, flags=CLONE_VM|CLONE_THREAD|CLONE_SIGHAND"),
    ("clone3", "uargs: 0x7ffd3a10, size: 0x58"),
]


@st.composite
def maps(draw):
    start = draw(st.integers(0, 9)) * PAGE
    length = draw(st.integers(1, 4 * PAGE))
    access = draw(st.sampled_from(["PROT_READ", "PROT_READ|PROT_WRITE", "PROT_NONE"]))
    name = draw(st.sampled_from(["mmap", "mmap", "mmap", "munmap", "mprotect", "mremap", "brk"]))
    ret = draw(st.sampled_from([0, 0, 0, -1, None]))
    row = {"name": name, "ret": ret, "cpu": draw(st.sampled_from([None] * 9 + [0]))}
    if name in ("mmap", "mremap", "brk") and ret == 0:
        row["ret"] = draw(st.integers(0, 9)) * PAGE
    if name == "mmap":
        flags = draw(st.sampled_from(FLAGS))
        row["fd"] = -1 if "ANON" in flags else draw(st.sampled_from([3, -1]))
        row["path"] = draw(st.sampled_from(PATHS)) if row["fd"] == 3 else None
        row["args"] = f"NULL, {length}, {access}, {flags}, {row['fd']}, 0"
    elif name == "mremap":
        row["args"] = f"{start:#x}, {length}, {draw(st.integers(1, 4)) * PAGE}, MREMAP_MAYMOVE"
    else:
        row["args"] = f"{start:#x}, {length}, {access}"
    return {"kind": "syscall", **row}


@st.composite
def others(draw):
    name, args = draw(st.sampled_from(MAKES))
    mm, size = draw(st.integers(1, 4)), draw(st.integers(0, 3)) * PAGE
    own = draw(st.integers(0, 1))
    member = draw(st.sampled_from(["type=MM_ANONPAGES", "member=0", "type=MM_SHMEMPAGES"]))
    return draw(
        st.sampled_from(
            [
                # Of a higher number than its maker's.
                {"kind": "syscall", "name": name, "args": args, "ret": 1, "child": 0},
                {"kind": "syscall", "name": name, "args": args, "ret": 1, "child": 0},
                {"kind": "syscall", "name": "execve", "ret": 0, "path": "/bin/sh"},
                {"kind": "syscall", "name": "execve", "ret": 0, "path": "/bin/sh"},
                {"kind": "syscall", "name": "execve", "ret": -1, "path": "/bin/none"},
                {"kind": "syscall", "name": "getpid", "ret": 1},
                {"kind": "exit", "name": "exited", "ret": 0},
                {"kind": "exit", "name": "superseded"},
                {
                    "kind": "event",
                    "name": "rss_stat",
                    "cpu": 0,
                    "args": f"mm_id={mm} curr={own} {member} size={size}B",
                },
            ]
        )
    )


@st.composite
def log(draw):
    drawn = draw(st.lists(st.one_of(maps(), maps(), others()), max_size=40))
    made, led, ended = set(), set(), set()
    rows = []
    for at, row in enumerate(drawn):
        # Tasks from 20 on are second threads of the processes 0 to 5.
        task = draw(st.integers(0, 5))
        row |= {"pid": task, "ts": at, "source": draw(st.sampled_from(["log", "log", "other"]))}
        if (row["source"], task) in ended:
            continue
        thread = (row["source"], task) in led and not draw(st.integers(0, 5))
        row |= {"task": task + 20 if thread else task, "tid": task + 20 if thread else task}
        led.add((row["source"], task))
        if row["kind"] == "exit" and not thread and row["name"] != "superseded":
            # The kernel reports a leader's exit after those of all threads (man 2 ptrace).
            ended.add((row["source"], task))
        row["status"] = draw(st.sampled_from(["complete"] * 9 + ["injected"]))
        if "child" in row:
            child = draw(st.integers(task + 1, 6))
            row["child"] = None if (row["source"], child) in made else child
            made.add((row["source"], child))
        rows.append(row)
    return rows


@settings(max_examples=250, deadline=None)
@given(rows=log())
def test_every_row_is_that_of_the_slow_table(rows):
    table = summed(_core.Memory(), frame(rows, NEEDED))
    got = table.with_columns(pl.col("ts").cast(pl.Int64)).to_dicts()
    assert got == slow_memory([{name: row.get(name) for name in NEEDED} for row in rows])


@settings(max_examples=100, deadline=None)
@given(rows=log(), cuts=st.lists(st.integers(0, 40), max_size=6))
def test_batches_may_be_cut_anywhere(rows, cuts):
    check_cuts(_core.Memory, frame(rows, NEEDED), cuts)


@settings(max_examples=60, deadline=None)
@given(rows=log())
def test_text_in_any_layout_gives_the_same_table(rows):
    check_layouts(_core.Memory, tf.memory, frame(rows, NEEDED))


@pytest.mark.parametrize(
    "log", ["memory/steps.strace.zst", "memory/steps.ftrace.zst", "spawn/spawn.strace"]
)
def test_the_table_of_a_log_is_the_slow_one(log):
    events = tf.scan(DATA / log).collect()
    table = tf.memory(events).collect()
    assert table.height > 0
    # A row for each change.
    numbers = ("anon_bytes", "file_bytes", "shm_bytes")
    before = [pl.col(name).shift(fill_value=0).over("source", "task") for name in numbers]
    same = [pl.col(name) == old for name, old in zip(numbers, before, strict=True)]
    assert table.filter(pl.all_horizontal(same)).is_empty()


def test_a_long_table_comes_in_parts(tmp_path):
    change = (
        "1 mmap(NULL, 4096, PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x1000\n"
        "1 munmap(0x1000, 4096) = 0\n"
    )
    path = tmp_path / "long.strace"
    path.write_text('1 execve("/bin/a", ["a"], 0x7f) = 0\n' + 20_000 * change)
    fold = _core.Memory()
    parts = []
    for batch in tf.read(path, columns=NEEDED):
        fold.push(batch)
        parts += [pl.DataFrame(part) for part in fold.ready()]
    assert len(parts) > 0
    rest = [pl.DataFrame(part) for part in fold.finish()]
    whole = pl.concat(parts + rest)
    assert whole.height == 40_000
    # By polars as well, and a part of it.
    for events in (tf.scan(path), tf.scan(path).collect()):
        assert tf.memory(events).collect().equals(whole)
        assert tf.memory(events).head(20_000).collect().equals(whole.head(20_000))
        assert tf.memory(events).filter(pl.col("anon_bytes") > 0).collect().height == 20_000
