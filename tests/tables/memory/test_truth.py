"""The table of memory against what a program read in /proc after each of its steps."""

import re
from bisect import bisect

import polars as pl
import pytest

import tracefast as tf
from support.paths import DATA

MIB = 1 << 20
PAGE = 4096
KINDS = ("anon", "file", "shm")


def steps(log: str) -> dict[str, tuple[dict[str, int], dict[str, int]]]:
    """Give by step what the program had, and what the table says about that moment."""
    events = tf.scan(DATA / "memory" / log)
    table = tf.memory(events).with_columns(pl.col("ts").cast(pl.Int64)).collect()
    rows: dict[int, list[dict]] = {}
    for row in table.iter_rows(named=True):
        rows.setdefault(row["pid"], []).append(row)
    told = events.filter(pl.col("args").str.contains("step ")).select(
        pl.col("ts").cast(pl.Int64), "args"
    )
    found = {}
    for ts, args in told.collect().iter_rows():
        step = re.search(r"step (\S+) pid=(\d+) anon=(\d+) file=(\d+) shm=(\d+)", args)
        if step is None:
            continue
        history = rows[int(step[2])]
        row = history[bisect(history, ts, key=lambda row: row["ts"]) - 1]
        truth = dict(zip(KINDS, map(int, step.groups()[2:]), strict=True))
        found[step[1]] = (truth, {kind: row[f"{kind}_bytes"] for kind in KINDS})
    assert len(found) == 11
    return found


def test_ftrace_has_what_was_resident():
    for name, (truth, said) in steps("steps.ftrace.zst").items():
        # The reading itself takes some pages, before and after each file.
        for kind in KINDS:
            assert said[kind] == pytest.approx(truth[kind], abs=4 * PAGE), (name, kind)


def test_strace_has_what_may_be_resident():
    found = steps("steps.strace.zst")
    for name, (truth, said) in found.items():
        # What execve itself maps is not in the log: the stack, and the program's data.
        assert said["anon"] >= truth["anon"] - MIB // 4, name
        assert said["shm"] >= truth["shm"], name
    # Untouched memory counts, too, and so does what was given back.
    difference = {
        (one, other): tuple(
            round((found[other][1][kind] - found[one][1][kind]) / MIB, 1) for kind in KINDS
        )
        for one, other in [
            ("start", "mapped-8-MiB"),
            ("mapped-8-MiB", "touched-8-MiB"),
            ("touched-8-MiB", "shared-4-MiB"),
            ("shared-4-MiB", "memfd-1-MiB"),
            ("memfd-1-MiB", "file-2-MiB"),
            ("file-2-MiB", "child-start"),
            ("child-start", "child-6-MiB"),
            ("file-2-MiB", "gave-back-4-MiB"),
            ("gave-back-4-MiB", "unmapped"),
        ]
    }
    assert list(difference.values()) == [
        (8, 0, 0),
        (0, 0, 0),
        (0, 0, 4),
        (0, 0, 1),
        (0, 2, 0),
        (0, 0, 0),
        (6, 0, 0),
        (0, 0, 0),
        (-8, -2, 0),
    ]


@pytest.mark.parametrize("log", ["steps.strace.zst", "steps.ftrace.zst"])
def test_all_is_given_back_at_the_end(log):
    table = tf.memory(tf.scan(DATA / "memory" / log)).collect()
    last = table.group_by("pid", maintain_order=True).last()
    assert last.height == 3
    assert last.select("anon_bytes", "file_bytes", "shm_bytes").sum().row(0) == (0, 0, 0)
    sources = {"steps.strace.zst": "mappings", "steps.ftrace.zst": "rss_stat"}
    assert table["from"].unique().to_list() == [sources[log]]
    images = table["image"].drop_nulls().unique().sort().to_list()
    assert images == ["/bin/true", "/usr/bin/python3"]
