"""Messages from workers: their number, and what their maker waited for them."""

import json
import shutil
import subprocess
import sys

import polars as pl
import pytest

import tracefast as tf
from support.paths import DATA


def known(name):
    """Give what a program wrote."""
    return json.loads((DATA / "workers" / f"{name}.json").read_text())


# Logs of programs that know how many jobs each worker did, each of which has one result.
NAMES = sorted(path.stem for path in (DATA / "workers").glob("*.json"))
KNOWN = [name for name in NAMES if known(name).get("made") and known(name).get("jobs")]
PROGRAM = """
import json, os, sys, time

DELAYS = [0.03, 0.005, 0.08, 0.02]

def work(jobs, results, path):
    while job := os.read(jobs, 1):
        with open(path, "rb") as file:
            file.read()
        time.sleep(DELAYS[job[0]])
        os.write(results, job * 10)

open("data", "wb").write(bytes(100_000))
to, results = [], os.pipe()
workers = []
for _ in range(2):
    jobs = os.pipe()
    if (pid := os.fork()) == 0:
        os.close(jobs[1])
        for other in to:
            os.close(other)
        work(jobs[0], results[1], "data")
        os._exit(0)
    os.close(jobs[0])
    workers.append(pid)
    to.append(jobs[1])
waits = []
for job in range(len(DELAYS)):
    os.write(to[job % 2], bytes([job]))
    start = time.perf_counter_ns()
    os.read(results[0], 10)
    waits.append(time.perf_counter_ns() - start)
    time.sleep(0.002)
for end in to:
    os.close(end)
for _ in workers:
    os.wait()
json.dump({"workers": workers, "waits": waits}, open(sys.argv[1], "w"))
"""


@pytest.mark.parametrize("name", KNOWN)
def test_each_job_has_a_result(name):
    events = tf.scan(DATA / "workers" / f"{name}.strace.zst")
    table = tf.batches(events).collect()
    assert dict(table.group_by("worker_pid").len().rows()) == dict(known(name)["jobs"])
    assert table["worker_busy_ns"].null_count() == 0
    # Each job reads two files, and sleeps for 10 ms but for those of the trainer. Where the maker's
    # write returned later than the read of it, the first calls of a job are not seen as its.
    if name not in ("mapped_fork", "kept_fork"):
        assert set(table["worker_files"]) <= {2, 3}
    if name not in ("train_fork", "mapped_fork", "kept_fork"):
        assert table["worker_busy_ns"].min() > 10_000_000
        assert table["worker_wait_ns"].min() > 5_000_000
    # A pool or an executor receives by a thread of its own.
    maker = tf.workers(events).collect()["parent_pid"][0]
    itself = name.startswith(("processes", "killed", "train", "mapped", "kept"))
    assert set(table["maker_tid"] == maker) == {itself}
    workers = tf.workers(events).select("pool", "round", worker_pid="pid").collect()
    keys = ["pool", "round", "worker_pid"]
    assert table.select(keys).unique().join(workers, on=keys, how="anti").is_empty()
    numbers = table.group_by("pool", "round", maintain_order=True).agg("batch")["batch"]
    assert all(part == list(range(len(part))) for part in numbers.to_list())


def recorded(folder):
    """Run the program under strace: its batches, and what it wrote down."""
    program, log, own = (folder / name for name in ("p.py", "log", "own.json"))
    program.write_text(PROGRAM)
    command = ["strace", "-f", "-ttt", "-T", "-o", log, sys.executable, "-I", program, own]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if run.returncode != 0 and not own.exists():
        pytest.skip("strace may not trace here")
    return tf.batches(tf.scan(log)).collect(), json.loads(own.read_text())


def are_near(waits, written):
    return all(
        abs(wait - own) < own * 0.1 + 2_000_000 for wait, own in zip(waits, written, strict=True)
    )


@pytest.mark.skipif(shutil.which("strace") is None, reason="no strace")
def test_waits_are_those_that_the_maker_wrote_down(tmp_path):
    for attempt in range(8):
        (folder := tmp_path / str(attempt)).mkdir()
        table, written = recorded(folder)
        assert table["worker_pid"].to_list() == written["workers"] * 2
        assert table["bytes"].to_list() == [10] * 4
        # On a busy machine time passes between a call and the clock, and before a worker goes on.
        if are_near(table["wait_ns"], written["waits"]) and written["waits"][2] < 120_000_000:
            break
    else:
        pytest.fail(f"{table['wait_ns'].to_list()} are not {written['waits']}")
    assert set(table["worker_read_bytes"]) == {100_000}
    assert table["slowest_path"].str.ends_with("data").all()
    # The worker of the longest job slept for 80 ms of that.
    assert table["cause"][2] == "waiting"


