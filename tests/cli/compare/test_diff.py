"""`tracefast diff`: what it prints, how several runs are named, what it refuses."""

import json
import shutil

import pytest

from support.kernel.split_log import split_log
from support.paths import DATA

BUILDS = DATA / "builds"
OLD, NEW = BUILDS / "old-1.strace.zst", BUILDS / "new-1.strace.zst"


def side(name, numbers=range(1, 5)):
    return ",".join(str(BUILDS / f"{name}-{number}.strace.zst") for number in numbers)


def test_words_come_first_and_name_the_folder(run):
    ran = run("diff", OLD, NEW)
    assert ran.returncode == 0
    words, _, table = ran.stdout.partition("\n\n")
    assert "12 fewer failed opens of\n  /srv/build/legacy/part*.h" in words
    assert "cannot tell a difference from chance" in words
    lines = table.splitlines()
    assert lines[0].split() == ["table", "measure", "before", "after", "change", "ratio", "key"]
    # The heading, the ten largest changes, and how many there are besides.
    assert len(lines) == 12
    assert lines[-1].endswith("more rows; --top 0 prints all")


def test_a_log_and_itself(run):
    assert run("diff", OLD, OLD).stdout == "No difference detected.\n"


@pytest.mark.parametrize("name", ["commas", "pattern", "directory"])
def test_several_runs_of_a_side(run, tmp_path, name):
    if name == "directory":
        for each in ("old", "new"):
            (tmp_path / each).mkdir()
            for log in BUILDS.glob(f"{each}-*.strace.zst"):
                shutil.copy(log, tmp_path / each)
        sides = ["old", "new"]
    elif name == "pattern":
        sides = [f"{BUILDS}/{each}-*.strace.zst" for each in ("old", "new")]
    else:
        sides = [side("old"), side("new")]
    ran = run("diff", *sides, "--table", "files", "--match", "*stdc-predef.h")
    assert ran.returncode == 0
    assert "after: 1 fewer failed open of /srv/build/legacy/stdc-predef.h" in ran.stdout
    assert "4 and 4 runs, 1 comparison: 1 difference is sure" in ran.stdout


def test_what_is_sure_is_said_first(run):
    out = run("diff", side("old"), side("new")).stdout
    first, second, third, _, _, row, *_ = out.splitlines()
    assert row.startswith("processes  calls")
    assert first == "in total: 13 fewer failed opens, 14 fewer calls, 13 fewer failed calls"
    assert second == "after: 12 fewer failed opens of /srv/build/legacy/part*.h"
    assert "11 differences are sure (p at most .05, corrected)" in third


def test_what_may_be_but_is_not_sure_is_said_to_be_so(run, tmp_path):
    for name, times in (("a", [(1, 9), (2, 8), (3, 7), (4, 6)]), ("b", [(5, 5)] * 4)):
        for at, (read, write) in enumerate(times):
            (tmp_path / f"{name}{at}.strace").write_text(
                f'1 1700000000.000000 read(3, "", 9) = 0 <0.{read}00000>\n'
                f'1 1700000001.000000 write(4, "", 0) = 0 <0.{write}00000>\n'
                f"1 1700000002.000000 fsync(4) = 0 <0.0{at}0000>\n"
            )
    out = run("diff", "a?.strace", "b?.strace", "--table", "syscalls").stdout
    first, second, *_ = out.splitlines()
    assert first.startswith("not sure: after: 250 ms")
    assert "2 comparisons: no difference is sure; with so many, it takes 5 runs" in second
    assert " no " in out
    assert " yes " not in out


def test_data_has_all_rows_and_columns(run):
    ran = run(
        "diff",
        OLD,
        NEW,
        "--format",
        "ndjson",
        "--where",
        "measure = 'opens_failed' AND table = 'files'",
    )
    rows = [json.loads(line) for line in ran.stdout.splitlines()]
    assert [row["change"] for row in rows] == [-12, -1]
    assert list(rows[0])[:4] == ["table", "key", "measure", "unit"]


def test_exact_names(run):
    ran = run("diff", OLD, NEW, "--exact", "--format", "csv", "--table", "files")
    assert "/srv/build/legacy/part7.h,opens_failed" in ran.stdout
    assert "*" not in ran.stdout


def test_a_log_that_cannot_be_read_is_named(run, tmp_path):
    (tmp_path / "broken.strace").write_text("this is no log\n" * 50)
    ran = run("diff", f"{OLD},broken.strace", NEW)
    assert ran.returncode == 2
    assert "broken.strace" in ran.stderr
    # The others are compared all the same.
    assert "legacy" in ran.stdout
    ran = run("diff", OLD, "missing.strace")
    assert ran.returncode == 2
    assert ran.stdout == ""


def test_missing_durations_are_said(run, tmp_path):
    line = "1 1700000000.000000 getpid() = 1"
    (tmp_path / "untimed.strace").write_text(f"{line}\n")
    (tmp_path / "timed.strace").write_text(f"{line} <0.000010>\n" * 2)
    ran = run("diff", "untimed.strace", "timed.strace", "--format", "csv")
    assert ran.stderr.startswith("warning: before: no durations of calls")
    assert "syscalls,getpid,calls,,1.0,2.0" in ran.stdout
    assert "_ns" not in ran.stdout


@pytest.mark.parametrize("sides", [("empty.strace", NEW), (OLD, "empty.strace")])
def test_a_side_without_events_cannot_be_compared(run, tmp_path, sides):
    (tmp_path / "empty.strace").write_text("")
    ran = run("diff", *sides)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "error: empty.strace: no event to compare\n" in ran.stderr


def test_durations_of_the_few_calls_that_are_split_are_not_compared(run, tmp_path):
    """Without -T, a log of strace has the durations of the calls that it splits."""
    (tmp_path / "timed.strace").write_text(split_log(" <0.000010>"))
    (tmp_path / "untimed.strace").write_text(split_log(""))
    ran = run("diff", "timed.strace", "untimed.strace", "--table", "syscalls", "--format", "csv")
    assert "warning: after: no durations of calls" in ran.stderr
    assert ran.stdout.count("\n") == 1


def test_a_third_side_is_refused(run):
    ran = run("diff", OLD, NEW, NEW)
    assert ran.returncode == 2
    assert "see tracefast diff --help" in ran.stderr


@pytest.mark.parametrize("columns", [80, 160])
@pytest.mark.parametrize("table", [[], ["--table", "files"], ["--table", "forks"]])
def test_screens_keep_to_their_width(terminal, columns, table):
    for before, after in ((OLD, NEW), (side("old"), side("new"))):
        shown = terminal("diff", before, after, *table, columns=columns)
        assert max(map(len, shown.splitlines())) <= columns
        assert "key" in shown
