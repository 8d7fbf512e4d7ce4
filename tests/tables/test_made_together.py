"""Tables that are made in one pass are the same as alone."""

import time

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


class Takes:
    """A fold that takes its time, or fails."""

    def __init__(self, pause=0.0, fails_at=None):
        self.taken, self._pause, self._fails_at = [], pause, fails_at

    def push(self, batch):
        time.sleep(self._pause)
        if len(self.taken) == self._fails_at:
            raise ValueError("it failed")
        self.taken.append(batch)


def test_all_take_everything_in_order_however_slow_one_is():
    folds = [Takes(), Takes(pause=0.002), Takes()]
    given = 0

    def batches():
        nonlocal given
        for number in range(50):
            # What waits for the slow one is bounded.
            assert number - len(folds[1].taken) <= 16
            given += 1
            yield None if number == 7 else number

    for _ in pushed_to_all(batches(), folds):
        pass
    assert given == 50
    for fold in folds:
        assert fold.taken == [number for number in range(50) if number != 7]


@pytest.mark.parametrize("at", [0, 5, 48])
def test_an_error_of_one_is_raised(at):
    with pytest.raises(ValueError, match="it failed"):
        for _ in pushed_to_all(iter(range(49)), [Takes(), Takes(fails_at=at)]):
            pass
