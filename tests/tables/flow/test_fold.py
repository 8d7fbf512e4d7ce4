"""The folds of flow and roles, compared with slow and plain ones."""

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

import tracefast as tf
from support.folding import check_cuts, check_layouts, frame, summed
from support.paths import DATA
from support.reference.flow import slow_flow, slow_roles
from tracefast import _core

NEEDED = list(_core.Flow().needed)
PATHS = ["/srv/a.csv", "/srv/b", "/srv/code.py", "/srv/lib.so", "/etc/c", "/srv/d/e"]
FLAGS = ["O_RDONLY", "O_WRONLY|O_CREAT|O_TRUNC, 0666", "O_RDWR", "O_WRONLY|O_CREAT|O_APPEND"]
MAPS = [
    "PROT_READ, MAP_PRIVATE",
    "PROT_READ|PROT_EXEC, MAP_PRIVATE",
    "PROT_READ|PROT_WRITE, MAP_SHARED",
    "PROT_READ|PROT_WRITE, MAP_PRIVATE",
]
NAMES = ["rename", "link", "unlink"]
PROCESSES = {1: "process 100", 2: "process 200"}


@st.composite
def calls(draw):
    name = draw(
        st.sampled_from(
            [
                "read",
                "read",
                "pread64",
                "write",
                "write",
                "openat",
                "sendfile",
                "mmap",
                "rename",
                "link",
                "unlink",
            ]
        )
    )
    path, path2 = draw(st.sampled_from(PATHS)), draw(st.sampled_from(PATHS))
    row = {
        "name": name,
        "path": path,
        "task": draw(st.sampled_from([1, 2])),
        "ofd": draw(st.sampled_from([1, 2, 3, None])),
        "dur_ns": draw(st.sampled_from([None, 3])),
        "ret": draw(st.sampled_from([3, 3, 3, 3, 0, -1, None])),
        "args": "",
    }
    if name in ("read", "pread64", "write", "sendfile"):
        row["bytes"] = None if row["ret"] in (None, -1) else row["ret"]
    if name in ("rename", "link", "sendfile"):
        row["path2"] = path2
        row["ofd2"] = draw(st.sampled_from([1, 4])) if name == "sendfile" else None
    if name == "openat":
        row["args"] = f'AT_FDCWD, "x", {draw(st.sampled_from(FLAGS))}'
    if name == "mmap":
        row["args"] = f"NULL, 8192, {draw(st.sampled_from(MAPS))}, 3, 0"
        row["requested"], row["fd"] = 8192, 3
    return row


@st.composite
def logs(draw):
    rows = draw(st.lists(calls(), max_size=25))
    for at, row in enumerate(rows):
        pid = 100 * row["task"]
        row |= {"ts": at * 10, "pid": pid, "tid": pid, "kind": "syscall", "source": "log"}
        row["status"] = "complete"
        for name in ("bytes", "path2", "ofd2", "requested"):
            row.setdefault(name, None)
    return rows


def edges_of(table: pl.DataFrame) -> list[tuple]:
    columns = ["src", "dst", "how", "bytes", "calls", "ts_first", "ts_last"]
    return sorted(
        table.with_columns(pl.col(pl.Datetime).cast(int)).select(columns).rows(), key=repr
    )


def roles_of(table: pl.DataFrame) -> list[tuple]:
    rows = table.with_columns(
        pl.col(pl.Datetime).cast(int), pl.col("writers", "readers").list.sort()
    )
    columns = ["path", "role", "writers", "readers", "ts_written", "ts_read_after"]
    return sorted(rows.select(*columns, "from_path", "removed").rows(), key=repr)


@given(logs())
def test_edges_as_in_a_slow_table(rows):
    table = summed(_core.Flow(), frame(rows, NEEDED))
    assert edges_of(table) == slow_flow(rows, PROCESSES)


@given(logs())
def test_roles_as_in_a_slow_table(rows):
    table = summed(_core.Roles(), frame(rows, NEEDED))
    assert roles_of(table) == slow_roles(rows, PROCESSES)


@given(rows=logs(), cuts=st.lists(st.integers(0, 25), max_size=5))
def test_batches_may_be_cut_anywhere(rows, cuts):
    for make in (_core.Flow, _core.Roles, _core.Phases):
        check_cuts(make, frame(rows, list(make().needed)), cuts)


@settings(max_examples=30, deadline=None)
@given(rows=logs())
def test_text_in_any_layout_gives_the_same_table(rows):
    check_layouts(_core.Flow, tf.flow, frame(rows, NEEDED))
    check_layouts(_core.Roles, tf.roles, frame(rows, NEEDED))


def test_parquet_and_filtered_rows_give_the_table_of_the_log(tmp_path):
    log = DATA / "demo.strace.zst"
    tf.parse(log, tmp_path / "demo.parquet")
    for table in (tf.flow, tf.roles):
        of_log = table(tf.scan(log)).collect()
        assert of_log.height > 100
        assert table(tf.scan(tmp_path / "demo.parquet")).collect().equals(of_log)
        assert table(tf.scan(log).collect()).collect().equals(of_log)
