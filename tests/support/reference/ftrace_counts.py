"""Compare tracefast's rows with what a slow, independent reader counts in the same logs, by hand.

`PYTHONPATH=tests python -m support.reference.ftrace_counts LOG…` prints each difference, and ends
with exit code 1 if there is any.
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from support.reference import ftrace_text

try:
    from tracefast._core import Reader
except ImportError:
    from _core import Reader

COLUMNS = ["kind", "name", "ret", "errno", "status", "extra"]


@dataclass
class Rows:
    """What tracefast made of a log."""

    frame: pl.DataFrame
    lines: int
    size: int
    accounting: dict[str, int]
    accounting_bytes: dict[str, int]
    oddities: dict[str, int]


def read(log: Path, columns: list[str] = COLUMNS) -> Rows:
    """Read columns of a log with tracefast."""
    with Reader([str(log)], format_in="ftrace", columns=columns) as reader:
        frame = pl.DataFrame(reader)
        report = reader.report
    return Rows(
        frame,
        report.lines,
        report.bytes,
        report.accounting,
        report.accounting_bytes,
        report.oddities,
    )


def pairs(expected: ftrace_text.Counts, frame: pl.DataFrame) -> list[str]:
    """Compare entries and exits of system calls, each with its own record."""
    calls = frame.filter(pl.col("kind") == "syscall")
    entered = Counter(calls.filter(pl.col("status") != "headless")["name"])
    # A call that was interrupted has an error, and no value.
    left = pl.col("ret").is_not_null() | pl.col("errno").is_not_null()
    exited = Counter(calls.filter(left)["name"])
    by_name = all(isinstance(name, str) for name in expected.entered | expected.exited)
    if by_name:
        return [
            f"{half} {name}: {wanted[name]} records, {found[name]} rows"
            for half, wanted, found in (
                ("enter", expected.entered, entered),
                ("exit", expected.exited, exited),
            )
            for name in sorted({*wanted, *found}, key=str)
            if wanted[name] != found[name]
        ]
    # Numbers have names in the rows: how often each comes is the same.
    wanted = sorted(shape(expected.entered, expected.exited))
    found = sorted(shape(entered, exited))
    return [] if wanted == found else [f"calls by number: {wanted} records, {found} rows"]


def shape(entered: Counter, exited: Counter) -> list[tuple[int, int]]:
    """Return how often each call is entered and left."""
    return [(entered[name], exited[name]) for name in {*entered, *exited}]


def differences(expected: ftrace_text.Counts, rows: Rows) -> list[str]:
    """Return what differs, in words."""
    frame = rows.frame.with_columns(pl.col("kind", "name", "status").cast(pl.String))
    uses = rows.accounting
    lost = frame.filter(pl.col("kind") == "lost")["ret"].to_list()
    others = frame.filter(pl.col("kind").is_in(["event", "marker", "function"]))
    stacks = others.filter(pl.col("name").is_in(["kernel_stack", "user_stack"]))
    # They are counted with the record whose stack it is.
    frames = frame["extra"].str.count_matches(r"(?m)^ ?=> ").sum()
    checks = [
        ("lines", expected.lines, rows.lines),
        ("bytes", expected.size, rows.size),
        ("lines by use", expected.lines, sum(uses.values())),
        ("bytes by use", expected.size, sum(rows.accounting_bytes.values())),
        (
            "records and notes of lost ones",
            expected.records - expected.shared + len(expected.lost),
            uses["events"] + uses["resumed"],
        ),
        ("records on another's line", expected.shared, rows.oddities["shared_lines"]),
        ("lost", expected.lost, lost),
        ("stacks", expected.stacks, stacks.height),
        ("frames", expected.frames, frames),
        ("header lines", expected.header, uses["header"]),
        # Blank lines within a text are either.
        (
            "blank and continued lines",
            expected.blank + expected.continued,
            uses["blank"] + uses["continuation"],
        ),
        ("lines not understood", len(expected.unread), uses["unparsed"]),
    ]
    found = Counter(others.select("kind", "name").iter_rows())
    checks += [
        (f"{kind} {name}", expected.events[kind, name], found[kind, name])
        for kind, name in sorted({*expected.events, *found}, key=str)
    ]
    differences = [
        f"{what}: {want} in the text, {got} in the rows"
        for what, want, got in checks
        if want != got
    ]
    return differences + pairs(expected, frame)


def main() -> int:
    """Compare all logs that are named."""
    failed = 0
    logs = [Path(name) for name in sys.argv[1:]]
    for log in logs:
        try:
            found = differences(ftrace_text.count(log.read_bytes()), read(log))
        except ValueError as error:
            found = [str(error)]
        if found:
            failed += 1
            print(log, *found, sep="\n  ")
    print(f"{len(logs)} compared, {failed} differ")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
