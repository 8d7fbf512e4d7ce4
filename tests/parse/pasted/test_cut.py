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
    # Nothing shows that a result of ftrace has lost digits.
    for name in ("fd", "requested", *(["ret"] if kind == "strace" else [])):
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
    assert report.oddities["lost_values"] == len(open_calls) > 100
