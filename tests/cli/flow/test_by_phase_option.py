"""`--by phase` of `tracefast files`, `syscalls` and `flow`, with `--phase`."""

import json

import pytest

import tracefast as tf
from support.logs import lines_of
from support.paths import DATA

TRAIN = DATA / "flow" / "train.strace.zst"
PHASES = DATA / "flow" / "phases.strace.zst"
FTRACE = DATA / "flow" / "phases.ftrace.zst"


@pytest.fixture
def rows(run):
    """Run a command; give the rows that it printed."""

    def call(*words):
        ran = run(*words, "--format", "ndjson")
        assert ran.returncode == 0, ran.stderr
        return [json.loads(line) for line in ran.stdout.splitlines()]

    return call


def test_files_of_each_part_of_the_run(rows):
    found = rows("files", TRAIN, "--by", "phase", "--match", "/srv/train/data/run/*")
    moved = {
        (row["phase"], row["path"].rpartition("/")[2], way)
        for row in found
        for way in ("read", "write")
        if row[f"{way}s"]
    }
    assert moved == {
        ("download", "train.gz", "write"),
        ("unpack", "train.gz", "read"),
        ("unpack", "train", "write"),
        ("load", "train", "read"),
        ("epoch", "train.log", "write"),
        ("save", "scratch.bin", "write"),
        ("save", "model.pkl.new", "write"),
        ("test", "model.pkl", "read"),
        ("test", "accuracy.txt", "write"),
    }


def test_rows_without_a_phase_are_rows_of_their_own(rows):
    found = rows("syscalls", TRAIN, "--by", "phase")
    names = [row["name"] for row in found if row["phase"] is None]
    assert len(names) == len(set(names)) > 10
    assert next(iter(found[0])) == "phase"
    # Marks are in no phase; gzip looks for a file, too.
    assert {row["phase"] for row in found if row["name"] == "access"} == {None, "unpack"}
    assert sum(row["calls"] for row in found) == sum(
        row["calls"] for row in rows("syscalls", TRAIN)
    )


@pytest.mark.parametrize("command", ["files", "syscalls"])
def test_a_window_does_not_hide_the_marks(rows, command):
    within = rows(command, PHASES, "--by", "phase", "--phase", "train")
    assert {row["phase"] for row in within} == {"train", "epoch"}
    without = rows(command, PHASES, "--phase", "train")
    total = {"files": "stats", "syscalls": "calls"}[command]
    assert sum(row[total] for row in within) == sum(row[total] for row in without)
    late = rows(command, PHASES, "--by", "phase", "--from", "0.09")
    assert "load" not in {row["phase"] for row in late}
    assert "test" in {row["phase"] for row in late}


def test_conditions_and_order(rows):
    found = rows(
        "syscalls", PHASES, "--by", "phase", "--where", "phase = 'train'", "--sort", "calls"
    )
    assert {row["phase"] for row in found} == {"train"}
    calls = [row["calls"] for row in found]
    assert calls == sorted(calls, reverse=True)
    names = [row["phase"] for row in rows("files", TRAIN, "--by", "phase", "--sort", "phase")]
    known = [name for name in names if name is not None]
    assert known == sorted(known)
    assert len(known) < len(names)


def test_several_logs_and_parquet(rows, tmp_path):
    file = tmp_path / "train.parquet"
    tf.parse(TRAIN, file)
    assert rows("files", file, "--by", "phase") == rows("files", TRAIN, "--by", "phase")
    both = rows("syscalls", TRAIN, FTRACE, "--by", "phase", "--match", "clone")
    assert {(row["source"].rpartition("/")[2], row["phase"]) for row in both} == {
        ("train.strace.zst", "download"),
        ("phases.ftrace.zst", "load"),
    }


@pytest.mark.parametrize("columns", ["80", "160"])
def test_the_phase_is_on_every_screen(run, columns, monkeypatch):
    monkeypatch.setenv("COLUMNS", columns)
    assert run("files", TRAIN, "--by", "phase").stdout.startswith("phase")
    assert " phase " in run("syscalls", TRAIN, "--by", "phase").stdout.splitlines()[0]


def test_a_log_without_marks(run, tmp_path):
    log = tmp_path / "plain.strace"
    log.write_text(lines_of(['read(3</srv/a>, "abc", 4096) = 3']))
    for command in ("files", "syscalls"):
        done = run(command, log, "--by", "phase")
        assert done.returncode == 0
        assert "tracefast.mark(NAME)" in done.stderr
        assert "tracefast.mark(NAME)" not in run(command, log).stderr


def test_scope_file_is_refused(run):
    done = run("files", TRAIN, "--by", "phase", "--scope", "file")
    assert done.returncode == 2
    assert "leave out --scope file" in done.stderr


def test_one_phase_of_the_flow(rows):
    whole = rows("flow", TRAIN, "--by", "phase")
    within = rows("flow", TRAIN, "--by", "phase", "--phase", "unpack")
    assert within
    assert within == [row for row in whole if row["phase"] == "unpack"]
    found = rows("flow", TRAIN, "--phases", "--phase", "unpack")
    assert [row["name"] for row in found] == ["unpack"]
