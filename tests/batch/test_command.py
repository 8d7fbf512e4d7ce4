"""`tracefast parse --out-dir`, as installed."""

import re
import subprocess
import sys

import polars as pl
import pytest

from support.logs import READ, write_short
from support.permissions import obey_permissions


@pytest.fixture(autouse=True)
def logs(tmp_path):
    write_short(tmp_path, ["a.strace", "b.strace", "c.strace"])


def table(text: str) -> dict[str, list[str]]:
    """Read the numbers of the summary: logs, bytes, lines, events, not understood."""
    rows = [line.split() for line in text.splitlines()]
    return {row[0]: row[1:6] for row in rows if row and row[0] in {"done", "skipped", "failed"}}


def test_a_folder_and_a_summary(run, tmp_path):
    ran = run("parse", "a.strace", "b.strace", "c.strace", "--out-dir", "events", "--jobs", 2)
    assert (ran.returncode, ran.stdout) == (0, "")
    size = len(READ) * 6
    first = ran.stderr.splitlines()[0]
    assert first.startswith(f"{tmp_path / 'events'}: 3 logs, {size} bytes in ")
    assert first.endswith("B/s)")
    assert table(ran.stderr) == {"done": ["3", str(size), "6", "6", "0"]}
    assert pl.scan_parquet(tmp_path / "events").select(pl.len()).collect().item() == 6
    again = run("parse", "*.strace", "--out-dir", "events")
    assert table(again.stderr) == {"skipped": ["3", str(size), "6", "6", "0"]}
    again = run("parse", "*.strace", "--out-dir", "events", "--no-resume")
    assert table(again.stderr) == {"done": ["3", str(size), "6", "6", "0"]}


def test_bad_logs_are_named_with_what_to_do(run):
    ran = run("parse", "a.strace", "no.strace", "b.strace", "--out-dir", "events")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert re.search(r"^error: .*/no\.strace: No such file or directory$", ran.stderr, re.MULTILINE)
    assert "\nhint: check the name\n" in ran.stderr
    assert table(ran.stderr) == {
        "done": ["2", str(len(READ) * 3), "3", "3", "0"],
        "failed": ["1", "-", "-", "-", "-"],
    }


def test_a_thousand_errors_are_not_all_printed(run, tmp_path):
    names = [f"no-{number}" for number in range(100)]
    ran = run("parse", *names, "--out-dir", "events")
    assert ran.returncode == 2
    assert ran.stderr.count("error: ") == 20
    assert "… and 80 errors more" in ran.stderr
    assert len(list((tmp_path / "events.manifest").glob("*.json"))) == 100


def test_quiet_and_verbose(run):
    ran = run("parse", "*.strace", "--out-dir", "events", "--quiet")
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
    ran = run("parse", "*.strace", "--out-dir", "events", "--verbose")
    assert all(f"{name}.strace\n" in ran.stderr for name in "abc")
    ran = run("parse", "no", "--out-dir", "events", "--quiet")
    assert ran.returncode == 2
    assert ran.stderr.startswith("error: ")


def test_strict(run, tmp_path):
    (tmp_path / "odd.strace").write_text(READ * 9 + "what is this\n")
    ran = run("parse", "*.strace", "--out-dir", "events")
    assert ran.returncode == 0
    assert table(ran.stderr)["done"][-1] == "1"
    # What an earlier run did not understand is not understood now.
    assert run("parse", "*.strace", "--out-dir", "events", "--strict").returncode == 1
    assert run("parse", "a.strace", "--out-dir", "events", "--strict").returncode == 0
    assert run("parse", "*.strace", "no", "--out-dir", "events", "--strict").returncode == 2


def test_shards(run, tmp_path):
    for index in (1, 2):
        ran = run("parse", "*.strace", "--out-dir", "events", "--shard", f"{index}/2")
        assert ran.returncode == 0
    assert pl.scan_parquet(tmp_path / "events").select(pl.len()).collect().item() == 6


def test_an_empty_log_is_noted(run, tmp_path):
    (tmp_path / "empty.strace").touch()
    ran = run("parse", "empty.strace", "--out-dir", "events")
    assert ran.returncode == 0
    assert "empty.strace: the log is empty" in ran.stderr


def test_names_cannot_write_on_the_terminal(run, tmp_path):
    (tmp_path / "evil\x1b[31m\n.strace").write_text("no log\n" * 3)
    ran = run("parse", "evil*", "--out-dir", "ev\x1b[1mil", "--verbose")
    assert ran.returncode == 2
    assert "\x1b" not in ran.stderr
    assert re.search(r"evil\\\w+\[31m\\\w+\.strace", ran.stderr)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--out-dir", "events", "-o", "x.parquet"), "-o and --out-dir"),
        (("--out-dir", "events", "--explain"), "--explain"),
        (("--out-dir", "events", "--sink", "arrow"), "--sink arrow"),
        (("--out-dir", "events", "--no-clobber"), "--no-clobber"),
        (("--out-dir", "events", "--shard", "3/2"), "--shard 3/2"),
        (("--out-dir", "events", "--shard", "0/2"), "--shard 0/2"),
        (("--out-dir", "events", "--shard", "half"), "--shard half"),
        (("--out-dir", "events", "--compression", "lead"), "--compression lead"),
        (("--out-dir", "events", "-"), "standard input"),
        (("-o", "x.parquet", "--jobs", "2"), "--jobs"),
        (("-o", "x.parquet", "--shard", "1/2"), "--shard"),
        (("-o", "x.parquet", "--no-resume"), "--no-resume"),
    ],
)
def test_what_does_not_go_together_is_refused(run, tmp_path, arguments, words):
    before = set(tmp_path.iterdir())
    ran = run("parse", "a.strace", *arguments)
    assert ran.returncode == 2
    assert ran.stderr.startswith(f"error: {words}")
    assert "\nhint: " in ran.stderr
    assert set(tmp_path.iterdir()) == before


def test_a_folder_that_cannot_be_made(run, tmp_path):
    (tmp_path / "file").touch()
    (tmp_path / "other.manifest").touch()
    for name, message in {
        "file": "file: File exists",
        "file/events": "file/events: Not a directory",
        "other": "other.manifest/partial: Not a directory",
    }.items():
        ran = run("parse", "a.strace", "--out-dir", name)
        assert ran.returncode == 2
        assert ran.stderr.startswith(f"error: {tmp_path}/{message}\nhint: give --out-dir a folder")
        assert "Traceback" not in ran.stderr


def test_a_folder_that_cannot_be_written_gives_one_error(run, tmp_path):
    (tmp_path / "events").mkdir(mode=0o555)
    ran = run("parse", "*.strace", "--out-dir", "events", preexec_fn=obey_permissions)
    assert ran.returncode == 2
    assert ran.stderr.startswith(f"error: {tmp_path}/events: Permission denied\nhint: ")
    assert ran.stderr.count("error: ") == 1


def test_a_terminal_shows_the_summary_only(terminal):
    shown = terminal("parse", "a.strace", "--out-dir", "events")
    assert shown.splitlines()[1].split() == [
        "logs", "bytes", "lines", "events", "not", "understood",
    ]  # fmt: skip


def test_a_batch_needs_neither_polars_nor_pyarrow(tmp_path):
    code = """
import sys
from tracefast.cli import main
try:
    main()
except SystemExit as stop:
    assert not stop.code, stop.code
assert not {"polars", "pyarrow", "rich"} & set(sys.modules)
"""
    command = [sys.executable, "-c", code, "parse", "a.strace", "--out-dir", "events", "-q"]
    subprocess.run(command, cwd=tmp_path, check=True)