def test_each_step_of_a_trainer_that_takes_batches_in_their_order_is_a_row():
    table = tf.batches(tf.scan(DATA / "workers" / "mapped_fork.strace.zst")).collect()
    steps = known("mapped_fork")["steps"]
    assert table["batch"].to_list() == list(range(len(steps)))
    # In one step it may receive several images, or none: what came early is used later, and took
    # the trainer no longer than giving back the one before. The first step starts the workers.
    assert not table["line"].is_sorted()
    own = [round((end - start) * 1e9) for start, end in steps]
    assert are_near(table["wait_ns"][1:], own[1:])
    ends = table["ts"].dt.timestamp("ns") / 1e9
    assert all(abs(at - end) < 0.001 for at, (_, end) in zip(ends, steps, strict=True))
    assert table.select((pl.col("take_over_ns") > 0).all()).item()
    assert table.select((pl.col("take_over_ns") <= pl.col("wait_ns")).all()).item()
    # Each came from the worker that had the image, and one image took long.
    workers = table["worker_pid"].to_list()
    assert workers == workers[:3] * 8
    late = table.filter(pl.col("cause") != "queue")[1:]
    assert late.select("batch", "cause").rows() == [(7, "waiting")]


# A trainer takes two messages with memory, one directly after the other.
EARLY = r"""
7 0.000100 pipe2([3<pipe:[1]>, 4<pipe:[1]>], 0) = 0 <0.000010>
7 0.000200 pipe2([5<pipe:[2]>, 6<pipe:[2]>], 0) = 0 <0.000010>
7 0.001000 clone(child_stack=NULL, flags=SIGCHLD) = 8 <0.000200>
7 0.006000 write(4<pipe:[1]>, "\0\0\0\1a\0\0\0\1b", 10) = 10 <0.000020>
8 0.007000 read(3<pipe:[1]>, "\0\0\0\1", 4) = 4 <0.000010>
8 0.007100 read(3<pipe:[1]>, "a", 1) = 1 <0.000010>
8 0.010000 write(6<pipe:[2]>, "\0\0\0\1A", 5) = 5 <0.000020>
8 0.010100 read(3<pipe:[1]>, "\0\0\0\1", 4) = 4 <0.000010>
8 0.010200 read(3<pipe:[1]>, "b", 1) = 1 <0.000010>
7 0.009000 read(5<pipe:[2]>, "\0\0\0\1", 4) = 4 <0.001100>
7 0.010200 read(5<pipe:[2]>, "A", 1) = 1 <0.000010>
7 0.010300 mmap(NULL, 4096, PROT_READ, MAP_SHARED, 9</dev/shm/A>, 0) = 0x7000 <0.000100>
8 0.029000 write(6<pipe:[2]>, "\0\0\0\1B", 5) = 5 <0.000020>
7 0.010500 read(5<pipe:[2]>, "\0\0\0\1", 4) = 4 <0.018600>
7 0.029200 read(5<pipe:[2]>, "B", 1) = 1 <0.000010>
7 0.029300 mmap(NULL, 4096, PROT_READ, MAP_SHARED, 9</dev/shm/B>, 0) = 0x8000 <0.000100>
7 0.030000 clock_nanosleep(CLOCK_REALTIME, 0, {tv_sec=0, tv_nsec=5000000}, NULL) = 0 <0.005000>
"""
B_FIRST = "7 0.040000 munmap(0x8000, 4096) = 0 <0.000300>\n"
SLEPT = (
    "7 0.041000 clock_nanosleep(CLOCK_REALTIME, 0, {tv_sec=0, tv_nsec=5000}, NULL) = 0 <0.000050>\n"
)
LOOKED = '7 0.036000 openat(AT_FDCWD, "/etc/hosts", O_RDONLY) = 9 <0.000010>\n'
SPOKE = '7 0.036000 write(1</dev/pts/0>, "loss", 4) = 4 <0.000010>\n'
SPOKE_LATER = '7 0.040500 write(1</dev/pts/0>, "loss", 4) = 4 <0.000010>\n'
A_LATER = "7 0.050000 munmap(0x7000, 4096) = 0 <0.000100>\n"
ENDED = "7 0.060000 +++ exited with 0 +++\n"


