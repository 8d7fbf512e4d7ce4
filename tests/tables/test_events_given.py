"""What analyses take as events: frames, tables of other libraries; what they refuse, and how."""

from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from polars.testing import assert_frame_equal

import tracefast as tf
from support.paths import DATA

ANALYSES = {
    "files": (tf.files, "offset"),
    "darshan": (lambda events: tf.files(events, darshan=True), "offset"),
    "accesses": (lambda events: tf.accesses(events, "/srv/spawn/data.bin"), "offset2"),
    "covered_bytes": (lambda events: tf.covered_bytes(events, by="path"), "bytes"),
    "forks": (tf.forks, "child"),
    "fork_summary": (tf.fork_summary, "child"),
    "fork_advice": (tf.fork_advice, "child"),
    "processes": (tf.processes, "child"),
    "syscalls": (tf.syscalls, "dur_ns"),
    "events": (tf.events, "cpu"),
    "fields": (lambda events: tf.fields(events, "sched_switch"), "args"),
    "page_cache": (tf.page_cache, "task"),
    "blocks": (tf.blocks, "cpu"),
}
FTRACE = {"fields", "page_cache", "blocks"}

analyses = pytest.mark.parametrize("analysis", ANALYSES)


def log_of(analysis: str) -> Path:
    return DATA / "spawn" / ("spawn.ftrace" if analysis in FTRACE else "spawn.strace")


@analyses
def test_tables_of_other_libraries_are_taken(analysis, tmp_path):
    log = log_of(analysis)
    question, _ = ANALYSES[analysis]
    tf.parse(log, tmp_path / "events.parquet")
    expected = question(tf.scan(log)).collect()
    tables = {
        "frame": tf.scan(log).collect(),
        "reader": tf.read(log),
        "pyarrow": pa.table(tf.read(log)),
        "stream": pa.table(tf.read(log)).to_reader(),
        "duckdb": duckdb.sql(f"select * from '{tmp_path / 'events.parquet'}'"),
    }
    for name, table in tables.items():
        given = question(table)
        words = pl.col(pl.Categorical).cast(pl.String)
        for _ in range(2):  # also where the table could be read once only
            found = given.collect().with_columns(words)
            (
                assert_frame_equal(
                    found, expected.with_columns(words), check_row_order=analysis != "covered_bytes"
                ),
                name,
            )


@analyses
@pytest.mark.parametrize(
    "given", ["app.strace", Path("app.strace"), [Path("app.strace")], None, b"app.strace", {"a": 1}]
)
def test_other_objects_are_refused(analysis, given):
    question, _ = ANALYSES[analysis]
    with pytest.raises(TypeError) as caught:
        question(given)
    name = analysis.replace("darshan", "files")
    text = str(caught.value)
    assert text.startswith(f"tracefast.{name}")
    assert f"needs events, got {type(given).__name__}: pass tracefast.scan(" in text
    if isinstance(given, str):
        assert text.endswith("tracefast.scan('app.strace')")


@analyses
@pytest.mark.parametrize("kind", ["lazy", "eager", "pyarrow"])
def test_a_missing_column_is_named_at_the_call(analysis, kind):
    question, column = ANALYSES[analysis]
    events = tf.scan(log_of(analysis)).drop(column)
    if kind != "lazy":
        events = events.collect()
    if kind == "pyarrow":
        events = events.to_arrow()
    with pytest.raises(pl.exceptions.ColumnNotFoundError) as caught:
        question(events)
    assert str(caught.value).startswith(f"tracefast.{analysis.replace('darshan', 'files')}")
    assert f"needs the column '{column}', which these events do not have" in str(caught.value)


def test_all_missing_columns_are_named():
    with pytest.raises(pl.exceptions.ColumnNotFoundError, match="needs columns 'task', 'cpu'"):
        tf.events(tf.scan(log_of("events")).drop("cpu", "task"))
    with pytest.raises(pl.exceptions.ColumnNotFoundError, match="needs the column 'nope'"):
        tf.covered_bytes(tf.scan(log_of("files")), by="path", start=pl.col("nope") * 512)


def test_fractions_for_whole_numbers_are_refused():
    """pandas makes them of whole numbers where some are null: identities would be others."""
    frame = pd.DataFrame.from_arrow(tf.read(log_of("files")))
    with pytest.raises(pl.exceptions.SchemaError) as caught:
        tf.files(frame)
    assert "tracefast.files does not take these types: column 'dur_ns' is Float64, not Int64" in (
        str(caught.value)
    )
    assert "tracefast.scan" in str(caught.value)
    events = tf.scan(log_of("files"))
    with pytest.raises(pl.exceptions.SchemaError, match="column 'ts' is Int64, not Datetime"):
        tf.syscalls(events.with_columns(pl.col("ts").cast(pl.Int64)))
    with pytest.raises(pl.exceptions.SchemaError, match="column 'bytes' is String, not Int64"):
        tf.accesses(events.with_columns(pl.col("bytes").cast(pl.String)), "/srv/spawn/data.bin")


def test_other_types_of_the_same_data_will_do():
    events = tf.scan(log_of("files"))
    other = events.with_columns(
        pl.col("line", "pid", "ofd").cast(pl.Int64),
        pl.col("cpu", "task").cast(pl.UInt64),
        pl.col("kind", "errno", "source").cast(pl.String),
        pl.col("path").cast(pl.Categorical),
    )
    for question in (tf.files, tf.processes, tf.forks, tf.syscalls, tf.events):
        assert_frame_equal(question(other).collect(), question(events).collect())


@pytest.mark.parametrize("value", [3, None])
def test_covered_bytes_takes_names(value):
    events = tf.scan(log_of("files"))
    with pytest.raises(TypeError, match="by must be the name of one column"):
        tf.covered_bytes(events, by=[value])
    with pytest.raises(TypeError, match="by must be the name of one column"):
        tf.covered_bytes(events, by=value)
    with pytest.raises(TypeError, match="start must be the name of a column"):
        tf.covered_bytes(events, by="path", start=value)
