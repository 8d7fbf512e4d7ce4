"""The tables of created tasks and of processes say the same of them."""

import polars as pl
import pytest

import tracefast as tf
from support.forks import FORK, call
from support.paths import DATA

FOLDERS = ("spawn", "truth", "tasks", "golden", "calls", "events", "forks", "ftrace", "processes")
LOGS = [
    *sorted(
        path
        for folder in FOLDERS
        for path in (DATA / folder).glob("*")
        if path.suffix in (".strace", ".ftrace", ".log", ".zst")
    ),
    DATA / "demo.strace.zst",
    DATA / "demo.ftrace.zst",
]
THREAD = "child_stack=0x7f12, flags=CLONE_VM|CLONE_THREAD|CLONE_SIGHAND"


@pytest.mark.parametrize("log", LOGS, ids=lambda log: f"{log.parent.name}/{log.name}")
def test_forks_and_processes_agree(log):
    events = tf.scan(log).collect()
    processes = {row["task"]: row for row in tf.processes(events).collect().to_dicts()}
    children = tf.forks(events).filter(pl.col("child_task").is_not_null())
    for row in children.collect().to_dicts():
        child = processes.get(row["child_task"])
        if row["kind"] == "thread":
            assert child is None
        elif child is not None:
            assert child["kind"] == row["kind"]
            if not child["images"] and child["image"] is not None:
                assert child["image"] == row["parent_image"]
            if row["image"] is not None:
                assert child["images"][0] == row["image"]


def test_threads_that_threads_created_count_and_the_new_one_does_not(make_events):
    events = make_events(
        [
            call("clone", 1, 1, ret=20, args=THREAD, child=2),
            call("getpid", 2, 1),
            call("clone", 2, 3, ret=30, args=THREAD, child=3),
            call("getpid", 3, 4),
            call("clone", 3, 6, ret=40, args=THREAD, child=4),
        ]
    )
    assert tf.forks(events).collect()["parent_tasks"].to_list() == [1, 2, 3]


def test_the_program_of_a_parent_is_the_one_that_its_thread_started(make_events):
    events = make_events(
        [
            call("execve", 1, 1, path="/bin/first"),
            call("clone", 1, 3, ret=20, args=THREAD, child=2),
            call("getpid", 2, 4),
            call("execve", 2, 5, path="/bin/second") | {"tid": 10, "pid": 10},
            call("clone", 1, 7, ret=30, args=FORK, child=3),
        ]
    )
    assert tf.forks(events).collect()["parent_image"].to_list() == ["/bin/first", "/bin/second"]
