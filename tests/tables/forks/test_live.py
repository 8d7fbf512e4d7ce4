"""Kinds of created tasks in logs that the tests record themselves, where strace is installed."""

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import tracefast as tf

OPTIONS = ["-f", "-ttt", "-T", "-e", "trace=%process,%desc,%memory,set_robust_list"]


def can_trace() -> bool:
    strace = shutil.which("strace")
    if strace is None:
        return False
    return subprocess.run([strace, "-o", os.devnull, "true"], check=False).returncode == 0


pytestmark = pytest.mark.skipif(not can_trace(), reason="strace cannot trace here")


@pytest.fixture
def spawned(tmp_path):
    """Give the tasks that a command makes."""

    def run(*command: str) -> pl.DataFrame:
        log = tmp_path / "log.strace"
        traced = ["strace", *OPTIONS, "-o", str(log), *command]
        subprocess.run(traced, check=True, cwd=tmp_path, capture_output=True, timeout=120)
        return tf.forks(tf.scan(log)).collect()

    return run


@pytest.fixture
def by_python(spawned, tmp_path):
    """Give the tasks that a piece of Python makes, from a file, as multiprocessing wants it."""

    def run(text: str) -> pl.DataFrame:
        program = tmp_path / "program.py"
        program.write_text(text)
        return spawned(sys.executable, "-E", str(program))

    return run


def kinds(table: pl.DataFrame) -> list[tuple[str | None, str | None]]:
    """Give kind and the name of the program of each, in order."""
    rows = table.select("kind", "image").rows()
    return [(kind, image and Path(image).name) for kind, image in rows]


PYTHON = {
    "subprocess.run(['true'])": ("vfork", "true"),
    "subprocess.run(['true'], preexec_fn=int)": ("fork", "true"),
    "subprocess.run(['/bin/true'], close_fds=False)": ("posix_spawn", "true"),
    "os.posix_spawn('/bin/true', ['true'], {})": ("posix_spawn", "true"),
    "os.system('exit 0')": ("posix_spawn", "sh"),
    "os.popen('exit 0').read()": ("vfork", "sh"),
    "os.fork() or os._exit(0)": ("fork", None),
    "threading.Thread(target=int).start()": ("thread", None),
}


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries do otherwise")
@pytest.mark.parametrize("statement", PYTHON)
def test_ways_of_python(by_python, statement):
    table = by_python(f"import os, subprocess, threading\n{statement}\n")
    assert kinds(table)[0] == PYTHON[statement]
    assert table["child_task"].null_count() == 0
    assert table["parent_image"].to_list()[0] == os.path.realpath(sys.executable) or (
        table["parent_image"].to_list()[0] == sys.executable
    )


def test_a_program_that_is_not_there(by_python):
    table = by_python(
        "import os, subprocess\n"
        "os.environ['PATH'] = '/nowhere:/neither:/bin'\n"
        "subprocess.run(['true'])\n"
        "try:\n    subprocess.run(['/nowhere/program'])\n"
        "except FileNotFoundError:\n    pass\n"
    )
    assert table.select("exec_failed", "image").rows() == [(2, "/bin/true"), (1, None)]
    assert table["error_pipe_ns"].null_count() == 0
    assert table["exit_status"].to_list() == [0, 255]


WORKERS = (
    "import multiprocessing\n"
    "if __name__ == '__main__':\n"
    "    context = multiprocessing.get_context({!r})\n"
    "    workers = [context.Process(target=int) for _ in range(2)]\n"
    "    [worker.start() for worker in workers]\n"
    "    [worker.join() for worker in workers]\n"
)


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_ways_of_multiprocessing(by_python, method):
    found = kinds(by_python(WORKERS.format(method)))
    started = [(kind, image is not None) for kind, image in found if kind != "thread"]
    # A tracker of resources comes with workers that share no memory.
    expected = {
        "fork": [("fork", False)] * 2,
        "spawn": [("vfork", True)] * 3,
        "forkserver": [("vfork", True)] * 2 + [("fork", False)] * 2,
    }
    assert started == expected[method]


def test_a_shell(spawned):
    shell = os.path.realpath("/bin/sh")
    table = spawned("/bin/sh", "-c", "/bin/true; (exit 3); x=$(exit 4); :")
    images = [image for _, image in kinds(table)]
    assert images == ["true", None, None]
    assert table["exit_status"].to_list() == [0, 3, 4]
    if Path(shell).name == "dash":
        assert {kind for kind, _ in kinds(table)[1:]} == {"fork"}
        assert kinds(table)[0][0] in ("vfork", "fork")
    if Path(shell).name == "bash":
        assert {kind for kind, _ in kinds(table)} == {"fork"}


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
def test_make(spawned, tmp_path):
    (tmp_path / "Makefile").write_text("all: a b\na b:\n\t/bin/true && /bin/true\n")
    table = spawned("make", "-j2")
    made = table.filter(pl.col("parent_image").str.ends_with("/make"))
    assert made.height >= 2
    assert set(made["kind"]) <= {"vfork", "posix_spawn", "fork"}
    assert "sh" in {Path(image).name for image in made["image"]}


@pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no gcc")
def test_a_compiler(spawned, tmp_path):
    (tmp_path / "a.c").write_text("int main(void) { return 0; }\n")
    table = spawned("gcc", "-c", "a.c")
    started = {image: kind for kind, image in kinds(table)}
    assert {"cc1", "as"} <= set(started)
    assert {started["cc1"], started["as"]} <= {"vfork", "posix_spawn"}
    assert table.filter(pl.col("image").str.ends_with("cc1"))["startup_libraries"].item() >= 1
