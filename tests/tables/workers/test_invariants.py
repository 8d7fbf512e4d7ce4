"""What holds for workers of any log: real ones, cut anywhere, and with rows left out."""

from functools import cache

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tracefast as tf
from support.folding import check_cuts, summed
from support.paths import DATA
from tracefast import _core
from tracefast.analysis.workers.batches import batches_of
from tracefast.analysis.workers.pools import pools_of

NAMES = ["pool_fork", "pool_forkserver", "kept_fork", "resized_fork", "gunicorn", "nginx", "make"]


@cache
def events(name):
    return tf.scan(DATA / "workers" / f"{name}.strace.zst").collect()


def check(log):
    """Check what holds for each worker, and for the tables that follow."""
    table = summed(_core.Workers(), log)
    read = pl.col("read_bytes")
    broken = table.filter(
        pl.col("start_ns").lt(0)
        | pl.col("wait_ns").lt(0)
        | pl.col("busy_ns").lt(0)
        | (pl.col("read_shared_bytes") > read)
        | (read.gt(0) & pl.col("files").eq(0))
        | (pl.col("start_ns").is_not_null() & pl.col("modules").is_null())
        | pl.col("anon_growth_bytes").lt(0)
        | (pl.col("anon_once_bytes") > pl.col("anon_growth_bytes"))
        | pl.min_horizontal("anon_once_bytes", "anon_per_phase_bytes", "anon_per_job_bytes").lt(0)
        | (pl.col("anon_peak_bytes") - pl.col("anon_start_bytes") != pl.col("anon_growth_bytes"))
        | (pl.col("exit_status").is_not_null() & pl.col("exit_signal").is_not_null())
    )
    assert broken.is_empty()
    # A process waits, or does not, for as long as it lives: until the end of the log, at most.
    ends = log.select((pl.col("ts") + pl.duration(nanoseconds=pl.col("dur_ns").fill_null(0))).max())
    lives = (ends.item() - pl.col("ts_start")).dt.total_nanoseconds() + 1_000
    assert table.filter(pl.col("busy_ns") + pl.col("wait_ns") > lives).is_empty()
    assert table.select("source", "task").is_duplicated().sum() == 0
    pools = pools_of(table.lazy()).collect()
    assert pools["workers"].sum() == table.height
    assert pools.filter(pl.col("read_shared_bytes") > read).is_empty()
    assert pools.filter(pl.col("saving_low_ns") > pl.col("saving_high_ns")).is_empty()
    assert pools.filter(pl.col("saving_high_ns") > pl.col("start_sum_ns")).is_empty()
    batches = batches_of(table.lazy()).collect()
    assert batches.filter(pl.col("wait_ns") < 0).is_empty()
    assert set(batches["worker_pid"]) <= set(table["pid"])


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_of_logs_that_are_cut(name, data):
    log = events(name)
    start = data.draw(st.sampled_from([0, 0, log.height // 3, log.height // 2]))
    check(log[start : data.draw(st.integers(start + 1, log.height))])


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_of_logs_that_lack_rows(name, data):
    log = events(name)
    missing = data.draw(st.sets(st.sampled_from(sorted(set(log["name"].drop_nulls()))), max_size=6))
    check(log.filter(~pl.col("name").cast(pl.String).is_in(list(missing))))


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=10, deadline=None)
@given(cuts=st.lists(st.integers(0, 5000), max_size=6))
def test_batches_of_events_do_not_matter(name, cuts):
    check_cuts(_core.Workers, events(name), cuts)


@pytest.mark.parametrize("name", ["pool_fork", "pool_forkserver", "pool_spawn"])
def test_each_job_gives_a_batch(name):
    scan = tf.scan(DATA / "workers" / f"{name}.strace.zst")
    jobs = tf.workers(scan).select("pid", "jobs").filter(pl.col("jobs") > 0).collect()
    counts = tf.batches(scan).group_by("worker_pid").len().collect()
    assert dict(counts.iter_rows()) == dict(jobs.iter_rows())
