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

RANDOM = """
import fcntl, json, multiprocessing, os, random, socket, sys, threading, time

chance, record = random.Random(int(sys.argv[2])), []
context = multiprocessing.get_context("fork")

def wait(kind, prepare):
    # prepare gives what the waiter does, and what a child does after a while.
    waiter, act = prepare()
    delay = chance.uniform(0.02, 0.12)
    ready, go = os.pipe()
    child = os.fork()
    if child == 0:
        held = act(True)
        os.write(go, b"x")
        time.sleep(delay)
        act(held)
        time.sleep(0.01)
        os._exit(0)
    os.read(ready, 1)
    start = time.perf_counter_ns()
    waiter()
    record.append({"on": kind, "ns": time.perf_counter_ns() - start, "waker": child})
    os.waitpid(child, 0)

def once(act):
    return lambda first: None if first is True else act()

def pipe():
    r, w = os.pipe()
    return lambda: os.read(r, 1), once(lambda: os.write(w, b"x"))

def pair():
    one, other = socket.socketpair()
    return lambda: one.recv(1), once(lambda: other.send(b"x"))

def eventfd():
    fd = os.eventfd(0)
    return lambda: os.eventfd_read(fd), once(lambda: os.eventfd_write(fd, 1))

def semaphore():
    one = context.Semaphore(0)
    return one.acquire, once(one.release)

def flock():
    path = f"{sys.argv[1]}.lock"
    def act(first):
        if first is True:
            file = open(path, "w")
            fcntl.flock(file, fcntl.LOCK_EX)
            return file
        fcntl.flock(first, fcntl.LOCK_UN)
    return lambda: fcntl.flock(open(path, "w"), fcntl.LOCK_EX), act

kinds = {"pipe": pipe, "socket": pair, "eventfd": eventfd, "futex": semaphore, "lock": flock}
for kind in chance.choices(list(kinds), k=8):
    wait(kind, kinds[kind])
json.dump({"pid": os.getpid(), "waits": record}, open(sys.argv[1], "w"))
"""


def recorded(folder, seed):
    """Run a program under strace: its waits, and what it wrote down."""
    program, log, own = (folder / name for name in ("p.py", "log", "own.json"))
    program.write_text(PROGRAM if seed is None else RANDOM)
    command = ["strace", "-f", "-ttt", "-T", "-o", log, sys.executable, "-I", program, own]
    run = subprocess.run([*command, str(seed)], capture_output=True, text=True, check=False)
    if run.returncode != 0 and not own.exists():
        assert "Traceback" not in run.stderr
        pytest.skip("strace may not trace here")
    written = json.loads(own.read_text())
    waits = tf.waits(tf.scan(log)).filter(pl.col("tid") == written["pid"]).collect()
    return waits, [wait for wait in written["waits"] if wait["ns"] > 5_000_000]


@pytest.mark.skipif(shutil.which("strace") is None, reason="no strace")
@pytest.mark.parametrize("seed", [None, 1, 2, 3])
def test_waits_are_those_that_the_program_wrote_down(tmp_path, seed):
    for attempt in range(8):
        (folder := tmp_path / str(attempt)).mkdir()
        waits, written = recorded(folder, seed)
        missing = []
        for wait in written:
            like = waits.filter(pl.col("on") == wait["on"], pl.col("waker_pid") == wait["waker"])
            assert not like.is_empty(), (wait, waits.select("on", "waker_pid", "object").rows())
            # strace adds its own time, on both sides.
            near = (like["dur_ns"] - wait["ns"]).abs() < wait["ns"] * 0.1 + 2_000_000
            exact = like["waker_known"] == "exact"
            if not (near & exact).any():
                missing.append((wait, like.select("dur_ns", "waker_known").rows()))
        # On a busy machine time passes between a call and the clock, and between strace's clocks.
        if not missing:
            return
    pytest.fail(f"no such waits: {missing}")
