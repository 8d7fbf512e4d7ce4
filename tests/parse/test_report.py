"""The report: every line and byte of every log has a use, and the sums are the totals."""

import copy
import json
import pickle
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tracefast as tf
from support.logs import READ
from support.paths import DATA
from tracefast import _core

CALL = READ.encode()
SPLIT = (
    b"100 1700000000.000200 read(4</srv/b>,  <unfinished ...>\n"
    b"101 1700000000.000300 close(3) = 0 <0.000010>\n"
    b'100 1700000000.000400 <... read resumed>"abc", 4096) = 3 <0.000200>\n'
)
FOREIGN = "Hällo from the program\n".encode()
SUMS = ("accounting", "accounting_bytes", "oddities", "kinds")


@pytest.fixture
def logs(tmp_path, spawn_ftrace):
    """Logs of both formats, with and without losses, one empty, one without its last feed."""
    texts = {
        "good.log": CALL * 3,
        "lossy.log": CALL + FOREIGN + SPLIT + FOREIGN + b"\n",
        "empty.log": b"",
        "cut.log": CALL * 2 + FOREIGN[:-1],
        "trace.log": spawn_ftrace.read_bytes(),
    }
    for name, text in texts.items():
        (tmp_path / name).write_bytes(text)
    return [tmp_path / name for name in texts]


def footers(folder) -> list[dict]:
    """Reports in the metadata of the outputs."""
    parquet = pq.read_metadata(folder / "out.parquet").metadata
    with pa.ipc.open_file(folder / "out.arrow") as file:
        arrow = file.schema.metadata
    return [json.loads(metadata[b"tracefast.report"]) for metadata in (parquet, arrow)]


@pytest.fixture
def report(logs, tmp_path):
    tf.parse(logs, tmp_path / "out.arrow")
    return tf.parse(logs, tmp_path / "out.parquet")


def test_every_line_and_byte_of_every_log_has_a_use(report, logs):
    assert [log["source"] for log in report.sources] == [str(path) for path in logs]
    for log, path in zip(report.sources, logs, strict=True):
        text = path.read_bytes()
        assert log["bytes"] == sum(log["accounting_bytes"].values()) == len(text)
        assert log["lines"] == sum(log["accounting"].values()) == len(text.splitlines())
        assert log["rows"] == sum(log["kinds"].values())
        for use, lines in log["accounting"].items():
            assert (log["accounting_bytes"][use] > 0) == (lines > 0)


def test_the_logs_sum_up_to_the_total(report):
    for key in ("lines", "bytes", "rows"):
        assert getattr(report, key) == sum(log[key] for log in report.sources)
    for key in SUMS:
        sums = Counter()
        for log in report.sources:
            sums.update(log[key])
        assert getattr(report, key) == dict(sums), key


def test_what_each_log_came_to(report, logs):
    good, lossy, empty, cut, trace = report.sources
    assert (good["format"], good["clock"], good["lines"]) == ("strace", "epoch", 3)
    assert good["accounting"]["events"] == 3
    assert good["unparsed"] == []
    used = {use: lines for use, lines in lossy["accounting"].items() if lines}
    assert used == {"events": 3, "resumed": 1, "blank": 1, "unparsed": 2}
    size = lossy["accounting_bytes"]
    assert (size["unparsed"], size["blank"]) == (2 * len(FOREIGN), 1)
    assert size["resumed"] == len(SPLIT.splitlines(keepends=True)[2])
    assert lossy["unparsed"] == [{"line": 2, "text": "Hällo from the program"}]
    assert (empty["format"], empty["clock"], empty["lines"]) == ("none", "none", 0)
    assert cut["accounting_bytes"]["unparsed"] == len(FOREIGN) - 1
    assert cut["unparsed"] == [{"line": 3, "text": "Hällo from the program"}]
    assert (trace["format"], trace["clock"]) == ("tracefs", "uptime")
    assert trace["accounting"]["header"] > 0
    assert (report.format, report.clock) == ("mixed", "mixed")
    assert [(source, line) for source, line, _ in report.unparsed] == [
        (str(logs[1]), 2),
        (str(logs[1]), 6),
        (str(logs[3]), 3),
    ]
    assert report.warnings == [f"{logs[2]}: the log is empty"]


def test_oddities_are_named(report):
    assert list(report.oddities) == [
        *("time_steps_back", "relayouts", "foreign", "notes", "prefixes", "wrapped"),
        *("lost_values", "cut_ends", "other_format", "shared_lines"),
        *("impossible_durations", "impossible_cpu_times"),
    ]
    assert all(set(log["oddities"]) == set(report.oddities) for log in report.sources)


