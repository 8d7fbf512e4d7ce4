"""`tracefast record --both`: what strace and the kernel show of one run, and nothing left of it."""

import json
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
from support.paths import DATA
from tracefast.recording import tracefs

SH = shutil.which("sh") or "/bin/sh"

sys.path.insert(0, str(DATA / "join"))
import record_pair  # noqa: E402
from joined_reads import check_reads  # noqa: E402


def record(*arguments: object) -> list[str]:
    return ["record", "--both", "-o", "both.parquet", *map(str, arguments)]


def test_each_read_shows_what_the_kernel_did(run, tmp_path, instances):
    """Of a program and its four children each call is matched; each number is what ftrace shows."""
    (tmp_path / "program.py").write_text(record_pair.PROGRAM)
    with (tmp_path / "reads.bin").open("wb") as file:
        file.write(os.urandom(4 << 20))
        file.flush()
        os.fsync(file.fileno())
    words = ("--keep-log", "both.strace", "--", sys.executable, "-ISE", "program.py")
    made = run(*record(*words))
    assert made.returncode == 0, made.stderr
    assert "middles of calls apart" in made.stderr
    assert {file.name for file in tmp_path.iterdir()} == {
        *("program.py", "reads.bin", "places.json"),
        *("both.parquet", "both.strace", "both.ftrace"),
    }
    assert ours(instances) == []
    events, ftrace = tf.scan(tmp_path / "both.parquet"), tf.scan(tmp_path / "both.ftrace")
    requests = tf.fields(ftrace, "block_rq_issue").collect().height
    lost = ftrace.filter(pl.col("kind") == "lost").collect().height
    places = json.loads((tmp_path / "places.json").read_text())
    if lost or requests < len(places):
        pytest.skip("the kernel lost records, or the file system has no block device")
    # All but those that never return: 4 children and their parent.
    matched = f"{events.filter(pl.col('kind') == 'syscall').collect().height:,}"
    assert f"{matched} of {matched} calls matched, in 5 of 5 threads;" in made.stderr
    check_reads(events.collect(), tmp_path / "both.ftrace", places)
    # Times in the kernel are those between ftrace's own records.
    pread = pl.col("name") == "pread64"
    own = ftrace.filter(pl.col("kind") == "syscall", pread).collect()
    assert sorted(events.filter(pread).collect()["kernel_ns"]) == sorted(own["dur_ns"])
    # Requests that complete in interrupts of other tasks are there.
    read = tf.blocks(ftrace).filter(pl.col("op") == "read").collect()
    assert read["completed"].sum() == read["requests"].sum()
    check_other_tables(events)


def check_other_tables(events: pl.LazyFrame) -> None:
    """Check that other tables have what the kernel did."""
    forks = tf.forks(events).collect()
    assert forks.height == 4
    assert (forks["call_kernel_ns"] <= forks["call_ns"]).all()
    assert (forks["tracer_low_ns"] >= forks["call_ns"] - forks["call_kernel_ns"]).all()
    waits = tf.waits(events, min_ns=0).filter(pl.col("name") == "wait4").collect()
    assert waits.height >= 1
    assert (waits["off_cpu_ns"] <= waits["dur_ns"]).all()


def ours(instances: Path) -> list[str]:
    return [folder.name for folder in instances.glob("tracefast-[0-9]*-[0-9]*")]


def hidden(folder: Path) -> list[Path]:
    return list(folder.glob(".tracefast-*"))


def test_nothing_is_left_however_it_ends(command, tmp_path, instances):
    words = [command, *record("-q", "--", SH, "-c")]
    script = "echo $$; exec sleep 60"
    for number, code in ((signal.SIGTERM, 143), (signal.SIGKILL, -signal.SIGKILL)):
        with subprocess.Popen(
            [*words, script],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            preexec_fn=allowed,  # noqa: PLW1509 - in time
        ) as process:
            child = int(process.stdout.readline())
            assert len(ours(instances)) == 2
            process.send_signal(number)
            assert process.wait(timeout=60) == code
            if number == signal.SIGKILL:
                # Nobody could remove them; the command goes on, and nobody traces it.
                assert len(ours(instances)) == 2
                assert len(hidden(tmp_path)) == 1
                os.kill(child, signal.SIGKILL)
            else:
                assert (ours(instances), hidden(tmp_path)) == ([], [])
    done = subprocess.run([*words, "exit 3"], cwd=tmp_path, check=False)
    assert (done.returncode, ours(instances), hidden(tmp_path)) == (3, [], [])


