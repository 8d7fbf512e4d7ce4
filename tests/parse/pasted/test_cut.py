"""Logs whose lines were cut at a width: `cut -c1-80`, columns of a terminal."""

from __future__ import annotations

import re

import polars as pl
import pyarrow as pa
import pytest

import tracefast as tf
from support.paths import DATA

WIDTHS = (60, 72, 80, 100, 120, 132)


@pytest.fixture(scope="module")
def demo() -> dict[str, bytes]:
    def text(name: str) -> bytes:
        with pa.input_stream(DATA / f"demo.{name}.zst", compression="zstd") as packed:
            return packed.read()

    return {name: text(name) for name in ("strace", "ftrace")}


def cut(text: bytes, width: int) -> bytes:
    return b"".join(line[:width] + b"\n" for line in text.splitlines())


def events(path, text: bytes) -> tuple[pl.DataFrame, tf.Report]:
    path.write_bytes(text)
    return pl.DataFrame(tf.read(path)), tf.parse(path, None)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("kind", ["strace", "ftrace"])
def test_no_value_is_made_of_a_part_of_one(tmp_path, demo, kind, width):
    clean, _ = events(tmp_path / "log", demo[kind])
    found, report = events(tmp_path / "log", cut(demo[kind], width))
    both = found.join(clean, on="line", suffix="_clean")
    for name in ("fd", "requested", "ret"):
        wrong = both.filter(pl.col(name) != pl.col(f"{name}_clean"))
        assert wrong.select("line", name, f"{name}_clean", "args").rows() == []
    # Where a line loses its second name, the path is the one that the call gave.
    part = pl.col("path_clean").str.starts_with(pl.col("path"))
    parts = both.filter(part & (pl.col("path") != pl.col("path_clean")))
    assert parts.select("line", "path", "path_clean").rows() == []
    exact = pl.col("offset_known") == "exact"
    known = both.filter(exact & (kind == "strace"))
    wrong = known.filter(pl.col("offset").ne_missing(pl.col("offset_clean")))
    assert wrong.select("line", "offset", "args").rows() == []
    given = both.filter(pl.col("name").is_in(["pread64", "pwrite64"]))
    wrong = given.filter(pl.col("offset") != pl.col("offset_clean"))
    assert wrong.select("line", "offset", "args").rows() == []
    assert any("lost" in words for words in report.quality)


@pytest.mark.parametrize("width", WIDTHS)
def test_arguments_that_a_cut_left_open_are_counted(tmp_path, demo, width):
    text = cut(demo["ftrace"], width)
    _, report = events(tmp_path / "log", text)
    open_calls = re.findall(rb"(?m): sys_\w+\([^)\n]*$", text)
    records = [line for line in text.splitlines() if len(line) == width]
    results = [line for line in records if re.search(rb": sys_\w+ ->.*$", line)]
    numbers = [line for line in records if re.search(rb": sched_.*[0-9]$", line)]
    assert 100 < len(open_calls) + len(results) <= report.oddities["lost_values"]
    assert report.oddities["lost_values"] <= len(open_calls) + len(results) + len(numbers)


def test_no_child_is_made_of_a_part_of_its_pid(tmp_path):
    fork = (
        "  sh-7  [001] ..... 2.000004: sched_process_fork: comm=sh pid=7 child_comm=sh child_pid="
    )
    call = "  sh-7  [001] ..... 2.000001: sys_read(fd: 3, buf: 7ffd0, count: "
    width = len(fork) + 1
    calls = [call.ljust(width, "1") + "234)"] * 3
    later = [f"  sh-{pid}  [001] ..... 2.000005: sys_getpid()" for pid in (1234, 1)]
    whole = "\n".join([*calls, fork + "1234", *later]) + "\n"

    def parents(text: bytes) -> dict[int, int | None]:
        _, report = events(tmp_path / "log", text)
        assert report.oddities["lost_values"] == (0 if text == whole.encode() else 4)
        tasks = tf.processes(tf.scan(tmp_path / "log")).collect()
        return dict(tasks.select("pid", "ppid").iter_rows())

    assert parents(whole.encode()) == {7: None, 1: None, 1234: 7}
    assert parents(cut(whole.encode(), width)) == {7: None, 1: None, 1234: None}
