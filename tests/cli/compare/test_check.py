"""`tracefast check`: its lines, documents for machines, exit codes."""

import csv
import json
import shutil

import pytest
from junitparser import JUnitXml
from sarif_pydantic import Sarif

import tracefast as tf
from support.kernel.split_log import split_log
from support.paths import DATA

BUILDS = DATA / "builds"
RULES = """\
[[rule]]
name = "few-failed-opens"
table = "files"
where = "path LIKE '%/legacy/%' AND opens_failed > 0"
max_rows = 10

[[rule]]
name = "few-calls"
table = "syscalls"
value = "sum(calls)"
max = 100_000
"""
UNJUDGED = """
[[rule]]
name = "missing"
table = "syscalls"
where = "name = 'missing'"
value = "max(max_ns)"
min = 1
"""
# What `strace -c` prints.
SUMMARY = """\
% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
  0.00    0.000000           0         3           read
------ ----------- ----------- --------- --------- ----------------
100.00    0.000000           0         3           total
"""
FAILS = "few-failed-opens: 13 rows, limit 10, first /srv/build/legacy/part1.h"


@pytest.fixture
def logs(tmp_path):
    """Put the rules and two logs into the folder: one that breaks a rule, one that does not."""
    (tmp_path / "rules.toml").write_text(RULES)
    for name in ("old", "new"):
        shutil.copy(BUILDS / f"{name}-1.strace.zst", tmp_path / f"{name}.strace.zst")
    return "old.strace.zst", "new.strace.zst"


def test_a_check_that_fails_is_one_line(run, logs):
    ran = run("check", "rules.toml", *logs)
    assert ran.returncode == 1
    assert ran.stdout.splitlines() == [f"{logs[0]}: {FAILS}", "1 of 4 checks failed."]
    assert ran.stderr == ""


def test_checks_that_pass(run, logs):
    ran = run("check", "rules.toml", logs[1])
    assert (ran.returncode, ran.stdout) == (0, "All checks passed: 2.\n")


def test_what_cannot_be_judged(run, logs, tmp_path):
    (tmp_path / "rules.toml").write_text(RULES + UNJUDGED)
    ran = run("check", "rules.toml", *logs)
    assert ran.returncode == 2
    *lines, last = ran.stdout.splitlines()
    assert lines[0] == f"{logs[0]}: {FAILS}"
    assert lines[1].startswith(f"{logs[0]}: missing: cannot be judged: ")
    assert last == "1 of 6 checks failed, 2 cannot be judged."


def test_a_log_that_cannot_be_read(run, logs, tmp_path):
    (tmp_path / "broken.strace").write_text("this is no log\n" * 50)
    ran = run("check", "rules.toml", "broken.strace", *logs, "none.strace")
    assert ran.returncode == 2
    assert "broken.strace" in ran.stderr
    assert f"{logs[0]}: {FAILS}" in ran.stdout
    assert ran.stdout.endswith("1 of 4 checks failed, 2 logs cannot be read.\n")


@pytest.mark.parametrize("text", ["", SUMMARY])
def test_a_log_without_events_cannot_be_judged(run, logs, tmp_path, text):
    (tmp_path / "empty.strace").write_text(text)
    ran = run("check", "rules.toml", "empty.strace", logs[1])
    assert ran.returncode == 2
    assert ran.stdout.splitlines() == [
        "empty.strace: the log has no event",
        "0 of 2 checks failed, 1 log without an event.",
    ]
    alone = run("check", "rules.toml", "empty.strace", "--format", "junit")
    assert alone.returncode == 2
    document = JUnitXml.fromstring(alone.stdout.encode())
    assert (document.tests, document.failures, document.errors) == (2, 0, 2)
    assert "No check was made, 1 log" in run("check", "rules.toml", "empty.strace").stdout
    ran = run("check", "--init", "empty.strace", "-o", "new.toml")
    assert ran.returncode == 2
    assert not (tmp_path / "new.toml").exists()


@pytest.mark.parametrize(
    ("end", "code", "said"),
    [(" <0.000010>", 1, "200,200,000 ns, limit 1,000,000 ns"), ("", 2, "of too few calls")],
)
def test_without_durations_times_cannot_be_judged(run, tmp_path, end, code, said):
    """Without -T, a log of strace has the durations of the calls that it splits."""
    (tmp_path / "app.strace").write_text(split_log(end))
    rule = f"{RULES}[[rule]]\nname = 'time'\ntable = 'syscalls'\nvalue = 'sum(total_ns)'\n"
    (tmp_path / "rules.toml").write_text(f"{rule}max = 1_000_000\n")
    ran = run("check", "rules.toml", "app.strace")
    assert (ran.returncode, ran.stderr) == (code, "")
    assert said in ran.stdout
    # A rule about anything else can be judged, and so can times that come from those of events.
    for rule in ("syscalls: calls > 100", "processes: lifetime_ns > 10e9"):
        assert run("check", "--that", rule, "app.strace").returncode == 0


def test_rules_that_are_not_valid(run, logs, tmp_path):
    (tmp_path / "rules.toml").write_text(RULES.replace("opens_failed >", "opens_faild >"))
    ran = run("check", "rules.toml", *logs)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith("error: rules.toml: rule 'few-failed-opens': where path LIKE")
    assert "no such column: opens_faild" in ran.stderr
    assert "did you mean 'opens_failed'" in ran.stderr


