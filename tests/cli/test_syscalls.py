"""`tracefast syscalls`, as installed."""

import csv
import io
import json
import os
import pty
import re
import shutil
import subprocess

import polars as pl
import pytest

import tracefast as tf
from support.paths import DATA
from tracefast.cli.text.units import duration

WALL = DATA / "counts" / "wall.strace"


def test_one_row_per_name_the_longest_first(run):
    ran = run("syscalls", WALL)
    assert (ran.returncode, ran.stderr) == (0, "")
    head, *rows = ran.stdout.splitlines()
    assert head.split("  ")[0] == "total ms"
    names = [row.split()[-1] for row in rows]
    assert names == tf.syscalls(tf.scan(WALL)).collect()["name"].to_list()
    assert names[0] == "wait4"
    assert "\x1b" not in ran.stdout


def test_waiting_and_working_add_up(run):
    ran = run("syscalls", WALL, "--match", "read")
    head, *rows = ran.stdout.splitlines()
    assert [row.split()[-1] for row in rows] == ["read"]
    ends = [head.index(name) + len(name) for name in ("total ms", "wait ms", "work ms")]
    total, wait, work = (float(rows[0][:end].split()[-1].replace(",", "")) for end in ends)
    assert total == pytest.approx(wait + work, abs=0.002)
    assert min(wait, work) > 0


@pytest.mark.parametrize("question", [[], ["--by", "process"], ["--strace-c"]])
def test_logs_parquet_and_standard_input_answer_alike(run, question, tmp_path):
    expected = run("syscalls", WALL, *question).stdout
    assert expected.count("\n") > 30
    run("parse", WALL, "-o", "events.parquet")
    assert run("syscalls", "events.parquet", *question).stdout == expected
    log = (tmp_path / "events.parquet").read_bytes()
    for text in (WALL.read_bytes(), log):
        ran = run("syscalls", "-", *question, input=text, text=False)
        assert ran.stdout.decode() == expected


def test_all_columns_in_other_forms(run):
    table = json.loads(run("syscalls", WALL, "--format", "json").stdout)
    lines = run("syscalls", WALL, "--format", "ndjson").stdout.splitlines()
    text = csv.DictReader(io.StringIO(run("syscalls", WALL, "--format", "csv").stdout))
    assert table == [json.loads(line) for line in lines]
    assert list(table[0]) == tf.syscalls(tf.scan(WALL)).collect_schema().names()[1:]
    assert [row["name"] for row in text] == [row["name"] for row in table]
    wide = run("syscalls", WALL, "--wide").stdout.splitlines()
    assert {"mean ms", "p90 ms", "bytes"} < {cell.strip() for cell in wide[0].split("  ")}


def test_sort_top_and_match(run):
    rows = run("syscalls", WALL, "--sort", "errors", "--top", 2, "--format", "ndjson").stdout
    errors = [json.loads(line)["errors"] for line in rows.splitlines()]
    assert len(errors) == 2
    assert errors[0] == max(tf.syscalls(tf.scan(WALL)).collect()["errors"])
    found = run("syscalls", WALL, "--match", "rt_*", "--format", "ndjson").stdout.splitlines()
    assert {json.loads(line)["name"] for line in found} > {"rt_sigreturn", "rt_sigaction"}
    assert all(json.loads(line)["name"].startswith("rt_") for line in found)
    ran = run("syscalls", WALL, "--sort", "nothing")
    assert ran.returncode == 2
    assert "no such column" in ran.stderr


def test_by_process(run):
    ran = run("syscalls", DATA / "spawn" / "spawn.strace", "--by", "process", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(ran.stdout)))
    assert list(rows[0])[:3] == ["pid", "image", "name"]
    assert {row["image"] for row in rows} == {
        "/usr/bin/python3",
        "/usr/bin/true",
        "/bin/true",
        "/usr/bin/sh",
    }


