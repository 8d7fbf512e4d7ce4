"""Programs with worker processes that the test records: the table agrees with what they wrote."""

import json
import os
import shutil
import signal
import subprocess
import sys

import polars as pl
import pytest

import tracefast as tf
from support.paths import DATA

pytestmark = pytest.mark.skipif(shutil.which("strace") is None, reason="no strace")

# Programs of workers.py, the method, and how many workers were made for each round; None where one
# round follows the other without a pause.
PROGRAMS = [
    ("pool", "fork", [3, 3]),
    ("pool", "spawn", [3, 3]),
    ("pool", "forkserver", [3, 3]),
    ("preload", "forkserver", [3]),
    ("preload_all", "forkserver", [3, 3]),
    ("processes", "fork", [3]),
    ("processes", "spawn", [3]),
    ("processes", "forkserver", [3]),
    ("killed", "fork", [3]),
    ("replaced", "fork", [4]),
    ("replaced", "spawn", [4]),
    ("grown", "fork", [4]),
    ("grown", "forkserver", [4]),
    ("resized", "fork", None),
    ("executor", "spawn", None),
]


def recorded(folder, program, method):
    """Run a program of workers.py under strace: its events, and what it wrote."""
    shutil.copy(DATA / "workers" / "workers.py", folder)
    for name, size in {"index.json": 20_000, **{f"{at}.bin": 1000 for at in range(4)}}.items():
        (folder / name).write_bytes(bytes(size))
    python = [os.path.realpath(sys.executable), "-I", "-S", "-B"]
    command = ["strace", "-f", "-ttt", "-T", "-o", "log", *python, "workers.py", program, method]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if not run.stdout:
        # Such as: ptrace(PTRACE_TRACEME, ...): Operation not permitted
        assert "PTRACE" in run.stderr, run.stderr
        pytest.skip("strace may not trace here")
    return tf.scan(folder / "log"), json.loads(run.stdout)


@pytest.mark.parametrize(("program", "method", "rounds"), PROGRAMS)
def test_workers_are_those_that_the_program_made(tmp_path, program, method, rounds):
    events, known = recorded(tmp_path, program, method)
    table = tf.workers(events).collect()
    made = [pid for pid, _ in known["made"]]
    assert sorted(table["pid"]) == sorted(made)
    assert set(table["method"]) == {method}
    assert set(table["pool"]) == {0}
    if rounds:
        numbers = [number for number, count in enumerate(rounds) for _ in range(count)]
        found = dict(table.select("pid", "round").iter_rows())
        assert [found[pid] for pid in made] == numbers
    ended = {
        pid: status if signal_name is None else -signal.Signals[signal_name]
        for pid, status, signal_name in table.select(
            "pid", "exit_status", "exit_signal"
        ).iter_rows()
    }
    assert ended == dict(known["exits"])
    if program in ("killed", "replaced"):
        assert table["exit_signal"].eq("SIGKILL").sum() == 1
    jobs = dict(known["jobs"])
    assert dict(table.select("pid", pl.col("jobs").fill_null(0)).iter_rows()) == {
        pid: jobs.get(pid, 0) for pid in made
    }


def test_workers_of_processes_that_have_pools_themselves(tmp_path):
    events, known = recorded(tmp_path, "nested", "fork")
    table = tf.workers(events).collect()
    makers = [pid for pid, _ in known["made"]]
    pools = table.group_by("pool", maintain_order=True).agg("pid", pl.col("parent_pid").unique())
    assert sorted(pools["pid"][0]) == sorted(makers)
    assert sorted(parent for _, _, [parent] in pools[1:].iter_rows()) == sorted(makers)
    inner = table.filter(pl.col("pool") > 0)
    assert sorted(inner["pid"]) == sorted(pid for pid, _ in known["ready"])
    assert set(table["method"]) == {"fork"}
    assert set(table["round"]) == {0}
    assert set(table["exit_status"]) == {0}
