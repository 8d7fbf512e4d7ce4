"""The stream of Arrow: which libraries take it, what it holds, when it ends."""

import duckdb
import pandas as pd
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
    with pytest.raises(ValueError, match="'name' is named twice"):
        tf.read(spawn_strace, columns=["path", "name", "name"])


def test_one_name_is_no_list_of_columns(spawn_strace):
    with pytest.raises(TypeError, match=r"a list of names.*columns=\['name'\]"):
        tf.read(spawn_strace, columns="name")


# What each library makes of a reader: how many rows.
SIZES = {
    "polars": lambda reader: pl.DataFrame(reader).height,
    "pyarrow": lambda reader: pa.table(reader).num_rows,
    "duckdb": lambda reader: duckdb.sql("select count(*) from reader").fetchall(),  # noqa: ARG005
    "pandas": lambda reader: len(pd.DataFrame.from_arrow(reader)),
}


@pytest.mark.parametrize("library", SIZES)
def test_a_reader_is_handed_out_once(library, spawn_strace):
    reader = tf.read(spawn_strace)
    assert pa.table(reader).num_rows > 0
    with pytest.raises(Exception, match=r"already exported; call tracefast\.read again"):
        SIZES[library](reader)


@pytest.mark.parametrize("library", SIZES)
def test_a_reader_at_its_end_hands_out_nothing(library, spawn_strace):
    reader = tf.read(spawn_strace)
    assert list(reader)
    with pytest.raises(Exception, match=r"read to its end; call tracefast\.read again"):
        SIZES[library](reader)
    # An iterator at its end stays there.
    assert list(reader) == []


@pytest.mark.parametrize("library", SIZES)
def test_a_closed_reader_hands_out_nothing(library, spawn_strace):
    with tf.read(spawn_strace) as reader:
        pass
    with pytest.raises(Exception, match=r"is closed; call tracefast\.read again"):
        SIZES[library](reader)


def test_a_closed_reader_is_not_iterated(spawn_strace):
    closed = tf.read(spawn_strace)
    next(closed)
    closed.close()
    closed.close()
    with tf.read(spawn_strace) as ended:
        list(ended)
    for reader in (closed, ended):
        for use in (list, next, lambda reader: reader.poll(), pa.RecordBatchReader.from_stream):
            with pytest.raises(ValueError, match="the reader is closed; call"):
                use(reader)
    assert ended.report is not None


def test_the_rest_of_a_reader_is_handed_out(tmp_path):
    log = tmp_path / "long.strace"
    log.write_text("1 close(3) = 0\n" * 20_000)
    reader = tf.read(log, columns=["line"])
    first = next(reader).num_rows
    rest = pl.DataFrame(reader)["line"]
    assert 0 < first < 20_000
    assert rest.to_list() == list(range(first + 1, 20_001))


def test_a_stream_whose_reader_is_closed_is_not_just_shorter(spawn_strace):
    with tf.read(spawn_strace) as reader:
        stream = pa.RecordBatchReader.from_stream(reader)
    with pytest.raises(Exception, match="closed before its end"):
        stream.read_all()
    with tf.read(spawn_strace) as reader:
        stream = pa.RecordBatchReader.from_stream(reader)
        assert stream.read_all().num_rows > 0
    assert stream.read_all().num_rows == 0


def test_the_report_comes_at_the_end(spawn_strace, tmp_path):
    reader = tf.read(spawn_strace)
    assert reader.report is None
    pa.table(reader)
    written = tf.parse(spawn_strace, tmp_path / "events.parquet")
    assert reader.report is not None
    assert reader.report.to_json() == written.to_json()


def test_several_logs_follow_one_another(spawn_strace, pth):
    frame = pl.DataFrame(tf.read([pth, spawn_strace]))
    sources = frame["source"].cast(pl.String)
    assert sources.unique(maintain_order=True).to_list() == [str(pth), str(spawn_strace)]
    alone = pl.DataFrame(tf.read(spawn_strace))
    assert frame.height - sources.eq(str(pth)).sum() == alone.height