def test_several_logs_have_a_source_each(run):
    other = DATA / "counts" / "columns.strace"
    ran = run("syscalls", WALL, other, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(ran.stdout)))
    assert {row["source"] for row in rows} == {str(WALL), str(other)}
    for source in (WALL, other):
        share = sum(float(row["total_share"] or 0) for row in rows if row["source"] == str(source))
        assert share == pytest.approx(1)


def test_the_summary_of_strace(run, tmp_path):
    expected = WALL.read_text()
    expected = expected[expected.index("% time") :]
    ran = run("syscalls", WALL, "--strace-c")
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, expected, "")
    assert run("syscalls", WALL, "--strace-c", "-o", "summary").returncode == 0
    assert (tmp_path / "summary").read_text() == expected
    assert run("syscalls", WALL, "--strace-c", "-o", "summary", "--no-clobber").returncode == 2
    rows = json.loads(run("syscalls", WALL, "--strace-c", "--format", "json").stdout)
    names = ["time_percent", "seconds", "usecs_per_call", "calls", "errors", "syscall"]
    assert list(rows[0]) == names
    assert rows[0]["syscall"] == expected.splitlines()[2].split()[-1]


def test_the_summary_of_several_logs_is_one(run, tmp_path):
    shutil.copy(WALL, tmp_path / "copy")
    twice = run("syscalls", WALL, "copy", "--strace-c", "--format", "ndjson").stdout.splitlines()
    once = run("syscalls", WALL, "--strace-c", "--format", "ndjson").stdout.splitlines()
    for two, one in zip(map(json.loads, twice), map(json.loads, once), strict=True):
        assert (two["syscall"], two["calls"]) == (one["syscall"], 2 * one["calls"])
    # A log that cannot be read does not spoil the others.
    ran = run("syscalls", WALL, "missing", "copy", "--strace-c", "--format", "ndjson")
    assert ran.returncode == 2
    assert ran.stdout.splitlines() == twice


def test_the_summary_of_strace_has_no_other_choices(run):
    for option in (["--by", "process"], ["--sort", "calls"], ["--top", "3"], ["--wide"]):
        ran = run("syscalls", WALL, "--strace-c", *option)
        assert ran.returncode == 2
        assert option[0] in ran.stderr
    ran = run("syscalls", WALL, "--strace-c", "--match", "rt_*")
    assert ran.stdout.splitlines()[-1].split()[-1] == "total"
    assert ran.stdout.count("rt_") == ran.stdout.count("\n") - 4


def test_a_log_without_times_says_so(run, tmp_path):
    (tmp_path / "log").write_text('read(3, "", 10) = 0\nclose(3) = 0\n')
    for option in ([], ["--strace-c"]):
        ran = run("syscalls", "log", *option)
        assert ran.returncode == 0
        assert "no durations" in ran.stderr
        assert "close" in ran.stdout
    (tmp_path / "exits").write_text("exit_group(0) = ?\n+++ exited with 0 +++\n")
    ran = run("syscalls", "exits", "--strace-c")
    assert (ran.returncode, ran.stdout) == (0, "")
    assert "no system call that returned" in ran.stderr


def test_a_terminal_gets_units_and_a_last_line(command, tmp_path):
    leader, follower = pty.openpty()
    with subprocess.Popen(
        [command, "syscalls", str(WALL)],
        stdout=follower,
        stderr=follower,
        env={**os.environ, "COLUMNS": "140"},
        cwd=tmp_path,
    ) as process:
        os.close(follower)
        text = b""
        while True:
            try:
                piece = os.read(leader, 65536)
            except OSError:
                break
            if not piece:
                break
            text += piece
        assert process.wait() == 0
    os.close(leader)
    lines = text.decode().splitlines()
    assert re.sub(r"\x1b\[\d*m", "", lines[0]).split()[:5] == ["total", "open", "%", "time", "wait"]
    names = ("calls", "errors", "total_ns")
    calls, errors, ns = tf.syscalls(tf.scan(WALL)).select(pl.col(*names).sum()).collect().row(0)
    assert lines[-1].startswith(f"{calls} calls took {duration(ns)}: ")
    assert f"; {errors} errors" in lines[-1]
