"""Rows against what a slow, independent reader counts in real logs of every layout."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import tracefast as tf
from support.paths import DATA
from support.reference import ftrace_counts, ftrace_text

if TYPE_CHECKING:
    from pathlib import Path

LOGS = sorted((DATA / "ftrace").glob("*.ftrace"))

# A mark of several lines, one of which is a note of lost records: what follows has no owner.
TORN = {"marks", "marks-latency", "marks-nocontext", "trace-cmd-marks"}

# Blocks that end within names, stacks and texts of several lines.
BLOCKS = [100, 1000]

# What one buffer gives under other options of the print.
PRINTS = ["no-irq-info", "tgid", "latency", "latency-verbose", "verbose", "nocontext", "fields"]


def log(name: str) -> Path:
    (found,) = [path for path in LOGS if path.stem == name]
    return found


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_rows_are_what_the_text_says(path: Path) -> None:
    expected = ftrace_text.count(path.read_bytes())
    assert expected.records > 4
    assert expected.unread == ([b"text"] if path.stem in TORN else [])
    assert ftrace_counts.differences(expected, ftrace_counts.read(path)) == []


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_rows_are_the_same_for_blocks_of_any_size(path: Path) -> None:
    whole = tf.read(path, format_in="ftrace")
    rows = pl.DataFrame(whole)
    for size in BLOCKS:
        cut = tf.read(path, format_in="ftrace", block_bytes=size, threads=2)
        assert_frame_equal(pl.DataFrame(cut), rows)
        assert cut.report.accounting_bytes == whole.report.accounting_bytes


@pytest.mark.parametrize("name", PRINTS)
def test_a_buffer_is_the_same_under_all_options(name: str) -> None:
    columns = ["kind", "name", "tid", "ret", "errno", "fd", "requested", "bytes", "status"]
    if name == "nocontext":
        # Calls of several tasks that are not named cannot be distinguished.
        columns = ["kind", "name"]

    def table(which: str) -> list[tuple[object, ...]]:
        frame = ftrace_counts.read(log(which), columns=["line", *columns]).frame.sort("line")
        if name == "fields":
            # The kernel prints marks as `UNKNOWN TYPE 5` under this option.
            frame = frame.filter(pl.col("name").is_not_null(), pl.col("kind") != "marker")
        rows = frame.select(pl.col(columns).cast(pl.String)).rows()
        return sorted(set(rows)) if name == "nocontext" else rows

    assert table(name) == table("default")


def test_a_difference_is_seen() -> None:
    rows = ftrace_counts.read(log("default"))
    other = ftrace_text.count(log("programs").read_bytes())
    found = ftrace_counts.differences(other, rows)
    for what in ("lines: ", "bytes: ", "event sched_process_exec: 1 in the text, 0 in the rows"):
        assert any(line.startswith(what) for line in found)
    assert any(line.startswith("enter execve: 2 records, 0 rows") for line in found)


TEXT = b"""\
# tracer: nop
#
      x-12 [000]-1535    [001] .....  2999.950796: sys_read(fd: 3, buf: 0x1, count: 0xa)
    x-1 [0] 1.0:-1550    [001] .....  2999.950797: sys_read -> 0x3
        new
line-1541    [001] .....  2999.960451: task_rename: pid=1541 oldcomm=a newcomm=new
line oom_score_adj=0
CPU:1 [LOST 7 EVENTS]
stray
            bash-2101    [001] d..2.  2881.878957: <stack trace>
 => schedule
 => sys_read
            bash-2101    (   2101) [001] .....  2881.878958: tracing_mark_write: a

b
two:          bash-2330  [000]   321.623902: (+18)    sys_exit_write:       0x2
    bash-2101      1..... 25321us+: sys_newstat(filename: 0x1)
            bash    2101   1 0 00000000 00000000 [abc5fbad] 25.321ms (+0.002ms): sys_newstat -> 0x2
2101 1 2881878957473 type: 839
            bash-2101    [001] .....  2881.878959: f+0x1/0x2 <-g
            bash-2101    [001] .....  2881.8: tracing_mark_write: nul    \
        bash-2101    [001] .....  2881.878960: sys_dup2 -> 0x1
"""


def test_the_slow_reader() -> None:
    counts = ftrace_text.count(TEXT)
    assert (counts.lines, counts.size) == (21, len(TEXT))
    assert (counts.records, counts.shared, counts.lost) == (12, 1, [7])
    assert counts.entered == {"read": 1, "stat": 1}
    assert counts.exited == {"read": 1, "write": 1, "stat": 1, "dup2": 1}
    assert counts.events == {
        ("event", "task_rename"): 1,
        ("event", "kernel_stack"): 1,
        ("marker", "tracing_mark_write"): 2,
        ("event", None): 1,
        ("function", "f"): 1,
    }
    assert (counts.stacks, counts.frames) == (1, 2)
    assert (counts.header, counts.blank, counts.continued) == (2, 1, 5)
    assert counts.unread == [b"stray"]