def test_junit(run, logs, tmp_path):
    ran = run("check", "rules.toml", *logs, "-o", "found.xml")
    assert ran.returncode == 1
    document = JUnitXml.fromfile(str(tmp_path / "found.xml"))
    assert (document.tests, document.failures, document.errors) == (4, 1, 0)
    ran = run("check", "rules.toml", *logs, "--format", "junit")
    assert ran.stdout == (tmp_path / "found.xml").read_text()


def test_sarif(run, logs):
    ran = run("check", "rules.toml", *logs, "--format", "sarif")
    assert ran.returncode == 1
    (result,) = Sarif.model_validate_json(ran.stdout).runs[0].results
    assert result.rule_id == "few-failed-opens"
    assert result.locations[0].physical_location.artifact_location.uri == logs[0]


def test_github(run, logs):
    ran = run("check", "rules.toml", *logs, "--format", "github")
    assert ran.returncode == 1
    place = f"file={logs[0]},title=few-failed-opens"
    assert ran.stdout == f"::error {place}::{logs[0]}: {FAILS.partition(': ')[2]}\n"


@pytest.mark.parametrize("form", ["table", "json", "sarif", "junit", "github"])
def test_the_output_does_not_replace_the_log(run, logs, tmp_path, form):
    before = (tmp_path / logs[0]).read_bytes()
    ran = run("check", "rules.toml", logs[0], "--format", form, "-o", logs[0])
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "the output would replace an input" in ran.stderr
    assert (tmp_path / logs[0]).read_bytes() == before


def test_rows_for_programs(run, logs):
    ran = run("check", "rules.toml", *logs, "--format", "ndjson")
    rows = [json.loads(line) for line in ran.stdout.splitlines()]
    assert [row["passed"] for row in rows] == [False, True, True, True]
    assert (rows[0]["value"], rows[0]["limit"]) == (13, 10)


@pytest.mark.parametrize("form", ["json", "csv"])
def test_rows_for_programs_name_logs_that_cannot_be_judged(run, logs, tmp_path, form):
    (tmp_path / "empty.strace").write_text("")
    (tmp_path / "broken.strace").write_text("this is no log\n" * 50)

    def rows(*names):
        ran = run("check", "rules.toml", *names, "--format", form)
        assert ran.returncode == 2
        table = list(csv.DictReader(ran.stdout.splitlines()))
        return table if form == "csv" else json.loads(ran.stdout)

    unread, empty = "the log cannot be read", "the log has no event"
    known = rows("broken.strace", logs[1], "empty.strace")
    assert [(row["source"], row["rule"], row["message"]) for row in known[2:]] == [
        ("broken.strace", "few-failed-opens", unread),
        ("broken.strace", "few-calls", unread),
        ("empty.strace", "few-failed-opens", empty),
        ("empty.strace", "few-calls", empty),
    ]
    assert [row["passed"] for row in known[2:]] == [None if form == "json" else ""] * 4
    assert [row["limit"] for row in known[:2]] == [row["limit"] for row in known[2:4]]
    assert len(rows("broken.strace")) == 2


def test_that(run, logs):
    condition = "files: path LIKE '%/legacy/%' AND opens_failed > 0"
    ran = run("check", *logs, "--that", condition)
    assert ran.returncode == 1
    assert f"{logs[0]}: {condition}: 13 rows, limit 0" in ran.stdout
    assert run("check", logs[1], "--that", condition).returncode == 0
    for wrong, message in (
        ("files", "not a table and a condition"),
        ("fils: reads > 1", "did you mean 'files'"),
        ("files: redas > 1", "did you mean 'reads'"),
    ):
        ran = run("check", logs[1], "--that", wrong)
        assert ran.returncode == 2
        assert message in ran.stderr


def test_init_writes_rules_that_the_log_keeps(run, logs):
    ran = run("check", "--init", logs[0], "-o", "first.toml")
    assert (ran.returncode, ran.stdout) == (0, "")
    ran = run("check", "first.toml", logs[0])
    assert ran.returncode == 0
    assert ran.stdout.startswith("All checks passed: ")
    # The log of before has more opens, as those of a folder of headers fail.
    run("check", "--init", logs[1], "-o", "better.toml")
    ran = run("check", "better.toml", logs[0])
    assert ran.returncode == 1
    failed, allowed = (
        tf.files(tf.scan(BUILDS / f"{name}-1.strace.zst")).collect()["opens_failed"].sum()
        for name in ("old", "new")
    )
    [line] = [line for line in ran.stdout.splitlines() if ": failed-opens: " in line]
    limit = allowed + -(-allowed // 10)
    assert line == f"{logs[0]}: failed-opens: sum(opens_failed) is {failed}, limit {limit}"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["old.strace.zst"], "not a file of rules"),
        (["rules.toml"], "no log to check"),
        (["none.toml", "old.strace.zst"], "check --init LOG -o none.toml writes a first one"),
        (["rules.toml", "rules.toml", "old.strace.zst"], "two rules have this name"),
        (["--init", "old.strace.zst", "--format", "csv"], "--init writes TOML"),
        (["--init", "old.strace.zst", "--that", "files: reads > 1"], "--that"),
    ],
)
def test_wrong_command_lines(run, logs, arguments, message):
    ran = run("check", *arguments)
    assert ran.returncode == 2
    assert message in ran.stderr
    assert logs
