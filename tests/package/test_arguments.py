"""Arguments of another type, or out of their range: the call raises an error with their name."""

import io
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import tracefast as tf
from support import paths

DATA = paths.DATA / "spawn"
LOG, FTRACE = DATA / "spawn.strace", DATA / "spawn.ftrace"


@pytest.fixture
def work(tmp_path, monkeypatch) -> Path:
    """Work beside a log and its events."""
    monkeypatch.chdir(tmp_path)
    tf.parse(LOG, "events.parquet")
    return tmp_path


def many(**options):
    return tf.parse_many(LOG, "out", **options)


def events() -> pl.LazyFrame:
    return tf.scan(LOG)


VALUES = {
    "scan, format": (
        lambda: tf.scan(LOG, format_in="perf"),
        "format_in must be 'strace' or 'ftrace'",
    ),
    "scan, format of Parquet": (lambda: tf.scan("events.parquet", format_in="perf"), "format_in"),
    "scan, machine of Parquet": (
        lambda: tf.scan("events.parquet", machine="vax"),
        "machine must be one of 'x86_64', .*, got 'vax'",
    ),
    "scan, no threads": (lambda: tf.scan(LOG, threads=0), "threads must be at least 1, got 0"),
    "scan, threads": (lambda: tf.scan("events.parquet", threads=-3), "threads must be at least 1"),
    "read, threads": (lambda: tf.read(LOG, threads=-3), "threads must be at least 1, got -3"),
    "parse, threads": (
        lambda: tf.parse(LOG, None, threads=-3),
        "threads must be at least 1, got -3",
    ),
    "parse, row_group": (
        lambda: tf.parse(LOG, None, row_group=-1),
        "row_group must be between 1 and 16777216, got -1",
    ),
    "read, block_bytes": (
        lambda: tf.read(LOG, block_bytes=1 << 70),
        "block_bytes must be between 1 and",
    ),
    "parse_many, row_group": (
        lambda: many(row_group=-1),
        "row_group must be between 1 and 16777216",
    ),
    "parse_many, jobs": (lambda: many(jobs=0), "jobs must be at least 1, got 0"),
    "parse_many, shard": (lambda: many(shard=(3, 2)), r"shard must be from \(1, 2\) to \(2, 2\)"),
    "files, near": (lambda: tf.files(events(), near=1 << 70), "near must be between 0 and"),
    "files, near below 0": (lambda: tf.files(events(), near=-1), "near must be at least 0, got -1"),
    "page_cache, page_bytes": (
        lambda: tf.page_cache(tf.scan(FTRACE), page_bytes=1 << 70),
        "page_bytes must be between 1 and",
    ),
    "fields, kind": (
        lambda: tf.fields(tf.scan(FTRACE), "sched_switch", kind="func"),
        "kind must be 'event' or 'function', got 'func'",
    ),
    "accesses, number": (lambda: tf.accesses(events(), -1), "path must be between 0 and"),
}
TYPES = {
    "scan, bytes": (lambda: tf.scan(b"x"), "sources must be a path .*, got bytes: use os.fsdecode"),
    "scan, file": (lambda: tf.scan(io.StringIO("x")), "got StringIO: pass the name of the file"),
    "scan, None": (lambda: tf.scan(None), "sources must be a path .*, got NoneType"),
    "scan, list": (lambda: tf.scan([LOG, b"x"]), "sources must be a path .*, got bytes"),
    "scan, threads": (lambda: tf.scan(LOG, threads="2"), "threads must be an integer, got '2'"),
    "read, bytes": (lambda: tf.read(b"x"), "sources must be a path .*, got bytes"),
    "read, file": (lambda: tf.read(io.BytesIO(b"x")), "got BytesIO: pass the name of the file"),
    "read, columns": (lambda: tf.read(LOG, columns="name"), "columns must be a list of names"),
    "parse, file": (lambda: tf.parse(io.BytesIO(b"x"), None), "pass the name of the file"),
    "parse, output": (lambda: tf.parse(LOG, b"x.parquet"), "output must be a path .*, got bytes"),
    "parse, row_group": (
        lambda: tf.parse(LOG, None, row_group=1.5),
        "row_group must be an integer",
    ),
    "parse_many, bytes": (
        lambda: tf.parse_many(b"x", "out"),
        "sources must be a path .*, got bytes",
    ),
    "parse_many, out_dir": (
        lambda: tf.parse_many(LOG, b"x"),
        "out_dir must be a path .*, got bytes",
    ),
    "parse_many, shard": (lambda: many(shard="1/2"), r"shard must be a pair such as .*, got '1/2'"),
    "parse_many, parts": (lambda: many(shard=(1, 1.5)), "shard must be an integer, got 1.5"),
    "parse_many, jobs": (lambda: many(jobs="2"), "jobs must be an integer, got '2'"),
    "files, near": (lambda: tf.files(events(), near=1.5), "near must be an integer, got 1.5"),
    "files, near text": (
        lambda: tf.files(events(), near="1M"),
        "near must be an integer, got '1M'",
    ),
    "page_cache, page_bytes": (
        lambda: tf.page_cache(tf.scan(FTRACE), page_bytes="4k"),
        "page_bytes must be an integer, got '4k'",
    ),
    "page_cache, inode_map": (
        lambda: tf.page_cache(tf.scan(FTRACE), inode_map=3),
        "inode_map must be the path of a file or a polars frame",
    ),
    "fields, event": (lambda: tf.fields(tf.scan(FTRACE), ["sched_switch"]), "the name of one"),
    "fields, schema": (
        lambda: tf.fields(tf.scan(FTRACE), "sched_switch", schema=["prev_pid"]),
        "schema must map keys to types",
    ),
    "accesses, bytes": (
        lambda: tf.accesses(events(), b"/srv"),
        "path must be the whole path of a file",
    ),
    "accesses, None": (
        lambda: tf.accesses(events(), None),
        "path must be the whole path of a file",
    ),
}


