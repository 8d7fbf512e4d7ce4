"""A query that needs no column of a table still sees all of its rows."""

import polars as pl
import pytest

import tracefast as tf
from support.paths import DATA

STRACE = DATA / "image-loading" / "pth.strace"
PTH = "data/unet_carvana_scale0.5_epoch2.pth"
FTRACE = DATA / "page-cache" / "seq.ftrace.zst"
# Every table, and a log that gives rows of it.
TABLES = {
    "files": (tf.files, STRACE),
    "files by open": (lambda events: tf.files(events, by="open"), STRACE),
    "darshan": (lambda events: tf.files(events, darshan=True), STRACE),
    "accesses": (lambda events: tf.accesses(events, PTH), STRACE),
    "covered_bytes": (lambda events: tf.covered_bytes(events, by="path"), STRACE),
    "syscalls": (tf.syscalls, STRACE),
    "files by phase": (lambda events: tf.files(events, by="phase"), STRACE),
    "syscalls by phase": (lambda events: tf.syscalls(events, by="phase"), STRACE),
    "syscalls by process": (lambda events: tf.syscalls(events, by="process"), STRACE),
    "processes": (tf.processes, STRACE),
    "forks": (tf.forks, DATA / "spawn" / "spawn.strace"),
    "fork_summary": (tf.fork_summary, DATA / "spawn" / "spawn.strace"),
    "events": (tf.events, FTRACE),
    "fields": (lambda events: tf.fields(events, "block_rq_issue"), FTRACE),
    "page_cache": (tf.page_cache, FTRACE),
    "blocks": (tf.blocks, FTRACE),
}
QUERIES = {
    "count": lambda table: table.select(pl.len()),
    "numbered": lambda table: table.with_row_index().select(pl.len()),
    "numbers": lambda table: table.with_row_index().select(pl.col("index").count()),
    "crossed": lambda table: table.join(pl.LazyFrame({"one": [1]}), how="cross").select(pl.len()),
    "numbered, filtered": lambda table: (
        table.with_row_index().filter(pl.col("index") >= 0).select(pl.len())
    ),
    "head": lambda table: table.head(10**9).with_row_index().select(pl.len()),
}


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("name", TABLES)
def test_tables_have_their_height_without_columns(name, query, engine):
    analysis, log = TABLES[name]
    rows = analysis(tf.scan(log)).collect().height
    assert rows > 0
    assert QUERIES[query](analysis(tf.scan(log))).collect(engine=engine).item() == rows


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("form", ["log", "parquet", "arrow", "log and parquet"])
def test_events_have_their_height_without_columns(tmp_path, form, query, engine):
    other = DATA / "spawn" / "spawn.strace"
    sources = [other]
    if "parquet" in form or form == "arrow":
        file = tmp_path / f"events.{'arrow' if form == 'arrow' else 'parquet'}"
        tf.parse(other, file)
        sources = [file]
    if form.startswith("log and"):
        sources = [STRACE, *sources]
    rows = tf.scan(sources).collect().height
    assert QUERIES[query](tf.scan(sources)).collect(engine=engine).item() == rows
