"""Created tasks in logs of real programs, counted the slow way.

`TRACEFAST_LOGS=folder pytest tests/tables/forks/test_samples.py` looks below that folder: for a
folder `forks` of logs of one parent that starts `/bin/true`, with the times that it measured
itself, and for a folder `apps` of logs of many programs.
"""

from __future__ import annotations

import json
import os
import re
from functools import cache
from pathlib import Path
from statistics import median

import polars as pl
import pytest

import tracefast as tf

ROOT = Path(os.environ.get("TRACEFAST_LOGS", os.devnull))
FOLDERS = [path.parent for path in sorted(ROOT.rglob("forks/summary.json"))]
PARENTS = [
    path
    for folder in FOLDERS
    for path in sorted(folder.iterdir())
    if re.fullmatch(r"(strace|ftrace)_\d+_\w+\.(log|txt)", path.name)
]
KINDS = {"fork": "fork", "vfork": "vfork", "spawn": "posix_spawn", "osexec": "fork"}
APPS = [
    path
    for folder in sorted(ROOT.rglob("apps"))
    for path in sorted(folder.rglob("*.log"))
    # Logs that leave out the calls that make tasks, or the names of programs.
    if re.match("-f|.*_-f", path.parent.name)
    and not re.search("_-Z|_--trace-fds|_-e_status|_-e_raw", path.parent.name)
]
SEPARATE = sorted(
    {
        path.with_suffix("")
        for folder in ROOT.rglob("apps")
        for path in folder.rglob("*.log.*")
        if path.suffix[1:].isdecimal()
    }
)


@cache
def table_of(log: Path) -> pl.DataFrame:
    return tf.forks(tf.scan(log)).collect()


def untraced(log: Path) -> float:
    """Give the median that the same parent measured without a tracer."""
    _, size, mode, kind = log.stem.split("_")
    times = log.parent / "untraced_or_traced_times" / f"none_{size}_{mode}_{kind}.json"
    if times.exists():
        measured = json.loads(times.read_text())
        return median(measured["forkexec_ns"] or measured["total_ns"])
    summary = json.loads((log.parent / "summary.json").read_text())
    row = summary[f"{size}_{mode}_{kind}|none"]
    return 1e6 * (row["py_forkexec_ms"] or row["py_total_ms"])


def children(log: Path) -> pl.DataFrame:
    return table_of(log).filter(pl.col("image") == "/bin/true")


@pytest.mark.parametrize("log", PARENTS, ids=lambda log: log.name)
def test_each_child_of_a_parent_has_its_kind(log: Path) -> None:
    table = children(log)
    assert table.height == 61
    assert set(table["kind"]) == {KINDS[log.stem.split("_")[2]]}
    assert set(table["exit_status"]) == {0}


@pytest.mark.parametrize("log", PARENTS, ids=lambda log: log.name)
def test_what_a_start_costs_without_a_tracer(log: Path) -> None:
    table, without = children(log), untraced(log)
    if table["kind"][0] == "fork":
        assert table["call_ns"].median() == pytest.approx(without, rel=0.15)
    elif log.name.startswith("strace"):
        whole = table["call_ns"] + table["exec_gap_ns"] + table["exec_ns"]
        assert (whole - table["tracer_high_ns"]).median() <= without
        assert without <= (whole - table["tracer_low_ns"]).median()
        assert without <= (table["call_ns"] - table["tracer_low_ns"]).median()
    if log.name.startswith("ftrace"):
        assert table["tracer_high_ns"].null_count() == table.height


@pytest.mark.parametrize("folder", FOLDERS, ids=str)
def test_a_parent_that_grows(folder: Path) -> None:
    table = table_of(folder / "grow.strace")
    assert table["parent_anon_bytes"].tail(1).item() == pytest.approx(2200 << 20, rel=0.1)
    assert set(table["kind"]) == {"fork"}


@pytest.mark.parametrize("folder", FOLDERS, ids=str)
def test_an_old_subprocess(folder: Path) -> None:
    table = table_of(folder / "subprocess_python37.strace")
    assert table.select("kind", "image").unique().rows() == [("fork", "/bin/echo")]
    assert table.height == 100
    # All of them wait; the read ends with the execve, as far as the scheduler lets it.
    took = table["exec_gap_ns"] + table["exec_ns"]
    assert table["error_pipe_ns"].null_count() == 0
    assert (table["error_pipe_ns"] / took).median() == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize("folder", FOLDERS, ids=str)
def test_dynamic_linking(folder: Path) -> None:
    table = table_of(folder / "strace_500_fork_touch.log")
    columns = ("startup_calls", "startup_misses", "startup_libraries")
    assert table.select(columns).unique().rows() == [(28, 1, 1)]


LINE = re.compile(
    rb"^(?:[A-Za-z_./-]+[^\[\n]{0,40})?(?:\[pid +)?(\d+)(?:<[^>\n]*>)?\]? +"
    rb".*?(\+\+\+ (?:exited with|killed by)|execve(?:at)?(?:\(| resumed).* = 0\b)",
    re.MULTILINE,
)


def proved(log: Path) -> tuple[list[int], set[int]]:
    """Give the tasks whose end the log shows, without the first, and those that ran a program."""
    text = log.read_bytes()
    first = re.search(rb"^(?:\[pid +)?(\d+)(?:<[^>\n]*>)?\]? ", text, re.MULTILINE)
    root = re.search(rb"^(?:set_tid_address|gettid|getpid)\(.*= (\d+)", text, re.MULTILINE)
    roots = {int(found[1]) for found in (root or first,) if found}
    ended, ran = [], set()
    for found in LINE.finditer(text):
        pid = int(found[1])
        if not found[2].startswith(b"+++"):
            ran.add(pid)
        elif pid not in roots:
            ended.append(pid)
    return ended, ran


@pytest.mark.parametrize("log", APPS, ids=lambda log: f"{log.parent.name}/{log.name}")
def test_every_child_has_a_parent_a_kind_and_an_image(log: Path) -> None:
    ended, ran = proved(log)
    rows = {row["child_pid"]: row for row in table_of(log).iter_rows(named=True)} if ended else {}
    for pid in ended:
        assert pid in rows, pid
        assert rows[pid]["task"] is not None
        assert rows[pid]["kind"] is not None, pid
        assert rows[pid]["image"] is not None or pid not in ran, pid


@pytest.mark.parametrize("log", SEPARATE, ids=lambda log: f"{log.parent.name}/{log.name}")
def test_every_child_of_logs_cut_by_task(log: Path) -> None:
    texts = {int(part.suffix[1:]): part.read_bytes() for part in log.parent.glob(f"{log.name}.*")}
    rows = {row["child_pid"]: row for row in table_of(log).iter_rows(named=True)}
    without = []
    for pid, text in texts.items():
        if b"\n+++ " in text or b" +++ exited" in text:
            if pid not in rows:
                without.append(pid)
                continue
            assert rows[pid]["kind"] is not None, pid
            ran = re.search(rb"^(?:\S+ )?execve\(.*\) += 0\b", text, re.MULTILINE)
            assert rows[pid]["image"] is not None or not ran, pid
    # The first one was made by strace.
    assert len(without) <= 1


def test_enough_was_looked_at() -> None:
    if APPS:
        assert sum(len(proved(log)[0]) for log in APPS) > 2000