@pytest.mark.parametrize(
    ("more", "rows"),
    [
        # Who gives back the second one first waited for it, and used the other one after it.
        # Between two sleeps it does nothing but take them over.
        (B_FIRST + A_LATER + ENDED, [("B", 21_000_000, 790_000), ("A", 5_300_000, 5_300_000)]),
        (B_FIRST + ENDED, [("B", 21_000_000, 790_000), ("A", 5_300_000, 5_300_000)]),
        (B_FIRST + SLEPT + ENDED, [("B", 21_000_000, 790_000), ("A", 6_000_000, 6_000_000)]),
        # A file that it opens and a text that it writes are its own work.
        (LOOKED + B_FIRST + ENDED, [("B", 21_000_000, 790_000), ("A", 300_000, 300_000)]),
        (SPOKE + B_FIRST + ENDED, [("B", 21_000_000, 790_000), ("A", 300_000, 300_000)]),
        (B_FIRST + SPOKE_LATER + SLEPT, [("B", 21_000_000, 790_000), ("A", 5_300_000, 5_300_000)]),
        # In the order in which they came, or with nothing given back: one after the other.
        (A_LATER + ENDED, [("A", 1_400_000, 190_000), ("B", 19_500_000, 790_000)]),
        (ENDED, [("A", 1_400_000, 190_000), ("B", 19_500_000, 790_000)]),
    ],
)
def test_what_came_early_is_used_when_the_one_before_is_given_back(tmp_path, more, rows):
    (tmp_path / "log").write_text((EARLY.lstrip() + more).replace(" 0.", " 1700000000."))
    table = tf.batches(tf.scan(tmp_path / "log")).collect()
    name = {10: "A", 14: "B"}
    found = table.select("line", "wait_ns", "take_over_ns").rows()
    assert [(name[line], *rest) for line, *rest in found] == rows


def test_a_trainer_that_waits_for_a_large_file():
    table = tf.batches(tf.scan(DATA / "workers" / "train_fork.strace.zst")).sort("batch").collect()
    written = [seconds * 1e9 for seconds in known("train_fork")["waits"]]
    assert are_near(table["wait_ns"], written)
    late = table.sort("wait_ns").row(-1, named=True)
    assert (late["batch"], late["cause"]) == (7, "reading")
    assert late["slowest_path"].endswith("/images/07.img")
    assert late["worker_read_bytes"] == (64 << 20) + 20_000


def test_a_length_is_no_message_of_its_own(tmp_path):
    log = tmp_path / "log"
    log.write_text(
        "7 1700000000.000100 pipe2([3, 4], 0) = 0 <0.000010>\n"
        "7 1700000000.000200 pipe2([5, 6], 0) = 0 <0.000010>\n"
        "7 1700000000.001000 clone(child_stack=NULL, flags=SIGCHLD) = 8 <0.000200>\n"
        '7 1700000000.006000 write(4, "\\0\\0\\0\\2ab", 6) = 6 <0.000020>\n'
        '8 1700000000.007000 read(3, "\\0\\0\\0\\2", 4) = 4 <0.000010>\n'
        '8 1700000000.007100 read(3, "ab", 2) = 2 <0.000010>\n'
        '8 1700000000.010000 write(6, "\\0\\0\\0\\3xyz", 7) = 7 <0.000020>\n'
        "7 1700000000.011000 poll([{fd=5, events=POLLIN}], 1, 5000) = 1"
        " ([{fd=5, revents=POLLIN}]) <0.000010>\n"
        '7 1700000000.012000 read(5, "\\0\\0\\0\\3", 4) = 4 <0.000010>\n'
        "7 1700000000.013000 futex(0x1000, FUTEX_WAKE_PRIVATE, 1) = 0 <0.000010>\n"
        '7 1700000000.014000 read(5, "xyz", 3) = 3 <0.000010>\n'
        "8 1700000000.019000 +++ exited with 0 +++\n"
    )
    rows = tf.batches(tf.scan(log)).select("bytes", "wait_ns", "cause", "line").collect().rows()
    assert rows == [(7, 3_010_000, "queue", 9)]


def test_nobody_who_only_reads_what_a_command_prints_has_batches():
    for name in ("commands_fork", "shell", "xargs", "make"):
        assert tf.batches(tf.scan(DATA / "workers" / f"{name}.strace.zst")).collect().is_empty()


def test_parquet_gives_the_same(tmp_path):
    log = DATA / "workers" / "pool_fork.strace.zst"
    tf.parse(log, tmp_path / "log.parquet")
    one, other = tf.batches(tf.scan(log)), tf.batches(tf.scan(tmp_path / "log.parquet"))
    columns = pl.all().exclude("source")
    assert one.select(columns).collect().equals(other.select(columns).collect())
