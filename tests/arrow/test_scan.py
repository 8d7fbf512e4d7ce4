"""Lazy scans: a log and its Parquet are the same table to every query."""

import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import tracefast as tf


@pytest.fixture
def arrow(spawn_strace, tmp_path) -> Path:
    output = tmp_path / "events.arrow"
    tf.parse(spawn_strace, output)
    return output


QUERIES = {
    "everything": lambda lf: lf,
    "count": lambda lf: lf.select(pl.len()),
    "filtered count": lambda lf: lf.filter(pl.col("name") == "read").select(pl.len()),
    "some columns": lambda lf: lf.select("path", "ret"),
    "head": lambda lf: lf.head(7),
    "slice": lambda lf: lf.slice(100, 20),
    "tail": lambda lf: lf.tail(3),
    "filter and head": lambda lf: lf.filter(pl.col("errno") == "ENOENT").head(3),
    "top": lambda lf: lf.sort("dur_ns", "line", nulls_last=True).head(5),
    "groups": lambda lf: lf.group_by("name").agg(pl.len(), pl.col("dur_ns").sum()).sort("name"),
    "row index": lambda lf: lf.with_row_index().filter(pl.col("ret") < 0).select("index", "line"),
}


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES.keys())
def test_a_log_and_its_files_are_the_same_table(query, spawn_strace, spawn_parquet, arrow):
    expected = query(tf.scan(spawn_strace)).collect()
    assert_frame_equal(query(tf.scan(spawn_parquet)).collect(), expected)
    assert_frame_equal(query(tf.scan(arrow)).collect(), expected)


def test_only_the_columns_of_the_query_are_parsed(spawn_strace, monkeypatch):
    asked = []

    class Spy:
        def __init__(self, _names, *, columns, **_options):
            asked.append(columns)

        def __enter__(self):
            return self

        def poll(self):
            return True, None

        def __exit__(self, *_):
            pass

    monkeypatch.setattr("tracefast.scanning.sources._core.Reader", Spy)
    tf.scan(spawn_strace).filter(pl.col("ret") > 0).select("path").collect()
    tf.scan(spawn_strace).select(pl.len()).collect()
    assert sorted(asked[0]) == ["path", "ret"]
    assert asked[1] == []


def test_logs_and_files_mix(spawn_strace, tmp_path):
    sources = [tmp_path / name for name in ("one.parquet", "two.strace", "three.arrow")]
    for source in sources:
        log = source.with_suffix(".strace")
        shutil.copy(spawn_strace, log)
        if log != source:
            tf.parse(log, source)
    alone = tf.scan(spawn_strace).drop("source").collect()
    mixed = tf.scan(sources).collect()
    assert_frame_equal(mixed.drop("source"), pl.concat([alone] * 3))
    assert mixed["source"].n_unique() == 3
    assert mixed.filter(pl.col("name") == "vfork").height == 3 * 3


def test_a_string_may_be_a_pattern(spawn_parquet, tmp_path):
    assert (
        tf.scan(f"{tmp_path}/e*.parquet").collect().height
        == tf.scan(spawn_parquet).collect().height
    )
    with pytest.raises(FileNotFoundError, match="pattern"):
        tf.scan(f"{tmp_path}/x*.parquet")


def test_a_name_with_brackets_is_a_name(spawn_strace, tmp_path):
    odd = tmp_path / "run[1].strace"
    odd.write_bytes(spawn_strace.read_bytes())
    assert tf.scan(str(odd)).select(pl.len()).collect().item() > 0
    assert tf.parse(odd, tmp_path / "odd.parquet").rows > 0


def test_errors_keep_their_kind(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        tf.scan(tmp_path / "missing.strace")
    assert caught.value.filename == str(tmp_path / "missing.strace")
    with pytest.raises(FileNotFoundError, match="No log"):
        tf.read(tmp_path)
    with pytest.raises(ValueError, match="standard input"):
        tf.scan("-")
    with pytest.raises(ValueError, match="no source"):
        tf.scan([])
    binary = tmp_path / "program"
    binary.write_bytes(b"\x7fELF\x02\x01\x01" + bytes(range(256)) * 100)
    with pytest.raises(tf.Error, match="program"):
        tf.scan(binary).collect()


def test_a_program_may_end_while_a_source_is_left_half_way(spawn_strace, tmp_path):
    """polars reads a source in a thread of its own, which must have left Python when that ends."""
    log = tmp_path / "long.strace"
    log.write_bytes(spawn_strace.read_bytes() * 100)
    program = (
        "import sys, polars as pl, tracefast as tf\n"
        "print(tf.scan(sys.argv[1]).filter(pl.col('fd') == 3).head(3).collect().height)"
    )
    for _ in range(8):
        run = subprocess.run(
            [sys.executable, "-c", program, str(log)], capture_output=True, text=True, check=False
        )
        assert (run.returncode, run.stdout, run.stderr) == (0, "3\n", "")
