"""What is said of changes: what they have in common, what is new, what is gone."""

import polars as pl
import pytest

from tracefast.analysis.compare.diff import SCHEMA
from tracefast.cli.screen.compare.changes_in_words import in_words
from tracefast.cli.screen.compare.diff_report import Report, how_sure, largest, render

MS = 1_000_000


def changes(*rows):
    """Make changes of (table, key, measure, before, after, only_in)."""
    made = [
        {
            "table": table,
            "key": key,
            "measure": measure,
            "unit": "ns" if measure.endswith("_ns") else "bytes" if "bytes" in measure else None,
            "before": before,
            "after": after,
            "change": after - before,
            "ratio": after / before if before else None,
            "only_in": only[0] if only else None,
            "before_runs": 1,
            "after_runs": 1,
        }
        for table, key, measure, before, after, *only in rows
    ]
    return pl.DataFrame(made, schema=SCHEMA)


def test_the_example():
    cached = [
        ("files", f"/lib/{folder}/{name}.pyc", "opens", 2, 0, "before")
        for folder in ("a", "b", "c", "d")
        for name in range(853)
    ]
    made = changes(
        ("syscalls", "execve", "total_ns", 1000 * MS, 200 * MS),
        *cached,
        ("files", "/srv/model.bin", "reads", 0, 512, "after"),
    )
    assert in_words(made) == [
        "after: 800 ms less in execve, 6,824 fewer opens of *.pyc",
        "new: 512 reads of /srv/model.bin",
    ]


def test_sleep_is_no_time_in_calls_and_is_said():
    made = changes(
        ("syscalls", "clock_nanosleep", "total_ns", 0, 400 * MS, "after"),
        ("syscalls", "clock_nanosleep", "wait_ns", 0, 400 * MS, "after"),
        ("waits", "/opt/my app clock_nanosleep timer", "dur_ns", 0, 400 * MS, "after"),
        ("waits", "/opt/my app clock_nanosleep timer", "count", 0, 2, "after"),
        ("waits", "/bin/sh read pipe", "dur_ns", 0, 300 * MS, "after"),
    )
    assert in_words(made) == ["after: 400 ms more sleep of /opt/my app"]


@pytest.mark.parametrize(
    ("paths", "words"),
    [
        (["/a/x.h"], "1 fewer open of /a/x.h"),
        (["/a/x.h", "/a/y.c"], "2 fewer opens in /a"),
        (["/a/x.h", "/b/y.h"], "2 fewer opens of *.h"),
        (["/a/x.h", "/a/y.h"], "2 fewer opens in /a"),
    ],
)
def test_what_changes_have_in_common(paths, words):
    made = changes(*(("files", path, "opens", 1, 0) for path in paths))
    assert in_words(made) == [f"after: {words}"]


def test_a_folder_that_is_gone_is_named_with_all_below_it():
    names = ["part.h", "bits/types.h", "bits/time.h", "sys/a.h", "sys/b.h", "gnu/stubs.h"]
    gone = [("files", f"/srv/old/{name}", "opens_failed", 12, 0, "before") for name in names]
    made = changes(
        *gone,
        ("files", "/srv/new/part.h", "opens_failed", 12, 11),
        ("totals", "files", "opens_failed", 300, 227),
    )
    assert in_words(made) == [
        "in total: 73 fewer failed opens",
        "after: 72 fewer failed opens below /srv/old",
    ]
    # Of many runs, a total may be sure, and its parts not.
    assert in_words(made.filter(table="totals"), made) == [
        "in total: 73 fewer failed opens (72 below /srv/old)"
    ]
    made = changes(*gone, ("totals", "files", "opens_failed", 300, 228))
    assert in_words(made.filter(table="totals"), made) == [
        "in total: 72 fewer failed opens (all below /srv/old)"
    ]
    few = changes(*gone[:2], ("totals", "files", "opens_failed", 300, 227))
    assert in_words(few.filter(table="totals"), few) == ["in total: 73 fewer failed opens"]


def test_time_spent_waiting_for_others_is_not_that_of_the_call():
    made = changes(
        ("syscalls", "wait4", "total_ns", 900 * MS, 100 * MS),
        ("syscalls", "wait4", "wait_ns", 900 * MS, 100 * MS),
        ("syscalls", "read", "total_ns", 10 * MS, 30 * MS),
    )
    assert in_words(made) == ["after: 20.0 ms more in read"]


def test_bytes_and_processes():
    made = changes(
        ("files", "/a", "read_bytes", 1 << 20, 3 << 20),
        ("processes", "/bin/sh", "count", 2, 0, "before"),
    )
    assert in_words(made) == [
        "after: 2.0 MiB more read from /a",
        "gone: 2 processes of /bin/sh",
    ]


def test_the_whole_run_comes_first():
    made = changes(
        ("totals", "run", "wall_ns", 1000 * MS, 600 * MS),
        ("totals", "files", "opens_failed", 14, 2),
        ("totals", "files", "read_bytes", 0, 3 << 20),
        ("totals", "processes", "count", 3, 2),
        ("totals", "files", "opens", 1, 2),
        # Less than a hundredth.
        ("totals", "syscalls", "calls", 100_000, 99_999),
        ("files", "/a", "opens_failed", 12, 0),
    )
    assert in_words(made) == [
        "in total: 400 ms less run time, 12 fewer failed opens, 1 fewer process, 3.0 MiB more read",
        "after: 12 fewer failed opens of /a",
    ]
    assert largest(made, 3)["table"].to_list() == ["files"]
    assert largest(made.filter(table="totals"), 2).height == 2


def test_names_cannot_move_the_cursor():
    made = changes(("files", "/a\x1b[2J", "opens", 1, 0))
    text = render(Report(made, (1, 1), ()), width=80, top=10)
    assert "\x1b" not in text
    assert r"/a\33[2J" in text


def test_the_largest_changes_of_each_unit_have_room():
    made = changes(
        *(("syscalls", f"a{n}", "total_ns", 0, MS) for n in range(20)),
        *(("syscalls", f"a{n}", "bytes", 0, 100) for n in range(20)),
        *(("syscalls", f"a{n}", "calls", 0, 100) for n in range(2)),
    )
    shown = largest(made, 10)
    assert shown["measure"].value_counts().sort("measure").rows() == [
        ("bytes", 4),
        ("calls", 2),
        ("total_ns", 4),
    ]


def test_how_sure_it_is_depends_on_the_runs():
    unsure = changes(("files", "/a", "opens", 1, 0)).with_columns(sure=False, p=pl.lit(0.0286))
    assert how_sure(Report(unsure, (3, 9), ())).startswith("3 and 9 runs cannot tell")
    text = how_sure(Report(unsure, (4, 4), (20, 3)))
    assert text.startswith("4 and 4 runs, 23 comparisons: no difference is sure; with so many")
    assert "6 runs on each side" in text
    assert how_sure(Report(unsure, (8, 8), (20, 3))).endswith("no difference is sure")
