"""Descriptors without a file and a path in the log: a row for each description, none lost."""

import json

import polars as pl
import pytest

import tracefast as tf
from support.paths import DATA

MOVES = ("reads", "read_bytes", "writes", "write_bytes")


class Trace:
    """A log of ftrace in which paths are addresses, as before Linux 6.19."""

    def __init__(self):
        self.lines = ["# tracer: nop"]

    def event(self, text):
        n = len(self.lines)
        self.lines.append(f"             app-7       [000] .....     1.{n:06}: {text}")

    def call(self, name, arguments, result, *between):
        self.event(f"sys_{name}({arguments})")
        for text in between:
            self.event(text)
        self.event(f"sys_{name} -> {result:#x}")

    def write(self, folder):
        path = folder / "calls.ftrace"
        path.write_text("".join(f"{line}\n" for line in self.lines))
        return path


@pytest.fixture
def trace(tmp_path):
    trace = Trace()
    opened = "dfd: ffffff9c, filename: 7f00, flags: 0, mode: 0"
    trace.call("openat", opened, 3)
    trace.call("openat", opened, 4)
    # A lookup in the page cache identifies the first open file; nothing identifies the second one.
    trace.call("newfstat", "fd: 3, statbuf: 7f00", 0)
    lookup = "mm_filemap_get_pages: dev=7:0 ino=c ofs=0-4095"
    trace.call("read", "fd: 3, buf: 7f00, count: 1000", 4096, lookup)
    trace.call("read", "fd: 4, buf: 7f00, count: 1000", 100)
    trace.call("read", "fd: 4, buf: 7f00, count: 1000", 50)
    trace.call("close", "fd: 4", 0)
    # The same number again is another description.
    trace.call("openat", opened, 4)
    trace.call("write", "fd: 4, buf: 7f00, count: 7", 7)
    # Open before the log began.
    trace.call("read", "fd: 9, buf: 7f00, count: 10", 16)
    return trace.write(tmp_path)


def test_a_row_for_each_description(trace):
    table = tf.files(tf.scan(trace)).collect()
    assert table["path"].null_count() == table.height == 4
    assert table.select("opens", "stats", *MOVES).rows() == [
        # Opened and asked for its size before the lookup showed which file it is.
        (1, 1, 1, 4096, 0, 0),
        (1, 0, 2, 150, 0, 0),
        (0, 0, 1, 16, 0, 0),
        (1, 0, 0, 0, 1, 7),
    ]
    assert table["file"].null_count() == 3
    assert table["read_unique_bytes"].to_list() == [4096, 150, 16, 0]
    assert table["offset_known"].to_list() == ["exact", "exact", "relative", "exact"]


def test_rows_by_process_and_by_open(trace):
    events = tf.scan(trace)
    whole = tf.files(events).select(*MOVES).collect().rows()
    assert tf.files(events, by="process").select(*MOVES).collect().rows() == whole
    table = tf.files(events, by="open").collect()
    assert table.select(*MOVES).rows() == whole
    assert table["ofd"].null_count() == 0
    assert table["ofd"].n_unique() == 4
    # The file that was found out later is that of the description.
    assert table["file"].null_count() == 3


def test_nothing_is_lost(trace):
    events = tf.scan(trace)
    calls = events.filter(pl.col("name").is_in(["read", "write"]), pl.col("kind") == "syscall")
    moved = calls.select(pl.len(), pl.sum("bytes")).collect().row(0)
    table = tf.files(events).select(pl.sum(name) for name in MOVES).collect().row(0)
    assert (table[0] + table[2], table[1] + table[3]) == moved == (5, 4096 + 150 + 7 + 16)


def test_nothing_is_lost_of_a_recorded_log():
    log = DATA / "demo.ftrace.zst"
    events = tf.scan(log).filter(pl.col("kind") == "syscall", pl.col("status") == "complete")
    calls = events.filter(pl.col("name").is_in(["read", "pread64"]), pl.col("ret") >= 0)
    expected = calls.select(pl.len(), pl.sum("bytes"), pl.col("ofd").n_unique()).collect().row(0)
    only = events.filter(pl.col("name").is_in(["read", "pread64"]))
    table = tf.files(only).select(pl.sum("reads", "read_bytes"), pl.len()).collect().row(0)
    assert table == expected
    assert table[0] > 1000


def test_what_is_known_by_one_call_is_known_to_all(make_events):
    one = {"ofd": 5, "pid": 10, "task": 1, "dur_ns": 1, "ret": 0}
    events = make_events(
        [
            one | {"name": "openat", "ret": 3},
            one | {"name": "fstat", "file": 8, "path": None},
            one | {"name": "fstat"},
            one | {"name": "fstat", "source": "another"},
        ]
    )
    rows = tf.files(events).select("source", "file", "opens", "stats").collect().rows()
    assert rows == [("another", None, 0, 1), ("log", 8, 1, 2)]


def test_the_command_says_what_has_no_name(run, trace):
    ran = run("files", trace)
    assert [line.split()[-1] for line in ran.stdout.splitlines()] == ["path", "-", "-", "-", "-"]
    assert "note: 4 files without a name in the log" in ran.stderr
    (row,) = (
        json.loads(line)
        for line in run("files", trace, "--by", "open", "--format", "ndjson").stdout.splitlines()
        if '"read_bytes":150' in line
    )
    assert row["ofd"] is not None
