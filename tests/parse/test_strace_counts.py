"""Rows against the table of calls and errors that strace itself prints after a trace (`-C`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

import tracefast as tf
from support import strace_tables
from support.paths import DATA

if TYPE_CHECKING:
    from pathlib import Path

COUNTS = DATA / "counts"


def calls(log: Path) -> list[tuple[str, str, str | None]]:
    rows = pl.DataFrame(tf.read(log)).filter(pl.col("kind") == "syscall")
    return list(rows.select("name", "status", "errno").iter_rows())


@pytest.mark.parametrize("name", ["plain", "columns", "stderr"])
def test_calls_and_errors_are_those_that_strace_counts(name: str) -> None:
    log = COUNTS / f"{name}.strace"
    expected = strace_tables.of_log(log)
    assert expected is not None
    assert sum(n for n, _ in expected.values()) > 400
    assert sum(errors for _, errors in expected.values() if errors) > 20
    assert strace_tables.differences(expected, calls(log)) == []


def test_calls_that_only_succeed_are_those_that_strace_counts() -> None:
    """`-z` prints no other calls, the table has all of them."""
    log = COUNTS / "staged.strace"
    expected = strace_tables.of_log(log)
    assert expected is not None
    succeeded = {name: (n - (errors or 0), 0) for name, (n, errors) in expected.items()}
    assert strace_tables.differences(succeeded, calls(log)) == []


def test_a_difference_is_seen() -> None:
    table = {"read": (2, 1), "close": (1, 0)}
    rows = [("read", "complete", None), ("read", "killed", None), ("exit", "complete", None)]
    assert strace_tables.differences(table, rows) == [
        "close: strace counts 1 (0 errors), rows 0 (0)",
        "read: strace counts 2 (1 errors), rows 1 (0)",
    ]


def test_tables_are_read_by_their_columns() -> None:
    text = b"""\
1 read(3, "", 1) = 0
System call usage summary for 32 bit mode:
% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
  0.00    0.000000           0         4         1 read
  -nan    0,000000           0        12           syscall_0x1b3
------ ----------- ----------- --------- --------- ----------------
100.00    0.000000           0        16         1 total
syscall          wall-avg     calls
---------------- -------- ---------
read             0.000001         3
---------------- -------- ---------
total            0.000001         3
"""
    first, second = strace_tables.tables(text)
    assert first == {"read": (4, 1), "syscall_0x1b3": (12, 0)}
    assert second == {"read": (3, None)}
    assert strace_tables.total([first, second])["read"] == (7, None)
