"""Streams: readers that stop, full disks, descriptors that are closed, pipes with names."""

import re
import shutil
import subprocess

import pytest

from support.paths import names_in


@pytest.mark.parametrize("form", ["table", "csv", "ndjson"])
def test_a_reader_that_has_seen_enough_is_no_error(shell, big, form):
    ran = shell(f'"$T" files {big} --format {form} | head -3')
    assert len(ran.stdout.splitlines()) == 3
    assert "Traceback" not in ran.stderr
    assert "error" not in ran.stderr
    assert ran.stderr.endswith("codes 0 0\n")


def test_neither_is_one_that_reads_nothing(shell, big):
    for arguments in (
        "files",
        "forks",
        "processes --tree",
        "events",
        "schema #",
        "parse --explain",
    ):
        ran = shell(f'"$T" {arguments.replace("#", "")} {"" if "#" in arguments else big} | true')
        assert re.search(r"codes 0 0\n$", ran.stderr), ran.stderr
        assert "Traceback" not in ran.stderr
        assert "error" not in ran.stderr.lower()


@pytest.mark.parametrize(
    "arguments",
    [
        "files LOG --format csv",
        "files LOG",
        "files LOG -o /dev/full",
        "forks LOG",
        "processes LOG --tree",
        "syscalls LOG --strace-c",
        "files LOG --explain libc.so.6",
        "schema",
        "version",
        "parse LOG -o -",
        "parse LOG -o /dev/full --sink arrow",
    ],
)
def test_a_full_disk_is_an_error(shell, spawn_strace, tmp_path, arguments):
    ran = shell(f'"$T" {arguments.replace("LOG", str(spawn_strace))} > /dev/full')
    assert "No space left on device" in ran.stderr
    assert ran.stderr.count("error: ") == 1
    assert re.search(r"^error: (standard output|/dev/full|-): ", ran.stderr, re.MULTILINE)
    assert "hint: free some space" in ran.stderr
    assert "Traceback" not in ran.stderr
    assert "Exception ignored" not in ran.stderr
    assert ran.stderr.endswith("codes 2\n")
    assert not names_in(tmp_path)


@pytest.mark.parametrize(
    ("closed", "arguments", "code", "words"),
    [
        (">&-", ["--version"], 2, "standard output: "),
        (">&-", ["--help"], 2, "standard output: "),
        (">&-", ["version"], 2, "standard output: "),
        (">&-", ["files", "LOG"], 2, "standard output: "),
        (">&-", ["files", "LOG", "--format", "csv"], 2, "standard output: "),
        (">&-", ["parse", "LOG", "-o", "out.parquet"], 0, "out.parquet: "),
        (">&-", ["files", "LOG", "-o", "out.csv"], 0, ""),
        ("2>&-", ["parse", "LOG", "-o", "out.parquet", "-q"], 0, ""),
        ("2>&-", ["files", "missing"], 2, ""),
        ("2>/dev/full", ["files", "missing"], 2, ""),
        ("2>/dev/full", ["parse", "LOG", "-o", "out.parquet"], 2, ""),
        ("<&-", ["files", "LOG", "-o", "out.csv"], 0, ""),
        ("<&-", ["files", "-"], 2, "error: "),
    ],
)
def test_streams_that_are_closed(command, spawn_strace, tmp_path, closed, arguments, code, words):
    line = " ".join(str(spawn_strace) if word == "LOG" else word for word in arguments)
    ran = subprocess.run(
        ["sh", "-c", f"exec {command} {line} {closed}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, "Traceback" in ran.stderr) == (code, False), ran.stderr
    assert words in ran.stderr
    assert ran.stderr.count("error: ") == (code == 2 and closed != "2>&-" and "full" not in closed)


def test_pipes_that_have_names_are_read_once(shell, run, spawn_strace):
    # Without an order, either count may come first.
    counts = "SELECT count(*) AS n FROM events UNION ALL SELECT count(*) FROM files"
    query = f"SELECT n FROM ({counts}) AS counts ORDER BY n"
    expected = run("sql", query, spawn_strace).stdout
    for engine in ("polars", "duckdb"):
        ran = shell(f'$T sql "{query}" <(cat {spawn_strace}) --engine {engine}')
        assert (ran.stdout, ran.stderr.splitlines()[-1]) == (expected, "codes 0"), ran.stderr
    expected = run("events", spawn_strace).stdout
    assert shell(f"$T events <(cat {spawn_strace})").stdout == expected
    assert shell(f"$T events - - < {spawn_strace}").stdout == expected
    expected = run("files", spawn_strace, "--from", "0.01").stdout
    assert expected.count("\n") > 3
    assert shell(f"cat {spawn_strace} | $T files /dev/stdin --from 0.01").stdout == expected


def test_patterns_pass_folders_by(run, spawn_strace, tmp_path):
    (tmp_path / "logs" / "more").mkdir(parents=True)
    for name in ("a.strace", "more/b.strace"):
        shutil.copy(spawn_strace, tmp_path / "logs" / name)
    for pattern, logs in (("logs/*", 1), ("logs/**", 2)):
        ran = run("events", pattern, "--format", "csv")
        assert ran.returncode == 0, ran.stderr
        assert ran.stdout.splitlines()[0].startswith("source") == (logs == 2)
