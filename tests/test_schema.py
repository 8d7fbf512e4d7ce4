"""The schema is the same whatever was read, and its page in the documentation is true."""

import re
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest

import tracefast as tf
from tracefast.scanning import event_schema

PAGE = Path(__file__).parent.parent / "docs" / "schema.md"
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
        import pyarrow.parquet

        metadata = pyarrow.parquet.read_metadata(output).metadata
    else:
        with pa.ipc.open_file(output) as file:
            metadata = file.schema.metadata or {}
    assert metadata[b"tracefast.format"] == b"strace"
    assert metadata[b"tracefast.clock"] == b"epoch"
    assert metadata[b"tracefast.version"] == tf.__version__.encode()