@pytest.mark.parametrize(("call", "message"), VALUES.values(), ids=VALUES.keys())
def test_values_out_of_range_are_refused_at_the_call(call, message, work):
    with pytest.raises(ValueError, match=message):
        call()
    assert [file.name for file in work.rglob("*") if file.is_file()] == ["events.parquet"]


@pytest.mark.parametrize(("call", "message"), TYPES.values(), ids=TYPES.keys())
def test_values_of_another_type_are_refused_at_the_call(call, message, work):
    with pytest.raises(TypeError, match=message):
        call()
    assert [file.name for file in work.rglob("*") if file.is_file()] == ["events.parquet"]


def test_numbers_of_numpy_will_do():
    near = np.int64(4096)
    assert tf.files(events(), near=near).collect().equals(tf.files(events(), near=4096).collect())
    assert pl.DataFrame(tf.read(LOG, threads=np.uint8(1))).height > 0
    file = tf.files(events()).collect()["file"][0]
    found = tf.accesses(events(), np.uint64(file)).collect()
    assert found.height > 0
    assert found.equals(tf.accesses(events(), file).collect())


def test_accesses_take_a_path_object():
    path = "/srv/spawn/data.bin"
    found = tf.accesses(events(), Path(path)).collect()
    assert found.height > 0
    assert found.equals(tf.accesses(events(), path).collect())


def test_a_tilde_is_the_folder_of_the_user(work, monkeypatch):
    monkeypatch.setenv("HOME", str(work))
    (work / "home.strace").write_bytes(LOG.read_bytes())
    rows = tf.scan(work / "home.strace").collect().height
    assert tf.scan("~/home.strace").collect().height == rows
    assert tf.scan([Path("~/home.strace"), "~/*.parquet"]).collect().height == 2 * rows
    assert pl.DataFrame(tf.read("~/home.strace")).height == rows
    assert tf.parse("~/home.strace", "~/more.parquet").rows == rows
    assert tf.parse_many("~/home.strace", "~/out")["status"].to_list() == ["done"]
    assert (work / "more.parquet").exists()
    assert (work / "out").is_dir()
