"""Logs without some of their times: unknown times are shown as unknown, not as zero."""

import re
from pathlib import Path

import pytest

from tracefast.cli.messages.hints import RECORD_DURATIONS

LINE = re.compile(r"(\d+) +(\d+)\.(\d+) (.*?)( <[\d.]+>)?", re.ASCII)
FORMS = {
    "all": lambda pid, s, us, call, dur: f"{pid} {s}.{us} {call}{dur}",
    "no durations": lambda pid, s, us, call, _: f"{pid} {s}.{us} {call}",
    "seconds": lambda pid, s, _us, call, _dur: f"{pid} 02:58:{int(s) % 60:02} {call}",
    "nothing": lambda pid, _s, _us, call, _dur: f"{pid} {call}",
}


@pytest.fixture(params=FORMS, name="form")
def a_form(request, spawn_strace, tmp_path):
    lines = [
        LINE.fullmatch(line).groups(default="") for line in spawn_strace.read_text().splitlines()
    ]
    text = "".join(FORMS[request.param](*line).rstrip("\n") + "\n" for line in lines)
    Path(tmp_path / "log").write_text(text)
    return request.param


def test_calls(run, form):
    ran = run("syscalls", "log")
    assert ran.stderr == {
        "all": "",
        "nothing": f"warning: the log has no durations of calls: {RECORD_DURATIONS}\n",
    }.get(
        form,
        f"warning: the log has durations of only 29 of 1,204 calls: {RECORD_DURATIONS}\n",
    )


def test_starts(run, form):
    text = run("forks", "log").stdout.partition("\n\n")[0].replace("\n", " ")
    assert text.startswith("6 processes were started")
    assert ("were started in 74.1 ms" in text) == (form in {"all", "no durations"})
    assert ("Starting them took" in text) == (form in {"all", "no durations"})
    assert ("record with strace -ttt." in text) == (form in {"seconds", "nothing"})
    untold = {"all": 0, "no durations": 2}.get(form, 6)
    assert (f"duration is unknown for {untold} processes" in text) == (untold > 0)
    assert " 0 s" not in run("forks", "log").stdout


def test_reads(run, form):
    total = run("files", "log").stderr.splitlines()[0]
    assert re.search(r"in 96 reads( \([\d.]+ .?s\))?, ", total)
    assert ("96 reads (" in total) == (form == "all")


def test_calls_that_a_log_ends_with_are_no_sign_of_missing_times(run, tmp_path):
    (tmp_path / "log").write_text(
        "7 1700000000.1 futex(0x1, FUTEX_WAIT, 0, NULL <unfinished ...>\n"
    )
    ran = run("syscalls", "log")
    assert ran.stderr == ""
    assert ran.stdout.splitlines()[1].split()[-1] == "futex"
