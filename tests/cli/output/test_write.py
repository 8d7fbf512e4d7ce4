"""Outputs: where nothing can be written, several writers, links, names."""

import os
import shutil
import subprocess

import polars as pl
import pytest

from support.paths import names_in


def test_a_folder_without_permission_to_write(command, spawn_strace, tmp_path):
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o555)
    # Without its capabilities, root may not do it either.
    plain = ["setpriv", "--bounding-set", "-all", "--inh-caps", "-all"]
    if os.geteuid() != 0:
        plain = []
    elif not shutil.which("setpriv"):
        pytest.skip("root may write everywhere, and there is no setpriv")
    for question in ("parse", "files"):
        ran = subprocess.run(
            [*plain, command, question, spawn_strace, "-o", "locked/out.parquet"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        check_refused(ran, "locked/out.parquet")
    assert not names_in(locked)


def check_refused(ran, name):
    assert ran.returncode == 2
    assert ran.stderr.startswith(f"error: {name}: ")
    assert ran.stderr.count("\n") == 2
    assert "\nhint: " in ran.stderr


@pytest.mark.parametrize("command_line", [("parse",), ("files",), ("sql", "SELECT 1 AS a")])
def test_places_where_nothing_can_be_written(run, spawn_strace, tmp_path, command_line):
    (tmp_path / "file").touch()
    # No user, root included, can make files in these.
    for name in (
        "/proc/out.parquet",
        "missing/out.parquet",
        "file/out.parquet",
        "/sys/out.parquet",
    ):
        check_refused(run(*command_line, spawn_strace, "-o", name), name)
    assert names_in(tmp_path) == {"file"}


@pytest.mark.parametrize("question", ["parse", "files"])
def test_when_two_write_the_same_file_one_wins_whole(command, tmp_path, spawn_strace, question):
    logs = [tmp_path / name for name in ("a.strace", "b.strace")]
    for log in logs:
        log.write_bytes(spawn_strace.read_bytes())
    expected = []
    for log in logs:
        subprocess.run([command, question, log.name, "-o", "one.parquet"], cwd=tmp_path, check=True)
        expected.append((tmp_path / "one.parquet").read_bytes())
    asked = [
        [command, question, log.name, "-o", "out.parquet", "-q"] for log in (*logs, *logs, *logs)
    ]
    running = [subprocess.Popen(line, cwd=tmp_path) for line in asked]
    assert [process.wait(timeout=180) for process in running] == [0] * 6
    assert (tmp_path / "out.parquet").read_bytes() in expected
    assert names_in(tmp_path) == {"a.strace", "b.strace", "one.parquet", "out.parquet"}


@pytest.mark.parametrize("question", ["parse", "files"])
def test_of_two_that_may_not_replace_exactly_one_wins(command, tmp_path, spawn_strace, question):
    for attempt in range(3):
        line = [command, question, spawn_strace, "-o", f"{attempt}.parquet", "--no-clobber"]
        running = [
            subprocess.Popen(line, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
            for _ in range(5)
        ]
        messages = [process.communicate(timeout=180)[1] for process in running]
        assert sorted(process.returncode for process in running) == [0, 2, 2, 2, 2]
        assert sum("already exists" in text for text in messages) == 4
        pl.read_parquet(tmp_path / f"{attempt}.parquet")
        assert len(names_in(tmp_path)) == attempt + 1


def test_an_output_that_is_a_link_is_written_through(run, spawn_strace, tmp_path):
    for question, name in (("parse", "one.parquet"), ("files", "two.parquet"), ("files", "3.csv")):
        target, link = tmp_path / f"target-{name}", tmp_path / name
        link.symlink_to(target.name)
        assert run(question, spawn_strace, "-o", name).returncode == 0
        assert link.is_symlink()
        size = target.stat().st_size
        target.write_text("old")
        assert run(question, spawn_strace, "-o", name).returncode == 0
        assert (link.is_symlink(), target.stat().st_size) == (True, size)
        assert run(question, spawn_strace, "-o", name, "--no-clobber").returncode == 2


def test_names_as_long_as_names_may_be(run, spawn_strace, tmp_path):
    for question in ("parse", "files"):
        name = f"{question}{'x' * (255 - len(question) - 8)}.parquet"
        assert run(question, spawn_strace, "-o", name).returncode == 0
        assert (tmp_path / name).exists()


@pytest.mark.parametrize("name", ["out.xlsx", "out.cvs", "out.arrow"])
def test_suffixes_that_promise_something_else(run, spawn_strace, tmp_path, name):
    check_refused(run("files", spawn_strace, "-o", name), name)
    assert not names_in(tmp_path)
    assert run("files", spawn_strace, "-o", name, "--format", "table").returncode == 0
    for plain in ("out", "out.txt", "run-1.5"):
        assert run("files", spawn_strace, "-o", plain).returncode == 0


def test_names_that_are_empty(run, spawn_strace, tmp_path):
    for arguments in (("files", "-o"), ("parse", "-o"), ("parse", "--out-dir")):
        ran = run(arguments[0], spawn_strace, *arguments[1:], "")
        assert (ran.returncode, ran.stderr.splitlines()[0]) == (
            2,
            "error: the name of the output is empty",
        )
    assert not names_in(tmp_path)
