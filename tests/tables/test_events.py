"""The table of events, and `tracefast events`."""

import json
import re
from collections import Counter, defaultdict

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import tracefast as tf


def expected_of(log):
    """Count the slow way: a row at a time."""
    counts, times, tasks, cpus, durations = (
        Counter(),
        defaultdict(list),
        defaultdict(set),
        defaultdict(set),
        defaultdict(list),
    )
    for row in pl.DataFrame(tf.read(log)).iter_rows(named=True):
        key = (row["kind"], row["name"])
        counts[key] += 1
        for column, of in (("ts", times), ("dur_ns", durations)):
            if row[column] is not None:
                of[key].append(row[column])
        for column, of in (("task", tasks), ("cpu", cpus)):
            if row[column] is not None:
                of[key].add(row[column])
    return {
        key: (
            count,
            min(times[key], default=None),
            max(times[key], default=None),
            len(tasks[key]) or None,
            len(cpus[key]) or None,
            sum(durations[key]) if durations[key] else None,
            sorted(durations[key])[(len(durations[key]) - 1) // 2] if durations[key] else None,
            max(durations[key], default=None),
        )
        for key, count in counts.items()
    }


def test_every_event_of_real_logs(spawn):
    table = tf.events(tf.scan(spawn)).drop("source").collect()
    expected = expected_of(spawn)
    found = {row[:2]: row[2:3] + row[4:] for row in table.iter_rows()}
    assert found == expected
    counts = table["count"].to_list()
    assert counts == sorted(counts, reverse=True)
    assert table["share"].sum() == pytest.approx(1)
    assert table["share"][0] == counts[0] / sum(counts)
    assert any(row[-1] for row in expected.values())
    assert any(row[-1] is None for row in expected.values())


def test_batches_are_added_up(make_events):
    rows = [
        {"name": "read", "ts": n, "dur_ns": n % 7, "task": n % 3, "cpu": n % 2} for n in range(1000)
    ]
    events = make_events(rows)
    once = tf.events(events).collect()
    batches = pl.concat([events[n : n + 90].lazy() for n in range(0, 1000, 90)])
    assert_frame_equal(tf.events(batches).collect(engine="streaming"), once)
    assert once.select("count", "tasks", "cpus", "dur_ns", "dur_p50_ns", "dur_max_ns").rows() == [
        (1000, 3, 2, sum(n % 7 for n in range(1000)), 3, 6)
    ]


def test_what_is_not_there_is_null_and_sources_are_apart(make_events):
    events = make_events(
        [
            {"name": "read", "task": 1, "dur_ns": 10},
            {"name": "read", "task": 2, "dur_ns": 30},
            {"name": "read", "task": 1},
            {"name": "read", "task": 1, "source": "other"},
            {"kind": "unparsed", "status": None},
            {"kind": "event", "name": "read", "cpu": 0},
        ]
    )
    table = tf.events(events).select(
        "source", "kind", "name", "count", "share", "tasks", "cpus", "dur_ns", "dur_p50_ns"
    )
    assert table.collect().rows() == [
        ("log", "syscall", "read", 3, 0.6, 2, None, 40, 10),
        ("log", "event", "read", 1, 0.2, None, 1, None, None),
        ("other", "syscall", "read", 1, 1.0, 1, None, None, None),
        ("log", "unparsed", None, 1, 0.2, None, None, None, None),
    ]
    assert tf.events(events.clear()).collect().height == 0


def test_command(run, spawn_ftrace, spawn_strace):
    def rows(*options):
        return [
            json.loads(line)
            for line in run("events", *options, "--format", "ndjson").stdout.splitlines()
        ]

    everything = rows(spawn_ftrace)
    expected = tf.events(tf.scan(spawn_ftrace)).collect()
    assert [row["count"] for row in everything] == expected["count"].to_list()
    assert list(everything[0]) == expected.columns[1:]
    matched = rows(spawn_ftrace, "--match", "sched_*")
    assert {row["kind"] for row in matched} == {"event"}
    assert matched == [row for row in everything if row["name"].startswith("sched_")]
    longest = rows(spawn_ftrace, "--sort", "dur_ns", "--top", "1")
    assert longest == [max(everything, key=lambda row: row["dur_ns"] or 0)]
    both = rows(spawn_strace, spawn_ftrace)
    assert {row["source"] for row in both} == {str(spawn_strace), str(spawn_ftrace)}
    counts = [row["count"] for row in both]
    assert counts == sorted(counts, reverse=True)


def test_shares_are_shown_in_hundredths(run, spawn_ftrace):
    header, first, *_ = run("events", spawn_ftrace).stdout.splitlines()
    assert header.split()[:3] == ["count", "%", "events"]
    assert re.fullmatch(r"\d+\.\d\d", first.split()[1])
    assert first.split()[-2:] == ["syscall", "rt_sigaction"]
