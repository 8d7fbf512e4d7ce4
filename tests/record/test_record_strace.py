"""`tracefast record`: what it records, what it leaves alone, and what it says when it cannot."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

import tracefast as tf
from support.command.interrupts import allowed
from tracefast import _core
from tracefast.recording import child
from tracefast.recording.recorder import Target
from tracefast.recording.strace import StraceRun

SH = shutil.which("sh") or "/bin/sh"


def traceable() -> bool:
    """Say whether strace is there, and may trace a child."""
    strace = shutil.which("strace")
    return (
        strace is not None
        and not subprocess.run([strace, "true"], capture_output=True, check=False).returncode
    )


pytestmark = pytest.mark.skipif(not traceable(), reason="strace is missing, or may not trace")


def started(command: str, *arguments: str, cwd: Path) -> subprocess.Popen[bytes]:
    """Start a recording of a shell script that prints "ready"."""
    words = [command, "record", "-q", "-o", "app.parquet", *arguments]
    process = subprocess.Popen(
        words,
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=allowed,  # noqa: PLW1509
    )
    assert process.stdout.readline() == b"ready\n"
    return process


def calls(path: Path) -> list[str]:
    return tf.scan(path).filter(pl.col("kind") == "syscall").collect()["name"].to_list()


def test_a_command_keeps_its_streams_descriptors_and_exit_code(run, tmp_path):
    script = "cat; ls /proc/self/fd | tr '\\n' ' '; echo wrong >&2; exit 7"
    bare = subprocess.run(
        [SH, "-c", script], input="in\n", capture_output=True, text=True, check=False
    )
    made = run("record", "-o", "app.parquet", "--keep-log", "app.strace", "--", SH, "-c", script,
               input="in\n")  # fmt: skip
    assert (made.returncode, made.stdout) == (7, bare.stdout)
    assert made.stderr.startswith("wrong\napp.parquet: ")
    assert "tracefast syscalls app.parquet" in made.stderr
    assert sorted(file.name for file in tmp_path.iterdir()) == ["app.parquet", "app.strace"]
    # The text that was kept gives the same events, which are named after the output.
    again = tf.scan(tmp_path / "app.strace").drop("source").collect()
    events = tf.scan(tmp_path / "app.parquet").collect()
    assert events["source"].unique().to_list() == ["app.strace"]
    assert events.drop("source").equals(again)
    assert {"execve", "read", "exit_group"} <= set(events["name"])


def test_only_what_a_table_needs_is_recorded(run, tmp_path):
    program = "import os, threading; os.getppid(); os.dup(1); threading.Thread(target=int).start()"
    for only, has, lacks in (
        ("files", {"fcntl", "openat", "mmap", "clone3"}, {"futex", "rt_sigaction"}),
        ("processes", {"openat", "execve", "clone3"}, {"fcntl", "newfstatat"}),
        ("waits", {"fcntl", "rt_sigaction"}, {"getppid"}),
    ):
        run(
            "record", "-q", "-o", "app.parquet", "--only", only, "--", sys.executable, "-c", program
        )
        names = {"clone3" if name == "clone" else name for name in calls(tmp_path / "app.parquet")}
        assert has <= names, (only, names)
        assert not lacks & names, only
        # Positions are known: the log has all calls that move them.
        assumed = pl.col("offset_known") == "assumed"
        if only == "files":
            assert tf.scan(tmp_path / "app.parquet").filter(assumed).collect().is_empty()


def test_signals_go_to_the_command(command, tmp_path):
    script = "trap 'echo asked; exit 5' TERM; echo ready; while :; do sleep 0.1; done"
    process = started(command, "--", SH, "-c", script, cwd=tmp_path)
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (5, b"asked\n", b"")
    killed = tf.scan(tmp_path / "app.parquet").filter(pl.col("name") == "SIGTERM").collect()
    assert killed.height == 1


def test_what_outlives_the_command_is_recorded_until_an_interrupt(command, tmp_path):
    lives = "(sleep 60 >/dev/null 2>&1 & echo $! > daemon); echo ready; exit 4"
    process = started(command, "--", SH, "-c", lives, cwd=tmp_path)
    try:
        assert b"still runs" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        assert process.returncode == 4
        assert "execve" in calls(tmp_path / "app.parquet")
    finally:
        os.kill(int((tmp_path / "daemon").read_text()), signal.SIGKILL)


def test_a_process_that_runs_is_attached_to_until_an_interrupt(command, tmp_path):
    turns = tmp_path / "turns"
    turns.touch()
    script = "while :; do /bin/true; echo >> turns; done"
    with subprocess.Popen([SH, "-c", script], cwd=tmp_path) as target:
        words = [command, "record", "-q", "-o", "app.parquet", "-p", str(target.pid)]
        with subprocess.Popen(words, cwd=tmp_path, preexec_fn=allowed) as process:  # noqa: PLW1509
            while "TracerPid:\t0" in Path(f"/proc/{target.pid}/status").read_text():
                assert process.poll() is None
            seen = turns.stat().st_size
            # Two whole turns, as strace came within one.
            while turns.stat().st_size < seen + 3:
                assert process.poll() is None
                time.sleep(0.02)
            process.send_signal(signal.SIGINT)
            assert process.wait(timeout=60) == 0
        assert target.poll() is None
        target.kill()
    assert "execve" in calls(tmp_path / "app.parquet")


def test_a_reader_that_is_killed_leaves_the_command_alone(command, tmp_path):
    script = "echo ready; sleep 1; for i in 1 2 3; do /bin/true; done; echo done"
    process = started(command, "--", SH, "-c", script, cwd=tmp_path)
    process.kill()
    out, err = process.communicate(timeout=60)
    assert out == b"done\n"
    # The kernel closes the files of a process before it tells its children (do_exit in
    # kernel/exit.c): strace may meet the closed pipe once before it is killed, but not at each of
    # the hundred calls to come.
    said = err.splitlines()
    assert len(said) <= 2, err
    assert all(line.endswith(b": Broken pipe") for line in said), err
    assert not (tmp_path / "app.parquet").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--", "no-such-command"), "no-such-command: no such command\nhint: check its name"),
        (("--", "/etc/passwd"), "/etc/passwd: cannot be executed\nhint: chmod +x"),
        (("-p", "4194304"), "-p 4194304: no such process\nhint: ps -e"),
        (("-p", "1", "--", "true"), "-p and a command\nhint: give -- COMMAND, or -p PID"),
        ((), "neither a command nor a process is given"),
        (("-o", "no/app.parquet", "--", "true"), "no/app.parquet: No such file or directory"),
        (("-o", "app.txt", "--", "true"), "app.txt: unknown suffix"),
    ],
)
def test_what_cannot_be_recorded_is_said_before_anything_runs(run, tmp_path, arguments, message):
    made = run("record", "-q", "-o", "app.parquet", *arguments)
    assert made.returncode == 2
    assert f"error: {message}" in made.stderr
    assert list(tmp_path.iterdir()) == []


def test_without_strace_the_message_says_how_to_get_it(run):
    made = run("record", "-o", "app.parquet", "--", "true", env={"PATH": "/nowhere"})
    assert (made.returncode, made.stderr.splitlines()[0]) == (2, "error: strace: not found")
    assert "apt install strace" in made.stderr


def test_what_forbids_to_trace_is_said(run, tmp_path, monkeypatch):
    """Of a strace that cannot trace; and where Yama is why, how to allow it."""
    fake = tmp_path / "bin" / "strace"
    fake.parent.mkdir()
    fake.write_text("#!/bin/sh\necho 'ptrace: Operation not permitted' >&2\nexit 1\n")
    fake.chmod(0o755)
    path = f"{fake.parent}:{os.environ['PATH']}"
    made = run("record", "-o", "app.parquet", "--", "true", env=os.environ | {"PATH": path})
    assert made.returncode == 2
    assert "error: strace has recorded nothing, and ended with exit code 1" in made.stderr
    assert "hint: its message is above; in a container, tracing needs" in made.stderr
    assert not (tmp_path / "app.parquet").exists()
    scope = tmp_path / "ptrace_scope"
    scope.write_text("1\n")
    monkeypatch.setattr(child, "_SCOPE", scope)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    error = child.not_traced(1)
    assert "forbids to trace other processes" in str(error)
    assert error.hint == f"run it as root, or allow it: echo 0 | sudo tee {scope}"


@pytest.fixture
def strace_that_runs_on(tmp_path, monkeypatch):
    """Give what makes a strace that has written its log, and then takes some seconds to end."""

    def make(seconds: int) -> Path:
        """Give a file that is there when it has written."""
        fake, written = tmp_path / "bin" / "strace", tmp_path / "written"
        fake.parent.mkdir()
        fake.write_text(
            f"""#!/bin/sh
            [ "$1" = -V ] && echo 'strace -- version 6.1' && exit
            trap '' INT
            while [ "$1" != -o ]; do shift; done
            echo '7 1.000000 getpid() = 7 <0.000010>' > "$2"
            > {written}
            exec sleep {seconds}
            """
        )
        fake.chmod(0o755)
        monkeypatch.setenv("PATH", f"{fake.parent}:{os.environ['PATH']}")
        return written

    return make


def test_a_strace_that_ends_late_is_nothing_that_the_command_started(strace_that_runs_on, tmp_path):
    strace_that_runs_on(2)
    said: list[str] = []
    run = StraceRun(Target(["true"], say=said.append))
    output = tmp_path / "app.parquet"
    run.parse(str(output), name="app", clobber=True, progress=_core.Progress())
    assert (said, run.gone.is_set()) == ([], True)


def test_a_strace_that_does_not_let_go_is_ended(strace_that_runs_on, tmp_path):
    """As that of a process in vfork(2), which cannot be stopped: what was read is kept."""
    written = strace_that_runs_on(60)
    run = StraceRun(Target(pids=[os.getpid()]))
    while not written.exists():
        time.sleep(0.01)
    run.receive(signal.SIGINT, sent=False)
    output = tmp_path / "app.parquet"
    run.parse(str(output), name="app", clobber=True, progress=_core.Progress())
    assert run.gone.is_set()
    assert tf.scan(output).collect()["name"].to_list() == ["getpid"]


def test_on_a_full_disk_the_command_goes_on(run, full_disk):
    script = "find /usr/lib /usr/share/doc >/dev/null; echo on; exit 3"
    made = run("record", "-q", "-o", full_disk / "app.parquet", "--", SH, "-c", script)
    assert (made.returncode, made.stdout) == (2, "on\n")
    assert "the command goes on, and is not recorded" in made.stderr
    assert "No space left on device\nhint: free some space" in made.stderr
    assert list(full_disk.iterdir()) == []


def test_on_a_full_disk_the_kept_text_ends_and_the_events_do_not(run, tmp_path):
    made = run("record", "-q", "-o", "app.parquet", "--keep-log", "/dev/full", "--", "true")
    assert made.returncode == 0
    assert "/dev/full: No space left on device: the text ends there" in made.stderr
    assert "execve" in calls(tmp_path / "app.parquet")


def test_a_second_interrupt_after_the_end_leaves():
    """The first one may have been meant for the program, which has just ended."""
    run = StraceRun(Target(["true"]))
    assert run.gone.wait(60)
    run.receive(signal.SIGINT, sent=True)
    with pytest.raises(KeyboardInterrupt):
        run.receive(signal.SIGINT, sent=True)
