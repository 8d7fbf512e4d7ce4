"""What `tf.scan` takes: directories, patterns, URLs; and that a stream stays small."""

import http.server
import threading
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import tracefast as tf
from support.logs import write_long
from support.memory import needs_status, peak_kb


@pytest.fixture
def runs(spawn_strace, tmp_path) -> Path:
    """Make a directory of logs and of other files."""
    folder = tmp_path / "runs"
    (folder / "a" / "deeper").mkdir(parents=True)
    (folder / "_temporary").mkdir()
    for name in ("b.strace", "a/c.strace", "a/deeper/d.strace"):
        (folder / name).write_bytes(spawn_strace.read_bytes())
    for name in (".hidden.strace", "_manifest.json", "_temporary/e.strace"):
        (folder / name).write_text("not a log of anything")
    (folder / "empty.strace").touch()
    return folder


def test_a_directory_means_its_files(runs, spawn_strace):
    events = tf.scan(runs).collect()
    sources = events["source"].cast(pl.String).unique(maintain_order=True).to_list()
    names = ["a/c.strace", "a/deeper/d.strace", "b.strace"]
    assert sources == [str(runs / name) for name in names]
    assert events.height == 3 * tf.scan(spawn_strace).collect().height
    assert_frame_equal(tf.scan(str(runs) + "/").collect().drop("source"), events.drop("source"))


def test_a_directory_of_parquet(runs, tmp_path):
    saved = tmp_path / "saved"
    saved.mkdir()
    for log in ("b.strace", "a/c.strace"):
        tf.parse(runs / log, (saved / Path(log).name).with_suffix(".parquet"))
    (saved / "_manifest.json").write_text("{}")
    events = tf.scan(saved)
    assert_frame_equal(
        events.collect(), tf.scan([runs / "b.strace", runs / "a" / "c.strace"]).collect()
    )
    assert "Parquet SCAN" in events.explain()
    assert "SELECTION" in events.filter(pl.col("fd") == 3).explain()


def test_logs_of_tasks_in_a_directory_are_one(tmp_path):
    folder = tmp_path / "ff"
    folder.mkdir()
    (folder / "log.1100").write_text(
        "1700000000.100000 close(3) = 0\n1700000000.300000 close(5) = 0\n"
    )
    (folder / "log.1101").write_text("1700000000.200000 close(4) = 0\n")
    assert tf.scan(folder).select("fd").collect()["fd"].to_list() == [3, 4, 5]


def test_logs_beside_their_parquet_are_refused(runs):
    tf.parse(runs / "b.strace", runs / "b.parquet")
    with pytest.raises(
        tf.Error, match=r"runs: holds both logs and Parquet or Arrow files"
    ) as caught:
        tf.scan(runs)
    assert caught.value.hint.endswith(f"{runs}/*.parquet or {runs}/*.strace")


def test_an_empty_directory(tmp_path):
    with pytest.raises(FileNotFoundError, match="No log and no Parquet") as caught:
        tf.scan(tmp_path)
    assert caught.value.filename == str(tmp_path)


def test_a_pattern_of_parquet(spawn_parquet, spawn_strace):
    found = tf.scan(f"{spawn_parquet.parent}/*.parquet").filter(pl.col("fd") == 3).collect()
    assert_frame_equal(found, tf.scan(spawn_strace).filter(pl.col("fd") == 3).collect())


# URLs: what polars fetches.


class Ranges(http.server.SimpleHTTPRequestHandler):
    """Serve parts of files, as object stores do."""

    def do_GET(self) -> None:
        data = Path(self.directory, self.path.lstrip("/")).read_bytes()
        asked = self.headers.get("Range", "").removeprefix("bytes=")
        first, _, last = asked.partition("-")
        start = int(first) if first else max(len(data) - int(last or len(data)), 0)
        end = min(int(last) + 1 if first and last else len(data), len(data))
        self.send_response(206 if asked else 200)
        self.send_header("Content-Length", str(end - start))
        self.send_header("Content-Range", f"bytes {start}-{end - 1}/{len(data)}")
        self.end_headers()
        self.wfile.write(data[start:end])

    def log_message(self, *_) -> None:
        pass


