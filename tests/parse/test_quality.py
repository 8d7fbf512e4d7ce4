"""What the report says of how good a log is: in words, and for programs."""

from __future__ import annotations

import json

import pytest

import tracefast as tf
from support.logs import READ

WHOLE = READ * 3
TORN = '100 1700000000.000150 read(3</srv/a>, "abc", 10\n'
RECORD = "  sh-7  [001] ..... 2.000010: "
RECORDS = f"{RECORD}sys_read(fd: 3, buf: 7ffd0, count: 40)\n{RECORD}sys_read -> 0x40\n" * 3
OUTPUT = "output of the program\n"
LOSSES = {
    "whole": (WHOLE, ["complete"], 0),
    "a line": (WHOLE + OUTPUT, ["1 line not understood"], 1),
    "lines": (OUTPUT + WHOLE + OUTPUT, ["2 lines not understood"], 2),
    "a value": (WHOLE + TORN + WHOLE, ["1 value lost"], 1),
    "values": (WHOLE + (TORN + READ) * 3, ["3 values lost"], 3),
    "an end": (WHOLE + TORN[:-1], ["cut at the end"], 1),
    "an end of ftrace": (f"{RECORDS}{RECORD}sys_read(fd: 3, buf:", ["cut at the end"], 1),
    "an end in a name": (f"{RECORDS}{RECORD}sys_re", ["cut at the end"], 1),
    "an end before a result": (f"{RECORDS}{RECORD}sys_read ->", ["cut at the end"], 1),
    "a result": (f"{RECORDS}{RECORD}sys_read ->\n{RECORDS}", ["1 value lost"], 1),
    "a result behind a blank": (f"{RECORDS}{RECORD}sys_read -> \n{RECORDS}", ["1 value lost"], 1),
    "an entry": (f"{RECORDS}{RECORD}sys_read(fd: 3, buf:\n{RECORDS}", ["1 value lost"], 1),
    "both": (WHOLE + TORN + READ + OUTPUT, ["1 line not understood", "1 value lost"], 2),
    "empty": ("", ["empty"], 0),
    "pasted": ("".join(f"> {line}\n" for line in WHOLE.splitlines()), ["complete"], 0),
    "a note": (READ.replace("\n", "  # why?\n") + WHOLE, ["complete"], 0),
}


@pytest.mark.parametrize("block_bytes", [64, 262_144])
@pytest.mark.parametrize("name", LOSSES)
def test_quality_in_words(tmp_path, name, block_bytes):
    text, words, losses = LOSSES[name]
    (tmp_path / "log").write_text(text)
    report = tf.parse(tmp_path / "log", None, block_bytes=block_bytes)
    pasted = ["pasted: prefix removed"] if name == "pasted" else []
    assert report.quality == words + pasted
    assert report.losses == losses
    assert report.sources[0]["quality"] == report.quality
    assert json.loads(report.to_json())["quality"] == report.quality


def test_a_filtered_log_among_others(tmp_path):
    calls = '1 openat(AT_FDCWD, "/x", O_RDONLY) = 3\n1 close(3) = 0\n'
    (tmp_path / "whole").write_text(WHOLE)
    (tmp_path / "filtered").write_text(calls * 200)
    report = tf.parse([tmp_path / "whole", tmp_path / "filtered"], None)
    of = {log["source"]: log["quality"] for log in report.sources}
    assert of[str(tmp_path / "whole")] == ["complete"]
    assert report.quality == of[str(tmp_path / "filtered")]
    assert [log["filtered"] for log in report.sources] == [False, "filtered" in report.quality]


def test_the_command_says_it_too(run, tmp_path):
    (tmp_path / "log").write_text(WHOLE + TORN + READ + OUTPUT)
    ran = run("parse", "log", "-o", "out.parquet", "--strict")
    assert ran.returncode == 1
    assert "out.parquet: 5 events from 6 lines" in ran.stderr
    assert "  quality        1 line not understood, 1 value lost\n" in ran.stderr
    assert "events         syscall 5\n" in ran.stderr
    (tmp_path / "log").write_text(WHOLE + TORN + READ)
    assert run("parse", "log", "-o", "out.parquet").returncode == 0
    assert run("parse", "log", "-o", "out.parquet", "--strict").returncode == 1
    assert run("parse", "log", "--out-dir", "out", "--strict").returncode == 1
    (tmp_path / "log").write_text(LOSSES["a note"][0])
    assert run("parse", "log", "-o", "out.parquet", "--strict").returncode == 0
