"""The scripts at work: what they count is what strace counts of the same program."""

import os
import re
import shutil
import signal
import subprocess
import threading
from collections import Counter
from pathlib import Path

import pytest

import tracefast as tf

pytestmark = pytest.mark.slow
# In a mount namespace of its own, tracefs may be mounted without a trace on the machine.
MOUNT = (
    "mount -t tracefs nodev /sys/kernel/tracing 2>/dev/null || [ -e /sys/kernel/tracing/README ]"
    ' && exec "$@"'
)
APART = ("unshare", "-m", "sh", "-c", MOUNT, "sh")
# perf puts folders before PATH, so programs have their folder.
# A shell, its children one after the other, a grandchild, errors. With a pipe, how many signals of
# children the shell gets would depend on which of them ends first. perf puts folders before PATH,
# so programs are named with theirs.
PROGRAM = (
    "exec </dev/null >/dev/null 2>&1;"
    " /bin/cat {0}/a {0}/missing; (/bin/ls {0}; true); /bin/cat {0}/a"
)
# Calls that a recorder's own start of a program makes, too.
STARTS = {"execve", "write", "close", "fcntl", "dup2", "dup3"}
NO_EXIT = {"exit_group", "rt_sigreturn"}
PATIENCE = 60


def may_trace():
    if os.geteuid() != 0 or not shutil.which("unshare") or not shutil.which("strace"):
        return False
    look = [*APART, "test", "-e", "/sys/kernel/tracing/events/syscalls/sys_enter_read"]
    return subprocess.run(look, check=False, capture_output=True).returncode == 0


needs_tracefs = pytest.mark.skipif(not may_trace(), reason="needs root, tracefs and strace")


@pytest.fixture
def program(tmp_path: Path, monkeypatch) -> list[str]:
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "a").write_text("some text\n")
    # A shell that is not where this says looks where it is.
    monkeypatch.setenv("PWD", str(tmp_path))
    return ["/bin/sh", "-c", PROGRAM.format(folder)]


@pytest.fixture
def recorded(tmp_path: Path, program) -> Path:
    """Record the program with strace."""
    log = tmp_path / "app.strace"
    command = ["strace", "-f", "-ttt", "-T", "-o", log, *program]
    subprocess.run(command, check=False, timeout=PATIENCE, cwd=tmp_path)
    return log


@pytest.fixture
def script(run, recorded, tmp_path):
    """Write the script for all calls of the log."""

    def write(tool, name):
        ran = run("hooks", recorded, "--emit", tool, "--top", 0, "-o", name)
        assert ran.returncode == 0, ran.stderr
        return tmp_path / name

    return write


def counted(log):
    """Give calls, errors and bytes by name of a log."""
    table = tf.syscalls(tf.scan(log)).collect()
    columns = {name: dict(zip(table["name"], table[name], strict=True)) for name in table.columns}
    return columns["calls"], columns["errors"], columns["bytes"]


class Stopped:
    """A program that stops before it starts, so that it can be watched from its first call."""

    def __init__(self, program, cwd):
        self.pid = os.fork()
        if self.pid == 0:
            os.chdir(cwd)
            os.kill(os.getpid(), signal.SIGSTOP)
            os.execv(program[0], program)
        os.waitpid(self.pid, os.WUNTRACED)

    def run(self):
        os.kill(self.pid, signal.SIGCONT)
        os.waitpid(self.pid, 0)


