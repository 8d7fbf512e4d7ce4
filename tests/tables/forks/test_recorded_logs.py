"""Summary and advice for recorded logs of programs that start processes."""

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import tracefast as tf
from support.paths import DATA
from support.reference.fork_hints import hinted
from tracefast.analysis.forks.evidence import HINTS, ROWS, fork_rows
from tracefast.analysis.forks.summary import report
from tracefast.analysis.forks.table import SCHEMA
from tracefast.cli.screen.forks_report import render_report


@pytest.fixture(scope="module")
def logs():
    return DATA / "starting"


def summary_of(path, **options) -> dict:
    """Give the first row: what costs most."""
    return tf.fork_summary(tf.scan(path), **options).collect().row(0, named=True)


def advice_of(path) -> dict[str, dict]:
    return {row["code"]: row for row in tf.fork_advice(tf.scan(path)).collect().to_dicts()}


def test_a_hundred_subprocesses_of_python_3_7(logs):
    log = logs / "subprocess_python37.strace.zst"
    row = summary_of(log)
    assert (row["count"], row["failed"], row["kind"]) == (100, 0, "fork")
    assert row["image"] == "/bin/echo"
    assert 24_000_000 < row["call_p50_ns"] < 25_000_000
    assert 25_000_000 < row["exec_p50_ns"] < 26_000_000
    assert 25_000_000 < row["error_pipe_p50_ns"] < 26_000_000
    # All but nothing of 2.51 s in clone and 2.86 s in execve.
    assert 5_200_000_000 < row["saving_ns"] <= row["tax_ns"] < 5_400_000_000
    assert 0.5 < row["wall_share"] < 0.65
    advice = advice_of(log)
    assert set(advice) == {"page-table-copy", "error-pipe", "many-processes"}
    found = advice["page-table-copy"]
    assert "Python before 3.10 (here 3.7)" in found["what"]
    assert "Use Python 3.10 or newer" in found["remedy"]
    assert 5_000_000_000 < found["saving_low_ns"] <= found["saving_high_ns"] < 5_400_000_000
    assert "100 reads of that pipe" in advice["error-pipe"]["evidence"]


def test_a_parent_that_grows(logs):
    log = logs / "grow.strace.zst"
    row = summary_of(log)
    assert row["count"] == row["slope_points"] == 113
    assert 25_000 < row["slope_ns_per_mib"] < 45_000
    assert 0.8 < row["slope_r2"] < 0.95
    assert row["parent_anon_max_bytes"] == pytest.approx(2200 * 2**20, rel=0.1)
    found = advice_of(log)["page-table-copy"]
    assert "preexec_fn" in found["what"]
    assert "gettid" in found["what"]


def test_a_data_loader(logs):
    log = logs / "loader.strace.zst"
    row = summary_of(log)
    assert (row["count"], row["kind"], row["image"], row["in_flight_max"]) == (4, "fork", None, 2)
    assert row["saving_ns"] is None
    advice = advice_of(log)
    # Its own threads are started after its workers.
    assert set(advice) == {"fork-per-epoch"}
    assert advice["fork-per-epoch"]["evidence"].startswith("2 rounds of 2 forks")
    assert "persistent_workers=True" in advice["fork-per-epoch"]["remedy"]
    threads = tf.fork_summary(tf.scan(log), threads=True).collect()
    assert threads.filter(pl.col("kind") == "thread")["count"].sum() == 17


def test_a_lock_that_is_held_at_fork(logs):
    (found,) = advice_of(logs / "lockfork.strace.zst").values()
    assert found["code"] == "fork-with-threads"
    assert found["evidence"] == (
        "3 forks of 3, without an execve, with up to 2 threads alive in the parent; the first at"
        " line 1684"
    )


def test_vfork_is_not_advised_against(spawn_strace):
    rows = tf.fork_advice(tf.scan(spawn_strace).filter(pl.col("kind") == "syscall")).collect()
    assert "page-table-copy" not in rows["code"]


