"""A program that writes down its own waits, under strace: the table agrees with its record."""

import json
import shutil
import subprocess
import sys

import polars as pl
import pytest

import tracefast as tf

PROGRAM = """
import json, os, sys, threading, time

def timed(kind, waker, wait):
    start = time.perf_counter_ns()
    wait()
    return {"on": kind, "ns": time.perf_counter_ns() - start, "waker": waker}

record = []
for ms in (30, 80):
    r, w = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(r)
        time.sleep(ms / 1000)
        os.write(w, b"x")
        time.sleep(0.02)
        os._exit(0)
    os.close(w)
    record.append(timed("pipe", child, lambda: os.read(r, 1)))
    # The write's other half: the child's end closes the pipe.
    record.append(timed("pipe", child, lambda: os.read(r, 1)))
    record.append(timed("child", child, lambda: os.waitpid(child, 0)))
child = os.fork()
if child == 0:
    time.sleep(0.06)
    os._exit(3)
record.append(timed("child", child, lambda: os.waitpid(child, 0)))
lock = threading.Lock()
lock.acquire()
threading.Timer(0.05, lock.release).start()
record.append(timed("futex", os.getpid(), lock.acquire))
json.dump({"pid": os.getpid(), "waits": record}, open(sys.argv[1], "w"))
"""


@pytest.mark.skipif(shutil.which("strace") is None, reason="no strace")
def test_waits_are_those_that_the_program_wrote_down(tmp_path):
    program, log, own = (tmp_path / name for name in ("p.py", "log", "own.json"))
    program.write_text(PROGRAM)
    command = ["strace", "-f", "-ttt", "-T", "-o", log, sys.executable, "-I", program, own]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode != 0 and not own.exists():
        pytest.skip("strace may not trace here")
    written = json.loads(own.read_text())
    waits = tf.waits(tf.scan(log)).filter(pl.col("tid") == written["pid"]).collect()
    for wait in (wait for wait in written["waits"] if wait["ns"] > 5_000_000):
        like = waits.filter(pl.col("on") == wait["on"], pl.col("waker_pid") == wait["waker"])
        # strace adds its own time, on both sides.
        near = (like["dur_ns"] - wait["ns"]).abs() < wait["ns"] * 0.1 + 2_000_000
        assert near.any(), (wait, waits.select("on", "dur_ns", "waker_pid", "object").rows())
        assert like.filter(near)["waker_known"].to_list() == ["exact"]