def watch(program, command, cwd):
    """Watch a program from its start with a command that takes its id; give what it printed."""
    stopped = Stopped(program, cwd)
    watcher = subprocess.Popen(
        [*APART, *map(str, command), str(stopped.pid)],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    guard = threading.Timer(PATIENCE, watcher.kill)
    guard.start()
    seen = []
    try:
        for line in watcher.stdout:
            seen.append(line)
            if line.startswith("watching"):
                break
        stopped.run()
        seen += watcher.stdout
        watcher.wait()
    finally:
        guard.cancel()
        watcher.stdout.close()
    return "".join(seen)


@needs_tracefs
@pytest.mark.skipif(not shutil.which("bpftrace"), reason="bpftrace is not installed")
def test_bpftrace_counts_what_strace_counts(program, recorded, script, tmp_path):
    path = script("bpftrace", "watch.bt")
    found = watch(program, ["bpftrace", "-B", "none", path], tmp_path)
    if "watching" not in found:
        pytest.skip(f"this kernel does not let bpftrace: {found[-200:]}")
    calls, errors, moved = counted(recorded)
    assert {name: int(n) for name, n in re.findall(r"@calls\[(\w+)\]: (\d+)", found)} == calls
    failed = Counter()
    for name, n in re.findall(r"@errors\[(\w+), \d+\]: (\d+)", found):
        failed[name] += int(n)
    assert failed == {name: n for name, n in errors.items() if n}
    sums = {name: int(n) for name, n in re.findall(r"@bytes\[(\w+)\]: (\d+)", found)}
    assert sums == {name: n for name, n in moved.items() if n is not None}
    # Each call that ended is in a histogram.
    assert set(re.findall(r"@us\[(\w+)\]:", found)) == set(calls) - NO_EXIT
    assert "@ns_by_task[cat, " in found


@needs_tracefs
def test_libbpf_counts_what_strace_counts(program, recorded, script, tmp_path):
    headers = Path("/usr/include/bpf/libbpf.h").exists()
    if not (headers and shutil.which("clang") and shutil.which("gcc")):
        pytest.skip("needs clang, gcc and libbpf")
    path = script("libbpf", "watch.c")
    include = f"-I/usr/include/{os.uname().machine}-linux-gnu"
    kernel_part = ["clang", "-O2", "-g", "-target", "bpf", include, "-c", path, "-o", "watch.bpf.o"]
    subprocess.run(kernel_part, check=True, cwd=tmp_path)
    subprocess.run(["gcc", path, "-o", "watch", "-lbpf"], check=True, cwd=tmp_path)
    found = watch(program, [tmp_path / "watch"], tmp_path)
    if "watching" not in found:
        pytest.skip(f"this kernel does not let libbpf: {found[-200:]}")
    calls, errors, _ = counted(recorded)
    table = found.partition("call calls bytes\n")[2].partition("\n\n")[0]
    assert {line.split()[0]: int(line.split()[1]) for line in table.splitlines()} == calls
    failed = Counter()
    table = found.partition("call errors error\n")[2].partition("\n\n")[0]
    for line in table.splitlines():
        failed[line.split()[0]] += int(line.split()[1])
    assert failed == {name: n for name, n in errors.items() if n}


# The headers of another kernel, as those of the running one: bcc takes the fields of tracepoints
# from the kernel itself.
BORROW = (
    'release=$(uname -r); from="$1"; shift; build=$(realpath "$from/build");'
    ' source=$(realpath "$from/source"); mount -t tmpfs tmpfs /lib/modules && cd /lib/modules'
    ' && mkdir "$release" && ln -s "$build" "$release/build" && ln -s "$source" "$release/source"'
    ' && cd "$OLDPWD" && exec "$@"'
)


def headers_for_bcc():
    """Give the words that run a command with headers of a kernel; None without any."""
    modules = Path("/lib/modules")
    if (modules / os.uname().release / "build").exists():
        return []
    others = sorted(path.parent for path in modules.glob("*/build") if path.exists())
    return ["sh", "-c", BORROW, "sh", others[-1]] if others else None


@needs_tracefs
def test_bcc_counts_what_strace_counts(program, recorded, script, tmp_path):
    with_headers = headers_for_bcc()
    python = ["/usr/bin/python3", "-c", "import bcc"]
    if with_headers is None or subprocess.run(python, check=False, capture_output=True).returncode:
        pytest.skip("needs python3-bpfcc and the headers of a kernel")
    command = [*with_headers, "/usr/bin/python3", script("bcc", "watch.py")]
    found = watch(program, command, tmp_path)
    if "watching" not in found:
        pytest.skip(f"this kernel does not let bcc: {found[-200:]}")
    calls, errors, moved = counted(recorded)
    table = found.partition("call calls bytes\n")[2].partition("\n\n")[0]
    rows = [line.split() for line in table.splitlines()]
    assert {name: int(count) for name, count, _ in rows} == calls
    sums = {name: int(size) for name, _, size in rows if size not in {"-", "0"}}
    assert sums == {name: size for name, size in moved.items() if size}
    failed = Counter()
    table = found.partition("call errno errors\n")[2].partition("\n\n")[0]
    for line in table.splitlines():
        failed[line.split()[0]] += int(line.split()[2])
    assert failed == {name: n for name, n in errors.items() if n}


@needs_tracefs
def test_tracefs_records_a_log_that_tracefast_reads(program, recorded, script, tmp_path):
    path = script("tracefs", "watch.sh")
    command = [*APART, "sh", path, "app.ftrace", *program]
    ran = subprocess.run(
        command, cwd=tmp_path, check=True, capture_output=True, text=True, timeout=PATIENCE
    )
    assert "overrun" not in ran.stderr
    log = tmp_path / "app.ftrace"
    report = tf.parse(log, None)
    assert (report.format, report.losses) == ("tracefs", 0)
    calls, errors, _ = counted(recorded)
    found, failed, _ = counted(log)
    for name in set(calls) - STARTS:
        assert (name, found.get(name), failed.get(name)) == (name, calls[name], errors[name])
    assert not list(Path("/sys/kernel/tracing").glob("instances/tracefast-*"))


@needs_tracefs
def test_tracefs_records_a_process_that_runs_already(program, script, tmp_path):
    path = script("tracefs", "watch.sh")
    stopped = Stopped(program, tmp_path)
    recorder = subprocess.Popen(
        [*APART, "sh", path, "app.ftrace", "-p", str(stopped.pid)],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
    )
    with recorder:
        assert recorder.stderr.readline().startswith("recording")
        stopped.run()
        recorder.wait(timeout=PATIENCE)
    found, _, _ = counted(tmp_path / "app.ftrace")
    assert found["exit_group"] == 5


@needs_tracefs
@pytest.mark.skipif(not shutil.which("perf"), reason="perf is not installed")
def test_perf_counts_what_strace_counts(program, recorded, script, tmp_path):
    path = script("perf", "watch.sh")
    command = [*APART, "sh", path, *program]
    ran = subprocess.run(
        command, cwd=tmp_path, check=False, capture_output=True, text=True, timeout=PATIENCE
    )
    table = ran.stdout.partition("call calls total_us bytes\n")[2].partition("\n\n")[0]
    if not table:
        pytest.skip(f"this kernel does not let perf: {ran.stderr[-200:]}")
    found = {line.split()[0]: line.split()[1:] for line in table.splitlines()}
    calls, errors, moved = counted(recorded)
    # perf starts to record with the first program.
    for name in set(calls) - {"execve"}:
        assert (name, int(found[name][0])) == (name, calls[name])
    for name in ("read", "write"):
        assert int(found[name][2]) == moved[name]
    table = ran.stdout.partition("call errno errors\n")[2].partition("\n\n")[0]
    assert {tuple(line.split()) for line in table.splitlines()} >= {
        ("openat", "2", str(errors["openat"]))
    }


@needs_tracefs
@pytest.mark.skipif(not shutil.which("trace-cmd"), reason="trace-cmd is not installed")
def test_trace_cmd_records_a_log_that_tracefast_reads(program, recorded, script, tmp_path):
    path = script("trace-cmd", "watch.sh")
    command = [*APART, "sh", path, "app.txt", *program]
    ran = subprocess.run(
        command, cwd=tmp_path, check=False, capture_output=True, text=True, timeout=PATIENCE
    )
    if ran.returncode:
        # Where the kernel locks its list of functions, trace-cmd record does not start.
        pytest.skip(f"trace-cmd may not record here: {ran.stderr[-200:]}")
    calls, _, _ = counted(recorded)
    found, _, _ = counted(tmp_path / "app.txt")
    for name in set(calls) - STARTS:
        assert (name, found.get(name)) == (name, calls[name])
