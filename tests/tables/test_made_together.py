"""Tables that are made in one pass are the same as alone."""

import polars as pl
import pytest

import tracefast as tf
from support.paths import DATA
from tracefast import _core
from tracefast._polars.fold_threads import pushed_to_all
from tracefast._polars.folds import finished, fold_together, rows_of_folds

LOGS = [
    *(DATA / name for name in ("demo.strace.zst", "demo.ftrace.zst", "spawn/spawn.strace")),
    *sorted(log for log in (DATA / "stalls").glob("*trace*"))[:6],
    *sorted(log for log in (DATA / "workers").glob("*trace*")),
    *sorted((DATA / "golden").glob("*trace*.log"))[::9],
]
MAKERS = (
    _core.FailedCalls,
    _core.Processes,
    lambda: _core.Waits(min_ns=0),
    lambda: _core.Forks(hints=True),
    _core.Workers,
    _core.Files,
    _core.Flow,
    lambda: _core.Syscalls(by="process"),
)


def tables(events, *makers):
    return rows_of_folds(finished(fold_together(events, makers, question="together")))


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.name)
def test_what_is_made_together_is_the_same(log):
    events = tf.scan(log)
    together = tables(events, *MAKERS)
    for table, make in zip(together, MAKERS, strict=True):
        assert table.equals(*tables(events, make))


def test_workers_of_several_logs_are_told_apart():
    names = "demo.ftrace.zst", "workers/pool_spawn.strace.zst", "workers/train_fork.strace.zst"
    events = tf.scan([DATA / name for name in names])
    forks, workers = tables(events, MAKERS[3], _core.Workers)
    assert forks.equals(*tables(events, MAKERS[3]))
    assert forks["in_pool"].sum() > 0
    assert workers.height > 0


def test_what_was_taken_has_no_workers():
    forks, workers = _core.Forks(hints=True), _core.Workers()
    forks.expect_workers()
    workers.finish()
    with pytest.raises(RuntimeError, match="already taken"):
        forks.take_workers(workers)


def calls(fold):
    (part,) = fold.snapshot()
    return pl.DataFrame(part)["calls"].sum()


def long_line(folder):
    log = folder / "long.strace"
    call = f'write(1, "{"a" * (64 << 20)}", 67108864) = 67108864 <0.000001>'
    log.write_text(f"7 1.0 close(3) = 0 <0.000001>\n7 1.1 {call}\n")
    return log


@pytest.mark.parametrize("long", [False, True])
def test_all_take_everything_and_what_waits_is_bounded(tmp_path, long):
    log = long_line(tmp_path) if long else DATA / "demo.strace.zst"
    batch = next(_core.Reader([str(log)]))
    # Groups of 16, or of 256 MB: two of them wait while the next one comes together.
    most = 12 if long else 48
    whole = _core.Syscalls()
    whole.push(batch)
    in_batch = calls(whole)
    folds = [_core.Syscalls(), _core.Files(), _core.Syscalls(by="process")]
    given = 0

    def batches():
        nonlocal given
        for number in range(200):
            for fold in folds[::2]:
                assert given - calls(fold) / in_batch <= most
            given += number != 7
            yield None if number == 7 else batch

    for _ in pushed_to_all(batches(), folds):
        pass
    assert given == 199
    assert [calls(fold) for fold in folds[::2]] == [199 * in_batch] * 2


def test_folds_can_be_dropped_before_the_end():
    batch = next(_core.Reader([str(DATA / "demo.strace.zst")]))
    folds = [_core.Files(), _core.Waits(min_ns=0)]
    passing = pushed_to_all((batch for _ in range(1000)), folds)
    for _ in range(20):
        next(passing)
    passing.close()
    del passing
    # Their threads have ended, or they could not give their tables.
    assert all(fold.finish() for fold in folds)


@pytest.mark.parametrize("good", [0, 5, 48])
def test_an_error_of_one_is_raised(good):
    log = str(DATA / "demo.strace.zst")
    whole, part = next(_core.Reader([log])), next(_core.Reader([log], columns=["name"]))
    batches = [whole] * good + [part] * (49 - good)
    with pytest.raises(ValueError, match=r"the column '.*' is missing"):
        for _ in pushed_to_all(iter(batches), [_core.Files(), _core.Processes()]):
            pass


def test_a_table_that_was_taken_takes_no_events():
    batch = next(_core.Reader([str(DATA / "demo.strace.zst")]))
    taken = _core.Files()
    taken.finish()
    with pytest.raises(RuntimeError, match="already taken"):
        for _ in pushed_to_all(iter([batch]), [_core.Processes(), taken]):
            pass
