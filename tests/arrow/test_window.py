"""Scans of a window of time: as the command line takes them."""

import os
from datetime import UTC, datetime, timedelta

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import tracefast as tf

START = 1_795_229_939_063_243_000


def test_a_table_of_a_window_is_that_of_the_command(run, spawn_strace, spawn_parquet, tmp_path):
    made = run("files", spawn_strace, "--from", "0.03", "--to", "50ms", "-o", "files.parquet")
    assert made.returncode == 0, made.stderr
    expected = pl.read_parquet(tmp_path / "files.parquet")
    assert expected.height > 1
    first = datetime.fromtimestamp(START // 1_000_000_000, UTC).replace(microsecond=63_243)
    windows = [
        (0.03, "50ms"),
        ("+0.03", timedelta(milliseconds=50)),
        (first + timedelta(milliseconds=30), (first + timedelta(milliseconds=50)).isoformat()),
        (f"@{(START + 30_000_000) / 1e9:.6f}", (START + 50_000_000) / 1e9),
        (f"{first + timedelta(milliseconds=30):%H:%M:%S.%f}", f"{first:%H:%M}:59.113243"),
    ]
    for log in (spawn_strace, spawn_parquet):
        for from_, to in windows:
            table = tf.files(tf.scan(log, from_=from_, to=to)).collect()
            assert_frame_equal(table.drop("source", strict=False), expected)


def test_a_window_without_a_limit_is_everything(spawn_strace):
    whole = tf.scan(spawn_strace).select("line", "ts").collect()
    start = pl.lit(START + 50_000_000).cast(pl.Datetime("ns"))
    for side, kept in (("from_", pl.col("ts") >= start), ("to", pl.col("ts") < start)):
        part = tf.scan(spawn_strace, **{side: "0.05"}).select("line", "ts").collect()
        assert 0 < part.height < whole.height
        assert_frame_equal(part, whole.filter(kept))


def parsed_alone(folder, text, monkeypatch):
    """Parse a log under a name without a folder."""
    folder.mkdir()
    monkeypatch.chdir(folder)
    (folder / "log").write_text(text)
    tf.parse("log", "log.parquet")
    return folder / "log.parquet"


def test_files_of_logs_of_one_name_count_each_from_its_start(tmp_path, monkeypatch):
    files = []
    for n, times in enumerate(((100, 101, 102), (700, 701, 702, 703))):
        text = "".join(f"7 1700000{at}.0 close({n}) = 0\n" for at in times)
        files.append(parsed_alone(tmp_path / f"{n}", text, monkeypatch))
    part = tf.scan(files, from_=1, to=3)
    assert part.select("fd").collect()["fd"].to_list() == [0, 0, 1, 1]


@pytest.mark.parametrize(
    ("window", "words"),
    [
        ({"from_": "25:00"}, "from_=25:00: not a valid time"),
        ({"to": float("nan")}, "to=NaN: not a valid time"),
        ({"from_": -1}, "from_=-1: not a valid time"),
        ({"from_": "5", "to": 5}, "to=5: not after from_=5"),
        ({"from_": "10:00"}, "from_=10:00: the log has no time of day, its clock is uptime"),
        (
            {"to": datetime(2026, 11, 21, tzinfo=UTC)},
            "the log has no dates, its first time is 1591",
        ),
    ],
)
def test_windows_that_no_log_shows_are_refused_at_the_call(spawn_ftrace, window, words):
    with pytest.raises(tf.Error, match=words) as caught:
        tf.scan(spawn_ftrace, **window)
    assert caught.value.kind == "window"
    assert "12.5" in caught.value.hint or "a later time" in caught.value.hint


def test_clocks_of_files_of_one_name(tmp_path, spawn_ftrace, monkeypatch):
    text = spawn_ftrace.read_text()
    files = [parsed_alone(tmp_path / f"{n}", text + "\n" * n, monkeypatch) for n in range(2)]
    with pytest.raises(tf.Error, match="its clock is uptime"):
        tf.scan(files, from_="10:00")


def test_a_window_that_needs_two_passes_refuses_a_pipe(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(tf.Error, match=r"from_=1 and to=2: .* is a pipe"):
        tf.scan(pipe, from_=1, to=2)
