"""Programs under strace in several ways: what each log can prove, and what it cannot."""

import os
import shutil
import signal
import subprocess
import time

import pytest

import tracefast as tf
from support.paths import DATA

HANGS = ("crossed_pipes", "lost_child", "first_thread_ended", "started_writer", "told_by_signal")
PROVED = {"crossed_pipes", "lost_child", "first_thread_ended"}
TIMED = ("-f", "-ttt", "-T")
# By name: the options, and what is said of programs that hang.
RECORDERS = {
    "whole": (TIMED, {"deadlock", "stalled"}),
    "names": ((*TIMED, "-yy"), {"deadlock", "stalled"}),
    "numbers": ((*TIMED, "-X", "raw"), {"deadlock", "stalled"}),
    "no strings": ((*TIMED, "-v", "-s", "0"), {"deadlock", "stalled"}),
    "time of day": (("-f", "-tt", "-T"), {"deadlock", "stalled"}),
    "relative": (("-f", "-r", "-T"), {"deadlock", "stalled"}),
    "no durations": (("-f", "-ttt"), {"deadlock", "stalled"}),
    # Whoever else may act, these do not show.
    "descriptors": ((*TIMED, "-e", "trace=%desc"), {"likely-deadlock", "stalled"}),
    "few calls": ((*TIMED, "-e", "trace=futex,read,write"), {"likely-deadlock", "stalled"}),
    "no forks": ((*TIMED, "-e", "trace=!clone,clone3,fork,vfork"), {"likely-deadlock", "stalled"}),
    "no children": (("-ttt", "-T"), {"likely-deadlock", "stalled"}),
    "no times": (("-f",), set()),
}


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    """All programs under all recorders, at the same time, killed after a while."""
    if shutil.which("strace") is None or shutil.which("gcc") is None:
        pytest.skip("no strace, or no compiler")
    folder = tmp_path_factory.mktemp("recorders")
    source, program = DATA / "stalls" / "hangs.c", folder / "hangs"
    compiler = ["gcc", "-O1", "-w", "-static", "-pthread", source, "-o", program]
    if subprocess.run(compiler, capture_output=True, check=False).returncode != 0:
        pytest.skip("no static C library")
    runs = {}
    for recorder, (options, _) in RECORDERS.items():
        for name in HANGS:
            log = folder / f"{name} {recorder}"
            command = ["strace", *options, "-o", log, program, name]
            run = subprocess.Popen(
                command, stderr=subprocess.DEVNULL, cwd=folder, start_new_session=True
            )
            runs[name, recorder] = (log, run)
    wait_until_quiet([log for log, _ in runs.values()])
    for log, run in runs.values():
        if run.poll() is not None and not log.exists():
            pytest.skip("strace may not trace here")
        kill_the_programs(run.pid)
    for _, run in runs.values():
        try:
            run.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(run.pid, signal.SIGKILL)
    return {key: log for key, (log, _) in runs.items()}


def wait_until_quiet(files, quiet=1.5, patience=60):
    """Wait until no file has grown for a while: on a busy machine programs start late."""
    sizes, since = [], time.monotonic()
    end = since + patience
    while (now := time.monotonic()) < end and now - since < quiet:
        time.sleep(0.1)
        found = [file.stat().st_size if file.exists() else -1 for file in files]
        if found != sizes or -1 in found:
            sizes, since = found, time.monotonic()


def kill_the_programs(strace):
    """Kill all programs of a session but strace, which writes how they ended.

    They have a group of their own, so nobody sees another one's end of a pipe close.
    """
    found = subprocess.run(["pgrep", "-s", str(strace)], capture_output=True, check=False)
    groups = {os.getpgid(pid) for pid in map(int, found.stdout.split())} - {strace}
    for group in groups:
        os.killpg(group, signal.SIGKILL)


@pytest.mark.parametrize("recorder", RECORDERS)
@pytest.mark.parametrize("name", HANGS)
def test_what_each_log_proves(logs, name, recorder):
    _, wanted = RECORDERS[recorder]
    found = set(tf.stuck(tf.scan(logs[name, recorder])).collect()["verdict"])
    if name not in PROVED:
        # A sleeping process will wake it.
        assert "deadlock" not in found
        wanted = {"likely-deadlock", "stalled"} & wanted
    assert found <= wanted
    if "deadlock" in wanted:
        assert "deadlock" in found
