"""Whose children tasks are where calls return numbers of another pid namespace."""

from pathlib import Path

import polars as pl
import pytest

import tracefast as tf

FORK = "clone(child_stack=NULL, flags=CLONE_CHILD_CLEARTID|CLONE_CHILD_SETTID|SIGCHLD) ="
# With -z: lines come at the ends of calls.
START = f"""\
1000 execve("/bin/x", ["x"], 0x7ffc /* 9 vars */) = 0
1000 unshare(CLONE_NEWPID) = 0
1000 {FORK} 1001
1001 set_tid_address(0x7f00) = 1
1001 {FORK} 2
1002 gettid() = 2
1001 {FORK} 3
1003 gettid() = 3
"""


def read(folder: Path, text: str) -> tuple[dict[int, int | None], dict[int, int | None]]:
    """Give the parent of each process, and the child of each number that a call returned."""
    log = folder / "log.strace"
    log.write_text(text)
    processes = pl.DataFrame(tf.processes(tf.scan(log)).collect())
    forks = pl.DataFrame(tf.forks(tf.scan(log)).collect())
    pids = dict(processes.select("task", "pid").iter_rows())
    children = {
        number: pids.get(task)
        for number, task in forks.select("child_pid", "child_task").iter_rows()
    }
    return dict(processes.select("pid", "ppid").iter_rows()), children


@pytest.mark.parametrize("shown", [(4, 5), (4,), (5,)])
def test_own_numbers_and_their_order_show_the_parent(
    tmp_path: Path, shown: tuple[int, ...]
) -> None:
    own = "".join(f"{1000 + number} set_tid_address(0x7f00) = {number}\n" for number in shown)
    text = f"1005 close(9) = 0\n1004 close(9) = 0\n{own}1002 {FORK} 4\n1003 {FORK} 5\n"
    parents, children = read(tmp_path, START + text)
    assert parents == {1000: None, 1001: 1000, 1002: 1001, 1003: 1001, 1004: 1002, 1005: 1003}
    assert children == {1001: 1001, 2: 1002, 3: 1003, 4: 1004, 5: 1005}


def test_a_child_that_may_be_of_two_tasks_has_no_parent(tmp_path: Path) -> None:
    parents, children = read(tmp_path, f"{START}1002 {FORK} 4\n1003 {FORK} 5\n1007 close(9) = 0\n")
    assert parents == {1000: None, 1001: 1000, 1002: 1001, 1003: 1001, 1007: None}
    assert children == {1001: 1001, 2: 1002, 3: 1003, 4: None, 5: None}


def test_a_child_of_a_single_task_has_that_as_its_parent(tmp_path: Path) -> None:
    parents, _ = read(tmp_path, f"{START}1002 {FORK} 4\n1002 {FORK} 5\n1007 close(9) = 0\n")
    assert parents[1007] == 1002


def test_numbers_of_two_namespaces(tmp_path: Path) -> None:
    """Both have a task 2 and a task 3: which is which is open where something does not fit."""
    start = START.split("\n1001 set", maxsplit=1)[0] + f"\n1000 {FORK} 1002\n"
    inside = f"""\
1001 set_tid_address(0x7f00) = 1
1002 set_tid_address(0x7f00) = 1
1001 {FORK} 2
1002 {FORK} 2
1004 gettid() = 2
1003 gettid() = 2
"""
    text = start.replace(f"1000 {FORK}", f"1000 {FORK.replace('flags=', 'flags=CLONE_NEWPID|')}")
    parents, _ = read(
        tmp_path, text + inside + f"1003 {FORK} 3\n1004 {FORK} 4\n1005 gettid() = 4\n"
    )
    assert parents[1001] == parents[1002] == 1000
    assert parents[1005] in {1004, None}


def test_numbers_of_strace_change_nothing(tmp_path: Path) -> None:
    """A thread that starts a program goes on under the number of its leader."""
    text = f"""\
100 execve("/bin/x", ["x"], 0x7ffc /* 9 vars */) = 0
100 clone(child_stack=0x7f2, flags=CLONE_VM|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD) = 101
101 execve("/bin/y", ["y"], 0x7ffc /* 9 vars */ <unfinished ...>
100 +++ superseded by execve in pid 101 +++
100 <... execve resumed>) = 0
100 set_tid_address(0x7f00) = 100
100 {FORK} 102
102 gettid() = 102
"""
    parents, children = read(tmp_path, text)
    assert parents == {100: None, 102: 100}
    assert children[102] == 102