def test_two_interrupts_end_the_recording_of_a_process(command, tmp_path, instances):
    """The first ends it; the second one, if it comes before all is written, leaves no file."""
    with subprocess.Popen([SH, "-c", "while :; do sleep 0.05; done"]) as target:
        words = [command, *record("-p", target.pid)]
        with subprocess.Popen(
            words,
            cwd=tmp_path,
            stderr=subprocess.PIPE,
            preexec_fn=allowed,  # noqa: PLW1509
        ) as process:
            while not traced(target.pid):
                assert process.poll() is None
            process.send_signal(signal.SIGINT)
            process.send_signal(signal.SIGINT)
            try:
                process.communicate(timeout=120)
                assert target.poll() is None
                assert not traced(target.pid)
            finally:
                process.kill()
                target.kill()
    # 2: strace was interrupted before it had anything to write.
    assert process.returncode in {0, 2, 130}
    assert (tmp_path / "both.parquet").exists() == (process.returncode == 0)
    assert (ours(instances), hidden(tmp_path)) == ([], [])


def traced(pid: int) -> bool:
    return "TracerPid:\t0" not in Path(f"/proc/{pid}/status").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--", "no-such-command"), "no-such-command: no such command\nhint: check its name"),
        (("-p", "4194304"), "-p 4194304: no such process\nhint: ps -e"),
        (("-o", "app.arrow", "--", "true"), "app.arrow: joined events are Parquet"),
        (("--only", "files", "--", "true"), "--only: is for strace alone"),
        (("--kernel", "--", "true"), "--kernel and --both"),
    ],
)
def test_what_cannot_be_recorded_is_said_before_anything_runs(run, tmp_path, arguments, message):
    made = run(*record(*arguments))
    assert made.returncode == 2
    assert f"error: {message}" in made.stderr
    assert list(tmp_path.iterdir()) == []


def test_without_strace_the_message_says_how_to_get_it(run, tmp_path):
    made = run(*record("--", "/bin/true"), env={"PATH": "/nowhere"})
    assert (made.returncode, made.stderr.splitlines()[0]) == (2, "error: strace: not found")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("which", ["--both", "--kernel"])
def test_without_tracefs_the_message_says_what_it_needs(command, tmp_path, which):
    """In a mount namespace without tracefs, and without the right to mount it."""
    tools = [shutil.which(name) for name in ("unshare", "setpriv")]
    if os.geteuid() != 0 or not all(tools):
        pytest.skip("taking rights away needs root, unshare and setpriv")
    none = 'umount -a -t tracefs; exec setpriv --bounding-set=-sys_admin --inh-caps=-all -- "$@"'
    line = [command, "record", which, "-o", "a.parquet", "--", "true"]
    words = [tools[0], "-m", SH, "-c", none, "sh", *line]
    made = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    if made.returncode == 1:
        pytest.skip(f"no namespace of mounts: {made.stderr}")
    assert made.returncode == 2
    assert "error: tracefs: not mounted, and cannot be: " in made.stderr
    assert "needs root, and a kernel with CONFIG_FTRACE" in made.stderr
    assert list(tmp_path.iterdir()) == []


def test_on_a_full_disk_nothing_is_left(run, full_disk, instances):
    script = "import os\nfor name in range(9000): os.access(f'/{name**9}', 0)\nraise SystemExit(3)"
    words = ("--", sys.executable, "-ISEc", script)
    made = run("record", "-q", "--both", "-o", full_disk / "b.parquet", *words)
    assert made.returncode == 2
    assert f"error: {full_disk / 'b.parquet'}: No space left on device" in made.stderr
    assert "tracefast-b" not in made.stderr
    assert (list(full_disk.iterdir()), ours(instances)) == ([], [])


def test_logs_that_do_not_match_leave_the_events_of_strace(tmp_path, instances, monkeypatch):
    """The kernel may show no call at all; what strace has shown is kept, and this is said."""
    monkeypatch.setattr(tracefs, "EVENTS", {"sched/sched_switch": "who runs"})
    said: list[str] = []
    output = tmp_path / "both.parquet"
    made = tf.record([SH, "-c", "exit 4"], output, both=True, say=said.append)
    assert (made.exit_code, made.joined) == (4, None)
    assert "the output has strace's events only" in said[-1]
    assert "execve" in tf.scan(output).collect()["name"].to_list()
    assert (hidden(tmp_path), ours(instances)) == ([], [])
