"""The guard against slower stages: what it compares, and when it does not."""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest

import guard
from support.paths import BENCHES

HERE = {"rustc": "rustc 1.0", "processor": "x86_64, avx2"}


def counts(**changes):
    """Return 1,000 instructions for each stage of each log, but for some of strace."""
    found = {kind: dict.fromkeys(guard.GUARDED, 1000) for kind in guard.KINDS}
    found["strace"] |= changes
    return found


def compared(found, conditions=HERE, recorded=None):
    known = {"conditions": conditions, "instructions": recorded or counts()}
    return guard.compare(found, HERE, known)


def test_a_stage_may_take_five_per_cent_more_and_no_more(capsys):
    assert compared(counts(model=1050, parquet=500)) == 0
    assert compared(counts(model=1051)) == 1
    said = capsys.readouterr().out
    assert said.splitlines()[-2].endswith("above what was recorded: strace, model")
    assert "| strace | model | 1,000 | 1,051 | +5.1 % |" in re.sub(" +", " ", said)


def test_a_stage_that_hardly_counts_may_take_a_thousandth_of_all_more():
    short = counts(stitch=10)
    assert compared(counts(stitch=14), recorded=short) == 0
    assert compared(counts(stitch=15), recorded=short) == 1


def test_a_new_stage_is_not_judged():
    recorded = counts()
    del recorded["strace"]["model"]
    assert compared(counts(model=9000), recorded=recorded) == 0


def test_other_conditions_are_reported_and_not_judged(capsys):
    assert compared(counts(model=9000), HERE | {"rustc": "rustc 0.9"}) == 0
    said = capsys.readouterr().out
    assert "recorded with rustc 0.9, this is rustc 1.0" in said
    assert "make guard RECORD=1" in said


def test_work_in_order_is_reported(capsys):
    compared(counts(stitch=0))
    said = capsys.readouterr().out
    assert "strace to Arrow: 33% is done in order; while two cores share the work, 67%" in said
    assert "ftrace to Parquet: 40% is done in order" in said


def test_what_is_recorded_has_every_stage():
    recorded = json.loads(guard.RECORDED.read_text())
    assert recorded["conditions"].keys() == HERE.keys()
    assert recorded["instructions"].keys() == set(guard.KINDS)
    for stages in recorded["instructions"].values():
        assert stages.keys() == set(guard.GUARDED)
        assert min(stages.values()) > 0


def test_without_valgrind_it_says_so(tmp_path):
    command = [sys.executable, str(BENCHES / "guard.py")]
    environment = {**os.environ, "PATH": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0
    assert done.stdout.startswith("guard: skipped, valgrind is not installed")


# What it is to valgrind that the stage is one step further.
VALGRIND = """#!/bin/sh
while [ "$#" -gt 3 ]; do shift; done
"$@" || exit
case $2 in
    blocks) n=1000 ;; grammar) n=3000 ;; stitch) n=3100 ;; model) n=3600 ;;
    batches) n=4000 ;; parquet) n=9000 ;;
esac
echo "==7== Collected : $n" >&2
"""

PROGRAM = """#!/bin/sh
test -s "$2" || exit 1
echo "$1: 7 rows"
"""


def script(path, text):
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.mark.skipif(shutil.which("rustc") is None, reason="rustc is not installed")
def test_a_stage_is_what_it_adds_to_those_before_it(tmp_path, monkeypatch):
    script(tmp_path / "valgrind", VALGRIND)
    program = script(tmp_path / "stages", PROGRAM)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(guard, "RECORDED", tmp_path / "guard.json")
    monkeypatch.setattr(sys, "argv", ["guard.py", "--record", "--program", str(program)])
    assert guard.main() == 0
    recorded = json.loads((tmp_path / "guard.json").read_text())["instructions"]
    adds = {"grammar": 2000, "stitch": 100, "model": 500, "batches": 400, "parquet": 5000}
    assert recorded == {"strace": adds, "ftrace": adds}
    monkeypatch.setattr(sys, "argv", ["guard.py", "--program", str(program)])
    assert guard.main() == 0
    script(tmp_path / "valgrind", VALGRIND.replace("n=4000", "n=4030"))
    assert guard.main() == 1
