"""Captures that the tests make themselves, against the counts that the kernel keeps of them.

They need root and a kernel with tracefs; elsewhere they are skipped, and say why.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import polars as pl
import pytest

import live
import tracefast as tf

if TYPE_CHECKING:
    from pathlib import Path

CALLS, CHILDREN, MARKS = 300, 5, 7
EVENTS = [
    "syscalls/sys_enter_getppid",
    "syscalls/sys_exit_getppid",
    "sched/sched_process_fork",
    "sched/sched_process_exit",
]
PROGRAM = f"""
import os, sys
mark = os.open(sys.argv[1], os.O_WRONLY)
for cpu in sorted(os.sched_getaffinity(0)):
    os.sched_setaffinity(0, [cpu])
    for _ in range({CALLS}):
        os.getppid()
for number in range({MARKS}):
    os.write(mark, b"mark %d, of\\ntwo lines" % number)
for _ in range({CHILDREN}):
    if os.fork() == 0:
        os._exit(0)
    os.wait()
"""


@pytest.fixture
def trace():
    """Give a tracing instance that is off, and remove it afterwards."""
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("tracefs needs root and the mount command")
    try:
        with live.tracing_instance() as instance:
            put(instance / "tracing_on", 0)
            yield instance
            put(instance / "tracing_on", 0)
    except live.UnavailableError as reason:
        pytest.skip(str(reason))


def put(file: Path, value: object) -> None:
    file.write_text(f"{value}\n")


def record(trace: Path) -> int:
    """Run the program, its children too, and return on how many processors it made its calls."""
    try:
        for event in EVENTS:
            put(trace / "events" / event / "enable", 1)
        put(trace / "options" / "event-fork", 1)
    except OSError as error:
        pytest.skip(f"the tracer lacks an event: {error}")
    # The shell puts itself on the list of traced tasks and then becomes the program.
    start = 'echo $$ >"$0/set_event_pid"; echo 1 >"$0/tracing_on"; exec "$@"'
    program = [sys.executable, "-S", "-c", PROGRAM, str(trace / "trace_marker")]
    subprocess.run(["/bin/sh", "-c", start, str(trace), *program], check=True, timeout=60)
    put(trace / "tracing_on", 0)
    counted = stats(trace)
    if counted["entries"] + counted["overrun"] == 0:
        # In a container tasks have other numbers than those that the kernel is given here.
        pytest.skip("nothing of the program was traced")
    return len(os.sched_getaffinity(0))


def stats(trace: Path) -> dict[str, int]:
    """Sum up what the kernel counts of each processor's buffer."""
    sums: dict[str, int] = {}
    for file in trace.glob("per_cpu/cpu*/stats"):
        for name, number in re.findall(r"^(.+): (\d+)$", file.read_text(), re.MULTILINE):
            sums[name] = sums.get(name, 0) + int(number)
    return sums


def records_of(report: tf.Report) -> int:
    lost = report.kinds.get("lost", 0)
    return report.accounting["events"] + report.accounting["resumed"] - lost


def test_every_record_of_the_kernel_is_read(trace, tmp_path):
    log = tmp_path / "log"
    cpus = record(trace)
    log.write_bytes((trace / "trace").read_bytes())
    counted = stats(trace)
    assert (counted["overrun"], counted["dropped events"]) == (0, 0)

    report = tf.parse(log, None)
    assert records_of(report) == counted["entries"]
    assert report.accounting["unparsed"] == 0
    assert report.accounting["continuation"] == MARKS
    assert sum(report.accounting.values()) == report.lines == log.read_bytes().count(b"\n")
    assert sum(report.accounting_bytes.values()) == report.bytes == log.stat().st_size

    table = tf.events(tf.scan(log)).collect()
    counts = dict(table.select("name", "count").iter_rows())
    assert counts == {
        "getppid": CALLS * cpus,
        "tracing_mark_write": MARKS,
        "sched_process_fork": CHILDREN,
        "sched_process_exit": CHILDREN + 1,
    }
    calls = pl.DataFrame(tf.read(log)).filter(pl.col("name") == "getppid")
    assert calls["status"].unique().to_list() == ["complete"]
    assert calls["ret"].unique().to_list() == [os.getpid()]
    assert calls["cpu"].n_unique() == cpus
    assert (calls["dur_ns"] >= 0).all()


def test_overwritten_records_are_reported(trace, tmp_path):
    log = tmp_path / "log"
    put(trace / "buffer_size_kb", 4)
    record(trace)
    log.write_bytes((trace / "trace").read_bytes())
    counted = stats(trace)
    assert counted["overrun"] > 0
    report = tf.parse(log, None)
    assert records_of(report) == counted["entries"]
    written = re.search(rb"entries-written: (\d+)/(\d+)", log.read_bytes())
    assert [int(number) for number in written.groups()] == [
        counted["entries"],
        counted["entries"] + counted["overrun"],
    ]


def test_what_a_pipe_lost_adds_up(trace, tmp_path):
    log = tmp_path / "log"
    put(trace / "buffer_size_kb", 4)
    record(trace)
    before = stats(trace)
    pipe = os.open(trace / "trace_pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        with log.open("wb") as file:
            while True:
                try:
                    text = os.read(pipe, 1 << 16)
                except BlockingIOError:
                    break
                if not text:
                    break
                file.write(text)
    finally:
        os.close(pipe)
    after = stats(trace)
    assert after["entries"] == 0

    report = tf.parse(log, None)
    assert records_of(report) == before["entries"] == after["read events"]
    lost = pl.DataFrame(tf.read(log)).filter(pl.col("kind") == "lost")
    assert lost["ret"].sum() == before["overrun"] > 0
    assert lost["cpu"].n_unique() == lost.height