def test_the_footer_says_the_same(report, tmp_path):
    expected = json.loads(report.to_json())
    assert expected["sources"] == report.sources
    assert expected["sources_left_out"] == 0
    for key in (*SUMS, "lines", "bytes", "rows", "format", "clock", "warnings"):
        assert expected[key] == getattr(report, key)
    assert [
        (line["source"], line["line"], line["text"]) for line in expected["unparsed"]
    ] == report.unparsed
    assert footers(tmp_path) == [expected, expected]


def test_the_report_does_not_depend_on_blocks_or_threads(report, logs, tmp_path):
    for threads, block_bytes in [(1, 64), (3, 100), (2, 4096)]:
        again = tf.parse(logs, tmp_path / "again.parquet", threads=threads, block_bytes=block_bytes)
        assert again.to_json() == report.to_json()


def test_empty_logs_are_all_warned_of(logs, tmp_path):
    (tmp_path / "other.log").touch()
    report = tf.parse([*logs, tmp_path / "other.log"], None)
    empty = [path for path in (*logs, tmp_path / "other.log") if not path.stat().st_size]
    assert report.warnings == [f"{path}: the log is empty" for path in empty]


def test_without_an_output_the_report_is_the_same(report, logs, tmp_path):
    before = sorted(tmp_path.iterdir())
    assert tf.parse(logs, None).to_json() == report.to_json()
    assert sorted(tmp_path.iterdir()) == before


def copies(report):
    """Copy a report in every way that Python knows."""
    pickled = [
        pickle.loads(pickle.dumps(report, protocol))
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1)
    ]
    return [*pickled, copy.copy(report), copy.deepcopy(report)]


def test_a_report_can_be_copied(report):
    public = [name for name in dir(report) if not name.startswith("_") and name != "to_json"]
    assert len(report.unparsed) == 3
    assert report.warnings
    for other in copies(report):
        assert other == report
        assert other is not report
        assert other.to_json() == report.to_json()
        assert {name: getattr(other, name) for name in public} == {
            name: getattr(report, name) for name in public
        }


def test_reports_of_any_log_can_be_copied():
    logs = sorted([*DATA.glob("*/*.strace"), *DATA.glob("*/*.ftrace"), *DATA.glob("*.zst")])
    report = tf.parse(logs, None)
    assert {"strace", "tracefs"} <= {log["format"] for log in report.sources}
    assert len({log["clock"] for log in report.sources}) > 2
    assert {log["machine"] for log in report.sources} > {None}
    for other in copies(report):
        assert other == report
        assert other.to_json() == report.to_json()


def test_reports_are_equal_if_they_count_the_same(report, logs, tmp_path):
    again = tf.parse(logs, None)
    assert again == report
    assert again.seconds != report.seconds
    assert tf.parse(logs[:2], None) != report
    # The same counts, of a log of another name.
    copied = tmp_path / "copied.log"
    copied.write_bytes(logs[0].read_bytes())
    assert tf.parse(copied, None) != tf.parse(logs[0], None)
    assert report != report.to_json()
    with pytest.raises(ValueError, match="not a report"):
        _core.report_of("{}", 0.0)


def test_a_report_comes_back_from_another_process(logs):
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert pool.submit(tf.parse, logs, None).result() == tf.parse(logs, None)


def test_impossible_durations_are_null_and_counted(tmp_path):
    log = tmp_path / "long.strace"
    log.write_text(
        '7 1700000000.000000 read(3, "", 1) = 0 <9223372036.854775807>\n'
        '7 1700000001.000000 read(3, "", 1) = 0 <315705600.000000>\n'
        '7 1700000002.000000 read(3, "", 1) = 0 <0.000010>\n'
        "7 1700000003.000000 pause( <unfinished ...>\n"
        "8 1700000003.500000 getpid() = 8 <0.000001>\n"
        "7 1700000004.000000 <... pause resumed>) = 0 <4000000000.000000>\n"
    )
    report = tf.parse(log, tmp_path / "long.parquet")
    assert report.oddities["impossible_durations"] == 3
    events = tf.scan(log).select("dur_ns").collect()
    # The halves of the call that waited have times of their own.
    assert events["dur_ns"].to_list() == [None, None, 10_000, 1000, 1_000_000_000]
