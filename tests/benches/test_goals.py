"""How the benches judge what they measured, and how they draw it."""

import json
from dataclasses import asdict
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

import cases
import comparison
import goals
import guard
import make_log
import picture
import startup
from timing import cold, processor


def measured(label, tool, threads=2, **values):
    case = cases.Case(label, tool, Path(__file__), threads)
    for name, value in values.items():
        setattr(case, name, value)
    return case


def cases_of_goals(*, one=1.8, arrow=0.22, plain=0.86, files=0.79, peak=128_000_000, **more):
    values = {"gz": 2.3, "zst": 2.2, "log": 1.29, "long": 281_000_000} | more
    return [
        measured("strace to Arrow", "arrow", 1, seconds=[one, 2 * one], ratios=[0.1, 0.1]),
        measured("strace to Arrow", "arrow", seconds=[1.0, 2.0], ratios=[arrow, arrow]),
        measured(
            "strace to Parquet",
            "parquet",
            seconds=[1.0, 2.0],
            wall=[1.0, 2.0],
            ratios=[0.08, 0.08],
            peaks=[1, peak],
        ),
        measured("strace to Parquet, no model", "rows", seconds=[plain, 2 * plain], peaks=[1, 1]),
        measured("strace.gz to Parquet", "parquet", form="gz", seconds=[values["gz"], 2.3],
                 unpacked=[2.0, 2.0]),
        # Unpacking takes less time than parsing in the second round.
        measured("strace.zst to Parquet", "parquet", form="zst", seconds=[2.2, values["zst"]],
                 unpacked=[2.0, 1.0]),
        measured("files of a log", "files", wall=[values["log"], 2 * values["log"]]),
        # `wc -l` takes 0.1 s.
        measured("files of Parquet", "files", form="parquet", seconds=[0.5, 0.5],
                 ratios=[0.2, 0.2], wall=[files, files], peaks=[1, 1_000_000_000]),
    ]  # fmt: skip


def missed(**change):
    for case in (found := cases_of_goals(**change)):
        case.peaks = case.peaks or [1]
    return [verdict.what for verdict in goals.judge(found) if not verdict.reached]


def test_goals_are_judged_round_by_round():
    assert missed() == []
    assert missed(arrow=0.219) == ["strace to Arrow"]
    assert missed(one=1.79) == ["second core, strace to Arrow"]
    assert missed(gz=2.4) == ["strace.gz to Parquet"]
    assert missed(zst=2.3) == ["strace.zst to Parquet"]
    assert missed(peak=129_000_000) == ["peak memory"]
    assert missed(plain=0.84) == ["strace to Parquet, model on"]
    assert missed(files=0.81) == ["`files of Parquet`"]
    assert missed(log=1.31) == ["`files` of a log"]


def test_memory_of_a_longer_log_is_judged_by_that_of_the_first():
    found = cases_of_goals(peak=100_000_000)
    for case in found:
        case.peaks = case.peaks or [1]
    long = measured("strace to Parquet", "parquet", long=True, peaks=[110_000_000, 109_000_000])
    verdicts = {verdict.what: verdict for verdict in goals.judge([*found, long])}
    assert verdicts["memory, a log 1 times as long"].measured == "1.10 x"
    assert verdicts["memory, a log 1 times as long"].reached
    long.peaks = [111_000_000]
    verdicts = {verdict.what: verdict for verdict in goals.judge([*found, long])}
    assert not verdicts["memory, a log 1 times as long"].reached


def test_starting_is_judged_beside_the_empty_program():
    found = startup.Startup()
    seconds = {"python -c pass": 0.01, "import polars": 0.2, "import polars, tracefast": 0.25}
    for name in found.seconds:
        found.seconds[name] = [seconds.get(name, 0.14)] * 3
    assert [verdict.reached for verdict in goals.judge([], found)] == [True] * 3
    found.seconds["import polars, tracefast"] = [0.27] * 3
    found.seconds["tracefast --help"] = [0.16, 0.16, 0.14]
    missing = [verdict.what for verdict in goals.judge([], found) if not verdict.reached]
    assert missing == ["`tracefast --help`", "`import tracefast` beyond polars"]


