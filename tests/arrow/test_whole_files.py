"""Whole files go to folds without polars in between, and give the same table."""

import gc
import shutil

import polars as pl
import pyarrow.parquet as pq
import pytest
from polars.testing import assert_frame_equal

import tracefast as tf
from tracefast import _core
from tracefast._polars import direct_read


@pytest.fixture
def log(spawn_strace):
    return spawn_strace


@pytest.fixture
def parquet(log, tmp_path):
    output = tmp_path / "events.parquet"
    # Several groups: each thread reads one.
    tf.parse(log, output, row_group=100)
    assert pl.read_parquet(output).height > 300
    return output


@pytest.fixture
def second(log, tmp_path):
    """Another log of the same events, as columns."""
    copy = tmp_path / "second.strace"
    shutil.copy(log, copy)
    tf.parse(copy, copy.with_suffix(".parquet"))
    return copy.with_suffix(".parquet")


@pytest.fixture
def arrow(log, tmp_path):
    output = tmp_path / "events.arrow"
    tf.parse(log, output)
    return output


@pytest.fixture
def asked(monkeypatch):
    """Collect which frames polars had to read."""
    from tracefast._polars import folds

    runs = []
    pushed = folds.pushed
    monkeypatch.setattr(folds, "pushed", lambda rows, fold: runs.append(rows) or pushed(rows, fold))
    return runs


def words(events):
    """Return events with all words in dictionaries, as folds read them."""
    return events.with_columns(pl.col("^(name|source)$").cast(pl.Categorical))


@pytest.mark.parametrize("darshan", [False, True])
@pytest.mark.parametrize("inputs", [["log"], ["parquet"], ["parquet", "second"], ["log", "second"]])
def test_the_table_of_whole_files_is_that_of_their_events(
    inputs, darshan, log, parquet, second, asked
):
    names = [{"log": log, "parquet": parquet, "second": second}[name] for name in inputs]
    table = tf.files(tf.scan(names), darshan=darshan).collect()
    assert asked == []
    expected = tf.files(tf.scan(names).collect(), darshan=darshan).collect()
    assert len(asked) == 1
    assert table.height > 10
    assert_frame_equal(table, expected)


def test_a_part_of_the_events_is_not_the_whole_file(parquet, asked):
    events = tf.scan(parquet)
    for part in (events.head(50), events.filter(pl.col("name") != "read"), events.clone()):
        table = tf.files(part).collect()
        assert_frame_equal(table, tf.files(part.collect()).collect())
    assert len(asked) == 6
    reads = tf.files(events.filter(pl.col("name") != "read")).collect()["reads"].sum()
    assert tf.files(events).collect()["reads"].sum() > reads


def test_a_table_may_be_collected_again_and_after_its_frame_is_gone(parquet):
    events = tf.scan(parquet)
    table = tf.files(events)
    assert direct_read.opener_of(events) is not None
    gc.collect()  # Frames that other tests left would be counted.
    known = direct_read.count()
    del events
    gc.collect()
    assert direct_read.count() == known - 1
    assert_frame_equal(table.collect(), table.collect())


def test_files_that_only_polars_reads_are_read_by_it(parquet, second, arrow, log, tmp_path, asked):
    expected = tf.files(tf.scan(log)).drop("source").collect()
    other = tmp_path / "other.parquet"
    facts = {
        key: value
        for key, value in pq.read_metadata(second).metadata.items()
        if key != b"ARROW:schema"
    }
    table = pq.read_table(second).replace_schema_metadata(facts)
    pq.write_table(table, other, compression="snappy")
    for names in (other, arrow):
        assert_frame_equal(tf.files(tf.scan(names)).drop("source").collect(), expected)
    assert len(asked) == 2
    # The first file was pushed already when the second one turns out to be another kind.
    twice = tf.files(tf.scan([parquet, other])).collect()
    assert_frame_equal(twice, tf.files(tf.scan([parquet, second])).collect())
    assert len(asked) == 3


def test_a_damaged_file_gives_the_error_of_polars(parquet):
    whole_file = parquet.read_bytes()
    # Pages overwritten, the footer as it was.
    parquet.write_bytes(whole_file[:200] + b"\xff" * 5000 + whole_file[5200:])
    with pytest.raises(pl.exceptions.PolarsError):
        tf.files(tf.scan(parquet)).collect()


@pytest.mark.parametrize("threads", [1, 2, 3, 50])
def test_saved_rows_come_in_order_whatever_the_threads(threads, parquet):
    columns = ["line", "name", "path", "offset"]
    batches = [
        pl.DataFrame(batch)
        for batch in _core.ParquetEvents(parquet.as_posix(), columns=columns, threads=threads)
    ]
    assert len(batches) > 3
    expected = words(pl.read_parquet(parquet, columns=columns))
    assert_frame_equal(pl.concat(batches).select(columns), expected.select(columns))


@pytest.mark.parametrize("columns", [["comm"], ["child", "comm", "errno"], None])
def test_saved_columns_without_values_are_null(columns, log, tmp_path):
    output = tmp_path / "events.parquet"
    tf.parse(log, output, row_group=20)
    expected = words(pl.read_parquet(output, columns=columns))
    groups = [expected[start : start + 20] for start in range(0, expected.height, 20)]
    # Some have values in some groups of rows only, one has none at all.
    assert expected["comm"].null_count() == expected.height
    if columns != ["comm"]:
        for name in ("child", "errno"):
            assert len({group[name].null_count() == 20 for group in groups}) == 2
    batches = list(_core.ParquetEvents(output.as_posix(), columns=expected.columns))
    assert [len(batch) for batch in batches] == [group.height for group in groups]
    found = pl.concat(map(pl.DataFrame, batches))
    # In the order of the file.
    assert found.columns == [name for name in pl.read_parquet_schema(output) if name in expected]
    assert_frame_equal(found.select(expected.columns), expected)


def test_saved_may_be_left_early(parquet):
    for _ in range(20):
        assert (
            len(next(iter(_core.ParquetEvents(parquet.as_posix(), columns=["line"], threads=2))))
            == 100
        )


def test_saved_refuses_what_is_not_of_this_schema(parquet, tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        _core.ParquetEvents(str(tmp_path / "missing"), columns=["line"])
    assert caught.value.filename == str(tmp_path / "missing")
    with pytest.raises(ValueError, match="nothing"):
        _core.ParquetEvents(parquet.as_posix(), columns=["nothing"])
    other = tmp_path / "other.parquet"
    pl.DataFrame({"line": ["one"]}).write_parquet(other)
    with pytest.raises(ValueError, match="column 'line'"):
        _core.ParquetEvents(str(other), columns=["line"])
    other.write_bytes(b"PAR1 and nothing else")
    with pytest.raises(ValueError, match=r"other\.parquet"):
        _core.ParquetEvents(str(other), columns=["line"])
    empty = tmp_path / "empty.parquet"
    (tmp_path / "empty.strace").write_bytes(b"")
    tf.parse(tmp_path / "empty.strace", empty)
    assert list(_core.ParquetEvents(str(empty), columns=list(_core.Files().needed))) == []
    assert tf.files(tf.scan(empty)).collect().height == 0