def test_rows_alone_know_no_causes(logs):
    events = tf.scan(logs / "grow.strace.zst")
    found = tf.fork_advice(tf.forks(events)).filter(pl.col("code") == "page-table-copy").collect()
    assert "the log does not show why" in found["what"].item()
    of_events = tf.fork_summary(events).collect()
    of_rows = tf.fork_summary(tf.forks(events)).collect()
    same = [name for name in of_events.columns if name.startswith(("call_", "exec_", "slope_"))]
    assert_frame_equal(of_rows.select(same), of_events.select(same))


@pytest.mark.parametrize("name", ["grow", "subprocess_python37", "loader"])
def test_hints_as_the_slow_way(logs, name):
    check_hints(tf.scan(logs / f"{name}.strace.zst"))


METHODS = ["fork", "spawn", "forkserver", "forkserver-preload"]


@pytest.mark.parametrize("method", METHODS)
def test_hints_about_workers(method):
    check_hints(tf.scan(DATA / "start-methods" / f"{method}.strace.zst"))


@pytest.mark.parametrize("method", METHODS)
def test_workers_by_each_start_method(method):
    events = tf.scan(DATA / "start-methods" / f"{method}.strace.zst")
    name = method.removesuffix("-preload")
    rows = fork_rows(events).filter(pl.col("worker_method").is_not_null()).collect()
    # Two workers and a manager. The resource tracker and the forkserver are neither.
    assert rows["worker_method"].to_list() == [name] * 3
    assert rows["in_pool"].to_list() == [False, True, True]
    advice = tf.fork_advice(events).filter(pl.col("code") == "re-imports").collect()
    if method == "forkserver-preload":
        assert advice.is_empty()
        return
    assert advice["evidence"].item().startswith(f"2 workers (start method {name}) opened")
    remedy = advice["remedy"].item()
    assert ("the forkserver has it" in remedy) == (method == "forkserver")
    assert ("start method forkserver" in remedy) == (method == "spawn")
    assert ("in the parent before it forks" in remedy) == (method == "fork")
    # They live as long as the pool.
    assert "live longer" not in remedy


def test_the_headline_says_what_it_takes_up_to_the_first_job():
    def headline(name):
        events = tf.scan(DATA / "workers" / f"{name}.strace.zst")
        text = render_report(report(fork_rows(events).collect()))
        return text.split("\n\n")[0].replace("\n", " ")

    assert "Until they waited for their first job, 6 workers (start method spawn) took" in (
        headline("pool_spawn")
    )
    assert "first job" not in headline("pool_fork")


@pytest.mark.parametrize("name", ["pool_fork", "pool_spawn", "pool_forkserver", "joblib_loky"])
def test_workers_are_ready_when_the_table_of_workers_says(name):
    events = tf.scan(DATA / "workers" / f"{name}.strace.zst")
    ready = fork_rows(events).filter("in_pool").collect()["child_ready_ns"]
    assert sorted(ready) == sorted(tf.workers(events).collect()["start_ns"])
    assert ready.null_count() == 0


def test_hints_of_every_form_of_log(spawn):
    check_hints(tf.scan(spawn))


def test_hints_of_many_programs(spawn_strace):
    demo = DATA / "demo.strace.zst"
    check_hints(tf.scan([demo, spawn_strace]))
    check_hints(tf.scan(demo).filter(pl.col("name") != "execve"))
    check_hints(tf.scan(demo).filter(pl.col("line") % 3 > 0))


def check_hints(events: pl.LazyFrame) -> None:
    fast = fork_rows(events).collect()
    assert fast.schema == ROWS
    order = ["source", "ts", "line", "child_pid"]
    slow = hinted(events)
    hints = [name for name in HINTS if name != "child_start"]
    assert_frame_equal(fast.select(SCHEMA.names()), tf.forks(events).collect())
    assert_frame_equal(
        fast.sort(order).select(*order, *hints), slow.sort(order).select(*order, *hints)
    )


def test_the_names_of_hints():
    from tracefast import _core

    assert pl.Schema(_core.Forks(hints=True).schema) == ROWS
