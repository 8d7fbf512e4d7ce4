"""Programs that hang under ftrace, recorded where the kernel lets us."""

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import polars as pl
import pytest

import live
import tracefast as tf
from support.paths import DATA

EVENTS = (
    *("syscalls", "sched/sched_switch", "sched/sched_waking", "sched/sched_process_fork"),
    *("sched/sched_process_exec", "sched/sched_process_exit", "signal/signal_deliver"),
)
# By program: the verdicts and proofs of those who can never go on.
HANGS = {
    "first_thread_ended": {("deadlock", "private-futex")},
    "lock_at_fork": {("deadlock", "private-futex")},
    "semaphore": {("deadlock", "lost-child")},
    "busy_thread": set(),
    "told_by_signal": set(),
    "server": set(),
    "crossed_pipes": set(),
}


@pytest.fixture
def tracer():
    """An instance of tracefs of our own."""
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("tracefs needs root and the mount command")
    try:
        with live.tracing_instance() as instance:
            try:
                for event in EVENTS:
                    (instance / "events" / event / "enable").write_text("1")
                (instance / "options" / "event-fork").write_text("1")
                (instance / "buffer_size_kb").write_text("4096")
            except OSError:
                pytest.skip("events of system calls cannot be recorded here")
            yield instance
            (instance / "events" / "enable").write_text("0")
    except live.UnavailableError as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    if shutil.which("gcc") is None:
        pytest.skip("no compiler")
    program = tmp_path_factory.mktemp("program") / "hangs"
    compiler = ["gcc", "-O1", "-w", "-static", "-pthread", DATA / "stalls" / "hangs.c"]
    if subprocess.run([*compiler, "-o", program], capture_output=True, check=False).returncode:
        pytest.skip("no static C library")
    return program


def record(tracer: Path, command: list[str | Path], seconds: float) -> str:
    """Record a program from its start until it is killed after some seconds."""
    # It starts when the tracer knows it.
    shell = ["sh", "-c", 'read go; exec "$@"', "sh", *command]
    run = subprocess.Popen(shell, stdin=subprocess.PIPE, start_new_session=True)
    (tracer / "set_event_pid").write_text(str(run.pid))
    (tracer / "trace").write_text("")
    run.stdin.write(b"\n")
    run.stdin.close()
    time.sleep(seconds)
    os.killpg(run.pid, signal.SIGKILL)
    run.wait(10)
    return (tracer / "trace").read_text()


# How long a program may run until it hangs: on a busy machine that takes long.
PATIENCE_S = [0.8, 2, 5, 20]


@pytest.mark.parametrize("name", HANGS)
def test_what_ftrace_proves(tracer, program, tmp_path, name):
    for seconds in PATIENCE_S:
        (tmp_path / "log").write_text(record(tracer, [program, name], seconds))
        # The end of the child may wake its parent before that dies, too.
        stuck = tf.stuck(tf.scan(tmp_path / "log")).filter(pl.col("verdict") != "stalled").collect()
        found = set(stuck.select("verdict", "proof").rows())
        # However early it was killed, nothing else is proved.
        assert {row for row in found if row[0] == "deadlock"} <= HANGS[name]
        if found == HANGS[name]:
            break
    assert found == HANGS[name]


def test_lost_events_prove_nothing(tracer, program, tmp_path):
    for seconds in PATIENCE_S:
        text = record(tracer, [program, "first_thread_ended"], seconds)
        head, first, rest = text.partition("\n" + text.rpartition("#")[2].split("\n")[1])
        (tmp_path / "log").write_text(f"{head}\nCPU:0 [LOST 12 EVENTS]{first}{rest}")
        found = set(tf.stuck(tf.scan(tmp_path / "log")).collect()["verdict"])
        assert "deadlock" not in found
        if found == {"likely-deadlock"}:
            break
    assert found == {"likely-deadlock"}
