"""The stream of Arrow: who takes it, what it holds, when it ends."""

import duckdb
import polars as pl
import pyarrow as pa
import pytest
from polars.testing import assert_frame_equal

import tracefast as tf


def test_all_consumers_see_the_same_rows(spawn_strace):
    frame = pl.DataFrame(tf.read(spawn_strace))
    table = pa.table(tf.read(spawn_strace))
    reader = tf.read(spawn_strace)  # noqa: F841 - duckdb finds it by its name
    rows = duckdb.sql("select count(*), count(path), sum(dur_ns)::bigint from reader").fetchall()
    assert_frame_equal(frame, pl.DataFrame(table))
    assert rows == [(frame.height, frame["path"].count(), frame["dur_ns"].sum())]


def test_batches_are_handed_out_one_by_one(spawn_strace):
    reader = tf.read(spawn_strace)
    with reader:
        batches = list(reader)
    assert sum(batch.num_rows for batch in batches) == reader.report.rows
    batch = pa.record_batch(batches[0])
    assert batch.num_rows == pl.DataFrame(batches[0]).height == batches[0].num_rows


def test_only_the_columns_asked_for_are_built(spawn_strace):
    some = pl.DataFrame(tf.read(spawn_strace, columns=["ret", "name"]))
    every = pl.DataFrame(tf.read(spawn_strace))
    assert_frame_equal(some, every.select("ret", "name"))


def test_columns_come_in_the_order_asked_for(spawn_strace):
    wanted = ["path", "source", "name", "ts", "line"]
    assert tf.read(spawn_strace, columns=wanted).schema.names == wanted
    assert pl.DataFrame(tf.read(spawn_strace, columns=iter(wanted))).columns == wanted
    assert pl.DataFrame(tf.read(spawn_strace, columns=wanted[::-1])).columns == wanted[::-1]
    # As docs/arrow.md asks for other types.
    types = pa.schema({"path": pa.string(), "name": pa.string()})
    reader = tf.read(spawn_strace, columns=types.names)
    table = pa.RecordBatchReader.from_stream(reader, types).read_all()
    assert table.schema.equals(types)
    assert table["name"].to_pylist()[0] == "execve"


def test_a_column_that_is_not_there(spawn_strace):
    with pytest.raises(ValueError, match="'nonsense' is not a column"):
        tf.read(spawn_strace, columns=["nonsense"])


def test_a_column_that_is_wanted_twice(spawn_strace):
    with pytest.raises(ValueError, match="'name' is wanted twice"):
        tf.read(spawn_strace, columns=["path", "name", "name"])


def test_one_name_is_no_list_of_columns(spawn_strace):
    with pytest.raises(TypeError, match=r"a list of names.*columns=\['name'\]"):
        tf.read(spawn_strace, columns="name")


def test_a_reader_is_read_once(spawn_strace):
    reader = tf.read(spawn_strace)
    assert pa.table(reader).num_rows > 0
    with pytest.raises(Exception, match=r"once|closed|consumed|already"):
        pa.table(reader)


def test_the_report_comes_at_the_end(spawn_strace, tmp_path):
    reader = tf.read(spawn_strace)
    assert reader.report is None
    pa.table(reader)
    written = tf.parse(spawn_strace, tmp_path / "events.parquet")
    assert reader.report is not None
    assert reader.report.to_json() == written.to_json()


def test_a_reader_that_is_dropped_half_way_leaves_nothing_behind(spawn_strace):
    reader = tf.read(spawn_strace)
    next(reader)
    del reader
    with tf.read(spawn_strace) as other:
        next(other)


def test_several_logs_follow_one_another(spawn_strace, pth):
    frame = pl.DataFrame(tf.read([pth, spawn_strace]))
    sources = frame["source"].cast(pl.String)
    assert sources.unique(maintain_order=True).to_list() == [str(pth), str(spawn_strace)]
    alone = pl.DataFrame(tf.read(spawn_strace))
    assert frame.height - sources.eq(str(pth)).sum() == alone.height