def of_one_thread(label, tool, *seconds, old=False, rows=0):
    return measured(
        label, tool, 1, processor=list(seconds), alone=True, old=old, rows=rows, ratios=[1.0]
    )


def test_processor_time_is_the_lowest_of_the_rounds(monkeypatch):
    monkeypatch.setattr(processor, "missing", lambda tool: tool == "rg")
    alone = [
        of_one_thread("strace to Arrow", "arrow", 0.5, 0.4, old=True, rows=1000),
        of_one_thread("strace to Arrow", "arrow", 0.26, 0.4, rows=1000),
        of_one_thread("zstd -1", "zstd", 0.9, 0.4),
        of_one_thread("wc -l", "wc", 0.02, 0.013),
    ]
    found = processor.table(alone, {Path(__file__): 2000})
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in found.splitlines()]
    assert rows[0][2:4] == ["ns a line", "ns a row"]
    assert rows[0][5:] == ["x zstd -1", "x wc -l", "x the old build"]
    label, _, line, row, instructions, *ratios = rows[2]
    assert (label, line, row) == ("strace to Arrow", "130,000.0", "260,000")
    stages = json.loads(guard.RECORDED.read_text())["instructions"]["strace"]
    lines = make_log.bundled("strace").count(b"\n")
    through = sum(stages[stage] for stage in ("grammar", "stitch", "model", "batches"))
    assert instructions == f"{through / lines:,.0f}"
    assert ratios == ["0.65", "20.00", "0.65"]
    assert rows[3][0] == "zstd -1"
    assert rows[3][3:5] == ["", ""]
    assert found.endswith("Not installed, and so not compared: rg.")
    judged = {verdict.what: verdict.reached for verdict in goals.judge([], None, alone)}
    assert judged == {"strace to Arrow, processor time": True}
    alone[1].processor = [0.27]
    assert not goals.judge([], None, alone)[0].reached


def test_a_log_that_stays_in_the_cache_is_not_measured_cold(tmp_path, monkeypatch):
    log = tmp_path / "a.strace"
    log.write_bytes(make_log.bundled("strace"))
    found = cold.Cold(log, 2)
    monkeypatch.setattr(cold, "cached", lambda *_: True)
    found.measure()
    assert "could not be dropped" in found.report()
    found = cold.Cold(log, 2)
    monkeypatch.setattr(cold, "cached", lambda *_: False)
    monkeypatch.setattr(cold, "read", lambda _: 2.0)
    monkeypatch.setattr(found, "parse", lambda tool: {"arrow": 2.5, "parquet": 5.0}[tool])
    found.measure()
    assert [row.split("|")[4].strip() for row in found.report().splitlines()[2:]] == [
        "1.00", "1.25", "2.50",
    ]  # fmt: skip


def test_the_picture_shows_every_way_of_a_recorded_result(tmp_path):
    found = [
        asdict(measured(label, tool, seconds=[speed], wall=[2 * speed], ratios=[0.1 / speed]))
        for speed, (tool, label) in enumerate(comparison.LABELS.items(), 1)
    ]
    values = [{**case, "log": "a.log", "bytes": 1, "compared": True} for case in found]
    others = [{"label": "old", "log": "a.log"}]  # As results were recorded before.
    machine = {"processor": "A & B", "date": "2026-11-21"}
    content = {"machine": machine, "versions": comparison.versions(), "cases": others + values}
    result = tmp_path / "result.json"
    result.write_text(json.dumps(content))
    drawn = picture.write(result, tmp_path / "picture.svg").read_text()
    root = ET.fromstring(drawn)
    texts = [node.text for node in root.iter("{http://www.w3.org/2000/svg}text")]
    for label in comparison.LABELS.values():
        assert sum(f"{label}, 2 threads" == text for text in texts) == 1
    bars = [float(node.get("width")) for node in root.iter("{http://www.w3.org/2000/svg}rect")]
    # 1, 2 and 3 s; of a whole process twice 4 and 5; 6. `wc -l` takes 0.1.
    seconds = dict(zip(("wc", *comparison.LABELS), (0.1, 1, 2, 3, 8, 10, 6), strict=True))
    assert bars == pytest.approx([41 * took for took in seconds.values()], abs=0.1)
    assert {"0", "2 s", "10 s"} <= set(texts)
    assert "A & B, 2026-11-21: " in texts[-1]
