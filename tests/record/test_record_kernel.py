"""`tracefast record --kernel`: a real trace, and nothing left of it."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import tracefast as tf
from support.command.interrupts import allowed
from tracefast.recording import tracefs

SH = shutil.which("sh") or "/bin/sh"


def ours(instances: Path) -> list[str]:
    return [folder.name for folder in instances.glob("tracefast-[0-9]*-[0-9]*")]


def test_a_command_and_its_children_are_traced(run, tmp_path, instances):
    made = run("record", "--kernel", "-o", "app.parquet", "--", SH, "-c", "cat /etc/passwd; exit 6")
    assert (made.returncode, made.stdout) == (6, Path("/etc/passwd").read_text())
    assert "quality        complete" in made.stderr
    assert ours(instances) == []
    events = tf.scan(tmp_path / "app.parquet")
    size = Path("/etc/passwd").stat().st_size
    reads = events.filter(pl.col("name") == "read", pl.col("bytes") == size).collect()
    assert reads.height >= 1
    named = tf.processes(events).collect()["images"].explode().drop_nulls().to_list()
    assert any(name.endswith("/cat") for name in named)
    # Only the command and its children, but for the switches to and from others.
    calls = events.filter(pl.col("kind") == "syscall").select("tid").unique().collect()
    assert calls.height <= 3


def test_nothing_is_left_however_it_ends(command, tmp_path, instances):
    words = [command, "record", "-q", "--kernel", "-o", "app.parquet", "--", SH, "-c"]
    script = "echo ready; exec sleep 60"
    for number, code in ((signal.SIGTERM, 143), (signal.SIGKILL, -signal.SIGKILL)):
        with subprocess.Popen(
            [*words, script],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            preexec_fn=allowed,  # noqa: PLW1509 - in time
        ) as process:
            assert process.stdout.readline() == b"ready\n"
            names = ours(instances)
            # One for its tasks, one for what others do to devices for them.
            assert len(names) == 2
            tasks = Path(f"/proc/{process.pid}/task").glob("*/children")
            (child,) = [int(one) for task in tasks for one in task.read_text().split()]
            process.send_signal(number)
            assert process.wait(timeout=60) == code
            if number == signal.SIGKILL:
                # Nobody could remove it; the command goes on.
                assert ours(instances) == names
                os.kill(child, signal.SIGKILL)
    done = subprocess.run([*words, "true"], cwd=tmp_path, check=False)
    assert (done.returncode, ours(instances)) == (0, [])


def test_an_instance_of_a_living_process_is_not_removed(run, instances):
    fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    mine = instances / f"tracefast-{os.getpid()}-{fields[19]}"
    mine.mkdir()
    try:
        assert run("record", "-q", "--kernel", "-o", "app.parquet", "--", "true").returncode == 0
        assert mine.exists()
    finally:
        mine.rmdir()


def test_lost_records_are_said_and_counted(tmp_path, instances, monkeypatch):
    """With the smallest buffers, a program that only makes calls is faster than its reader."""
    monkeypatch.setattr(tracefs, "_BUFFER_KB", 4)
    monkeypatch.setattr(tracefs, "_MOST_KB", 4)
    said: list[str] = []
    copy = ["dd", "if=/dev/zero", "of=/dev/null", "bs=1", "count=100000", "status=none"]
    made = tf.record(copy, tmp_path / "app.parquet", kernel=True, say=said.append)
    assert made.exit_code == 0
    assert "records were lost: the trace came faster than it could be read" in said[-1]
    assert int(said[-1].split()[0]) > 0
    assert "records lost by the tracer" in made.report.quality
    assert ours(instances) == []


def test_write_back_by_kernel_threads_is_of_the_file(run, tmp_path, instances):
    """What the program left in the page cache is written by others, and known by its inode."""
    program = "import os; os.write(1, bytes(2 << 20)); os.sync()"
    with (tmp_path / "written.bin").open("wb") as file:
        words = ("record", "-q", "--kernel", "-o", "app.parquet", "--", sys.executable, "-ISEc")
        assert run(*words, program, stdout=file, capture_output=False).returncode == 0
        inode = os.fstat(file.fileno()).st_ino
    table = tf.blocks(tf.scan(tmp_path / "app.parquet"), by="file")
    writes = table.filter(pl.col("op") == "write").collect()
    if writes["bytes"].sum() < 2 << 20:
        pytest.skip("the file system has no block device")
    assert writes.filter(pl.col("ino") == inode)["bytes"].sum() == 2 << 20
    assert ours(instances) == []
