"""Tables of sixty logs, one of them broken: one table, and an error that names the log."""

import json

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import tracefast as tf
from support.logs import line_of
from support.memory import needs_status, peak_kb
from support.paths import DATA

LOGS = 60
BROKEN = 37
# A parent waits for its child, for 20 ms.
LINES = """\
100 1700000000.000000 execve("/bin/sh", ["sh"], 0x7f /* 9 vars */) = 0 <0.001000>
100 1700000000.010000 openat(AT_FDCWD, "/srv/{number}.txt", O_RDONLY) = 3 <0.000010>
100 1700000000.015000 openat(AT_FDCWD, "/srv/none", O_RDONLY) = -1 ENOENT (No file) <0.000010>
100 1700000000.020000 fork() = 101 <0.000100>
100 1700000000.030000 wait4(-1,  <unfinished ...>
101 1700000000.050000 exit_group(0) = ?
101 1700000000.050100 +++ exited with 0 +++
100 1700000000.050200 <... wait4 resumed>NULL, 0, NULL) = 101 <0.020200>
100 1700000000.060000 exit_group(0) = ?
100 1700000000.060100 +++ exited with 0 +++
"""
RULES = """\
[[rule]]
name = "one-open"
table = "files"
value = "sum(opens)"
max = 1
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("many")
    (folder / "runs").mkdir()
    for number in range(LOGS):
        text = "this is no log\n" * 50 if number == BROKEN else LINES.format(number=number)
        (folder / "runs" / f"{number:03}.strace").write_text(text)
    (folder / "rules.toml").write_text(RULES)
    (folder / "one.strace").write_text(LINES.format(number="one"))
    return folder


def rows_of(run, folder, *arguments):
    ran = run(*arguments, "--format", "ndjson", cwd=folder)
    assert ran.returncode == 2
    assert ran.stderr.count("error: ") == 1
    assert f"error: runs/{BROKEN:03}.strace" in ran.stderr
    return [json.loads(line) for line in ran.stdout.splitlines()]


@pytest.mark.parametrize(
    ("command", "rows"),
    [("waits", 1), ("workers", 0), ("files", 3), ("syscalls", 5), ("errors", 1), ("insights", 0)],
)
def test_tables(run, folder, command, rows):
    found = rows_of(run, folder, command, "runs")
    if command == "insights":
        assert found.pop(0)["source"] == f"runs/{BROKEN:03}.strace"
    sources = [row["source"] for row in found]
    assert len(found) == rows * (LOGS - 1)
    assert len(set(sources)) == (LOGS - 1 if rows else 0)
    if rows:
        # What each log has alone; one does not change another.
        last = max(sources)
        alone = run(command, last, "--format", "ndjson", cwd=folder).stdout.splitlines()
        assert [row for row in found if row.pop("source") == last] == list(map(json.loads, alone))


@pytest.mark.parametrize("command", ["syscalls", "errors"])
def test_small_logs_without_events_are_named(run, tmp_path, command):
    for number in range(4):
        (tmp_path / f"{number}.strace").write_text(LINES.format(number=number))
    (tmp_path / "2.strace").write_text("strace: Process 7 attached\n")
    warning = "warning: 2.strace: no event was found\n"
    ran = run(command, ".", "--format", "ndjson")
    assert ran.returncode == 0
    assert ran.stderr == warning
    sources = {json.loads(line)["source"] for line in ran.stdout.splitlines()}
    assert sources == {f"{number}.strace" for number in (0, 1, 3)}
    # One that is broken makes no other one empty.
    (tmp_path / "1.strace").write_text("this is no log\n" * 50)
    ran = run(command, ".", "--format", "ndjson")
    assert ran.returncode == 2
    assert ran.stderr.startswith("error: 1.strace")
    assert ran.stderr.endswith(warning)
    assert ran.stderr.count("warning: ") == 1


PROGRAMS = ("small_reads", "deadlock", "failed_opens", "many_processes", "random_reads_fixed")


def test_findings_of_small_logs_are_those_of_each_alone(run, tmp_path):
    names = [f"{name}.strace.zst" for name in (*PROGRAMS, "no_durations", "no_children")]
    for name in names:
        (tmp_path / name).symlink_to(DATA / "insights" / name)
    # More events than are kept in memory: they are read again for each question.
    numbers = range(60_000)
    many = "".join(line_of(n, 'read(3</srv/small>, "x", 1) = 1') for n in numbers)
    (tmp_path / "z.strace").write_text(many)
    (tmp_path / "y.strace").write_text(many[: many.index("\n", 50_000) + 1])
    names += ["y.strace", "z.strace"]
    ran = run("insights", ".", "--format", "ndjson", cwd=tmp_path)
    alone = [tf.insights(tf.scan(tmp_path / name)).collect().drop("source") for name in names]
    together = tf.insights(tf.scan([tmp_path / name for name in names])).collect()
    for found, name in zip(alone, names, strict=True):
        own = pl.col("source").str.ends_with(name)
        assert_frame_equal(together.filter(own).drop("source"), found)
    codes = [json.loads(line)["code"] for line in ran.stdout.splitlines()]
    assert sorted(codes) == sorted(code for found in alone for code in found["code"])
    assert {"small-reads", "deadlock", "failed-opens", "many-processes"} <= set(codes)
    # Files of Parquet are no logs: their names are no sources.
    tf.parse_many(tmp_path, tmp_path / "events", jobs=1)
    of_parquet = run("insights", "events", "--format", "ndjson", cwd=tmp_path)
    assert (of_parquet.stderr, of_parquet.returncode) == ("", 0)
    assert [json.loads(line)["code"] for line in of_parquet.stdout.splitlines()] == codes


def test_several_at_a_time_give_the_same_in_the_same_order(run, folder):
    found = rows_of(run, folder, "errors", "runs")
    assert rows_of(run, folder, "errors", "runs", "--jobs", 2) == found
    assert [row["source"] for row in found] == sorted(row["source"] for row in found)


def test_check(run, folder):
    found = rows_of(run, folder, "check", "rules.toml", "runs")
    assert len(found) == LOGS
    unread = f"runs/{BROKEN:03}.strace"
    assert [row["source"] for row in found if not row["passed"]] == [unread]
    assert [row["passed"] for row in found if row["source"] == unread] == [None]
    ran = run("check", "rules.toml", "runs", cwd=folder)
    assert ran.stdout == (
        f"runs/{BROKEN:03}.strace: the log cannot be read\n"
        f"0 of {LOGS - 1} checks failed, 1 log cannot be read.\n"
    )


def test_diff(run, folder):
    found = rows_of(run, folder, "diff", "runs", "one.strace")
    opens = {row["key"]: row for row in found if row["measure"] == "opens"}
    assert opens["/srv/one.txt"]["only_in"] == "after"
    # One of them in each run: the names that vary are one.
    assert opens["/srv/*.txt"]["before"] == 1
    assert opens["/srv/*.txt"]["before_runs"] == LOGS - 1


@pytest.fixture(scope="module")
def events(folder):
    tf.parse_many(folder / "runs", folder / "events", jobs=1)
    return folder / "events"


@pytest.mark.parametrize("command", ["waits", "workers", "diff", "check"])
def test_parquet_gives_the_same(run, folder, events, command):
    def lines(runs):
        given = {"diff": (runs, "one.strace"), "check": ("rules.toml", runs)}
        ran = run(command, *given.get(command, (runs,)), "--format", "ndjson", cwd=folder)
        lines = ran.stdout.splitlines()
        if command == "check":
            # The log that cannot be read has no Parquet.
            lines = [line for line in lines if json.loads(line)["passed"] is not None]
        return ran.returncode, sorted(lines)

    assert lines(events) == (0, lines(folder / "runs")[1])


MANY_FILES = 8_000
COMMAND = """
import sys
from tracefast.cli import main
sys.argv = ["tracefast", *sys.argv[1:]]
try:
    main()
except SystemExit:
    pass
"""


@needs_status
def test_memory_is_that_of_one_log(tmp_path):
    lines = (
        line_of(n, f'openat(AT_FDCWD, "/srv/{n}", O_RDONLY) = 3</srv/{n}>')
        for n in range(MANY_FILES)
    )
    text = "".join(lines)
    for number in range(12):
        (tmp_path / f"{number:02}.strace").write_text(text)

    def peak(*logs):
        return peak_kb(COMMAND, "insights", *logs, "--jobs", 1, "-o", tmp_path / "found.csv")

    one = peak(tmp_path / "00.strace")
    assert peak(tmp_path) < one * 1.3