@pytest.fixture
def server(tmp_path):
    def handler(*arguments):
        return Ranges(*arguments, directory=str(tmp_path))

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as found:
        threading.Thread(target=found.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{found.server_address[1]}"
        found.shutdown()


def test_a_url_of_a_file(spawn_parquet, spawn_strace):
    events = tf.scan(f"file://{spawn_parquet}")
    assert_frame_equal(events.collect(), tf.scan(spawn_strace).collect())
    assert tf.files(events).collect().height > 0
    assert tf.scan(f"file://{spawn_parquet.parent}/*.parquet").collect().height > 0


def test_a_url_of_a_server(spawn_parquet, server):
    events = tf.scan(f"{server}/{spawn_parquet.name}")
    found = events.filter(pl.col("name") == "read").select("line", "path").collect()
    expected = (
        tf.scan(spawn_parquet).filter(pl.col("name") == "read").select("line", "path").collect()
    )
    assert_frame_equal(found, expected)
    mixed = tf.scan([spawn_parquet, f"{server}/{spawn_parquet.name}"])
    assert mixed.select(pl.len()).collect().item() == 2 * tf.scan(spawn_parquet).collect().height


def test_options_of_a_store_are_handed_on(spawn_parquet, monkeypatch):
    asked = []

    def scan_parquet(source, **options):
        asked.append((source, options))
        return pl.LazyFrame(pl.read_parquet(spawn_parquet))

    monkeypatch.setattr(pl, "scan_parquet", scan_parquet)
    options = {"aws_region": "eu-central-1"}
    tf.scan("s3://bucket/runs/*.parquet", storage_options=options).collect()
    assert asked == [("s3://bucket/runs/*.parquet", {"storage_options": options})]


def test_a_url_of_something_else(spawn_strace, tmp_path):
    with pytest.raises(tf.Error, match="not Parquet") as caught:
        tf.scan(f"file://{spawn_strace}")
    assert "download" in caught.value.hint
    other = tmp_path / "other.parquet"
    pl.DataFrame({"loss": [0.5]}).write_parquet(other)
    with pytest.raises(tf.Error, match="have no column 'loss'"):
        tf.scan(f"file://{other}")


@pytest.mark.parametrize("use", [tf.read, lambda url: tf.parse(url, None)])
def test_logs_are_not_read_from_urls(use):
    with pytest.raises(tf.Error, match="not from URLs") as caught:
        use("https://host/app.strace")
    assert caught.value.hint == ("download it first")


# Memory.

QUERY = """
import sys
import polars as pl
import tracefast as tf
events = tf.scan(sys.argv[1], threads=2)
query = {
    "groups": lambda: events.group_by("name").agg(pl.len(), pl.col("dur_ns").sum(), pl.max("path")),
    "few rows": lambda: events.filter(pl.col("args").str.ends_with("never")).select("args", "path"),
    "rare rows": lambda: events.filter(pl.col("name") == "execve").select("args"),
}[sys.argv[2]]()
query.collect(engine="streaming")
"""


@needs_status
@pytest.mark.parametrize("query", ["groups", "few rows", "rare rows"])
def test_a_streamed_query_does_not_hold_the_log(query, tmp_path):
    peaks = []
    for size in (20_000_000, 120_000_000):
        log = write_long(tmp_path / "long.strace", size)
        peaks.append(min(peak_kb(QUERY, log, query), peak_kb(QUERY, log, query)))
        log.unlink()
    # A hundred megabytes more of text: less than a quarter of that, as allocators keep some.
    assert peaks[1] < peaks[0] + 25_000, peaks
