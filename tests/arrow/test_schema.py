"""The schema is the same whatever was read, and its page in the documentation agrees."""

import re

import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

import tracefast as tf
from support.paths import DOCS
from tracefast import _core
from tracefast._polars.event_schema import event_schema

PAGE = DOCS / "schema.md"
TYPES = {
    "timestamp[ns]": pa.timestamp("ns"),
    "dictionary": pa.dictionary(pa.uint32(), pa.string()),
    "string_view": pa.string_view(),
}


def test_the_page_names_every_column_with_its_type():
    # The table of columns is the first; others say where their values come from.
    table = PAGE.read_text().split("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \| ([^|]+) \|", table, re.MULTILINE)
    documented = [(name, TYPES.get(text) or pa.type_for_alias(text)) for name, text in rows]
    assert documented == [(field.name, field.type) for field in pa.schema(tf.schema())]


def test_every_way_in_gives_this_schema(spawn, tmp_path):
    expected = pa.schema(tf.schema())
    tf.parse(spawn, tmp_path / "events.parquet")
    tf.parse(spawn, tmp_path / "events.arrow")
    assert pa.table(tf.read(spawn)).schema.equals(expected)
    with pa.ipc.open_file(tmp_path / "events.arrow") as file:
        assert file.schema.equals(expected)
    for name in ("events.parquet", "events.arrow", spawn):
        assert tf.scan(tmp_path / name).collect_schema() == event_schema()


@pytest.mark.parametrize("column", ["name", "source"])
def test_what_readers_skip_by_is_a_string(column, spawn, tmp_path):
    # A log for each way to have it: of one log in two files, the rows would be there twice.
    ways = [tmp_path / "events.parquet", tmp_path / "events.arrow", tmp_path / "3.log"]
    expected = []
    for number, way in enumerate(ways, 1):
        log = tmp_path / f"{number}.log"
        log.write_bytes(spawn.read_bytes())
        if way != log:
            tf.parse(log, way)
        words = pl.DataFrame(tf.read(log, columns=[column]))[column]
        assert words.dtype == pl.Categorical
        expected.append(words.cast(pl.String))
        assert tf.scan(way).collect()[column].equals(expected[-1])
    assert pa.parquet.read_schema(ways[0]).field(column).type == pa.string()
    assert expected[0].equals(pl.read_parquet(ways[0])[column])
    # They go together, whatever they are.
    together = tf.scan(ways).select(column).collect()[column]
    assert together.equals(pl.concat(expected))
    # Parquet with these in a dictionary, as polars writes it from such a frame.
    pl.DataFrame(tf.read(spawn)).write_parquet(tmp_path / "words.parquet")
    plain = tf.scan(spawn).collect()[column]
    assert tf.scan(tmp_path / "words.parquet").collect()[column].equals(plain)


def test_events_and_tables_are_joined_on_the_source(spawn, tmp_path):
    tf.parse(spawn, tmp_path / "events.parquet")
    plain = ["source", "pid"]
    for way in (tmp_path / "events.parquet", spawn):
        events = tf.scan(way)
        for table in (tf.processes(events), tf.processes(events.filter(pl.col("line") > 0))):
            joined = events.join(table, on=plain, how="semi").collect().height
            assert joined == events.join(table, on="pid", how="semi").collect().height > 0
    saved = pl.scan_parquet(tmp_path / "events.parquet")
    assert saved.join(tf.processes(saved), on=plain, how="semi").collect().height > 0


def test_words_of_events_are_joined_with_tables_as_strings(spawn, tmp_path):
    """What the page says of the other words."""
    tf.parse(spawn, tmp_path / "events.parquet")
    for way in (tmp_path / "events.parquet", spawn):
        events = tf.scan(way).with_columns(pl.col("kind").cast(pl.String))
        key = ["source", "kind", "name"]
        joined = events.join(tf.events(events), on=key, nulls_equal=True).collect()
        assert joined.height == events.collect().height > 0


def test_fields_are_joined_with_tables_on_the_source(spawn_ftrace):
    for events in (tf.scan(spawn_ftrace), pl.DataFrame(tf.read(spawn_ftrace))):
        forks = tf.fields(events, "sched_process_fork")
        assert forks.collect_schema()["source"] == pl.String
        assert forks.collect().schema["source"] == pl.String
        assert forks.join(tf.processes(events), on=["source", "pid"]).collect().height > 0


def test_the_text_of_a_source_is_shared_by_its_rows(tmp_path):
    logs = []
    for folder in ("a" * 200, "b" * 200, "c"):
        (tmp_path / folder).mkdir()
        logs.append(tmp_path / folder / "app.strace")
        logs[-1].write_text("1 close(3) = 0\n" * 1_000)
    stream = _core.Reader([str(log) for log in logs], columns=["source"], plain_words=True)
    table = pa.table(stream)
    assert table["source"].to_pylist() == [str(log) for log in logs for _ in range(1_000)]
    for chunk in table["source"].chunks:
        assert chunk.type == pa.string_view()
        texts = chunk.buffers()[2:]
        assert sum(text.size for text in texts) <= sum(len(str(log)) for log in logs)


def test_an_empty_log_has_the_schema_too(tmp_path):
    log = tmp_path / "empty.log"
    log.touch()
    report = tf.parse(log, tmp_path / "empty.parquet")
    assert report.rows == 0
    assert report.warnings
    for name in ("empty.log", "empty.parquet"):
        frame = tf.scan(tmp_path / name).collect()
        assert frame.schema == event_schema()
        assert frame.height == 0
    assert pl.DataFrame(tf.read(log)).height == 0


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_files_say_how_they_were_made(spawn_strace, tmp_path, suffix):
    output = tmp_path / f"events.{suffix}"
    tf.parse(spawn_strace, output)
    if suffix == "parquet":
        metadata = pyarrow.parquet.read_metadata(output).metadata
    else:
        with pa.ipc.open_file(output) as file:
            metadata = file.schema.metadata or {}
    assert metadata[b"tracefast.format"] == b"strace"
    assert metadata[b"tracefast.clock"] == b"epoch"
    assert metadata[b"tracefast.version"] == tf.__version__.encode()
