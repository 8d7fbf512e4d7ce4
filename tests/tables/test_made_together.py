"""Tables that are made in one pass, and share what is known about tasks, are the same as alone."""

import pytest

import tracefast as tf
from support.paths import DATA
from tracefast import _core
from tracefast._polars import folds
from tracefast._polars.folds import finished, fold_together, rows_of_fold, rows_of_folds

LOGS = [
    *(DATA / name for name in ("demo.strace.zst", "demo.ftrace.zst", "spawn/spawn.strace")),
    *sorted(log for log in (DATA / "stalls").glob("*trace*"))[:6],
    *sorted(log for log in (DATA / "workers").glob("*trace*"))[:6],
    *sorted((DATA / "golden").glob("*trace*.log"))[::9],
]
MAKERS = (
    _core.FailedCalls,
    _core.Processes,
    lambda: _core.Waits(min_ns=0),
    lambda: _core.Forks(hints=True),
    _core.Workers,
    _core.Files,
)


def tables(log, makers, monkeypatch, *, cores: int):
    monkeypatch.setattr(folds, "cores", lambda: cores)
    return rows_of_folds(finished(fold_together(tf.scan(log), makers, question="together")))


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.name)
def test_what_is_shared_changes_nothing(log, monkeypatch):
    shared = tables(log, MAKERS, monkeypatch, cores=1)
    for table, apart in zip(shared, tables(log, MAKERS, monkeypatch, cores=99), strict=True):
        assert table.equals(apart)
    # Whichever of them are asked for.
    for some in (MAKERS[:2], MAKERS[2:4], MAKERS[4::-2]):
        for table, whole in zip(tables(log, some, monkeypatch, cores=1), some, strict=True):
            assert table.equals(shared[MAKERS.index(whole)])


def test_folds_are_told_apart():
    made = [_core.Waits(min_ns=0), _core.Files(), _core.Waits(min_ns=1)]
    assert [_core.Together.takes(fold) for fold in made] == [True, False, True]
    together = _core.Together(made[:1])
    for batch in tf.read(DATA / "demo.strace.zst"):
        together.push(batch)
    together.end()
    assert rows_of_fold(made[0]).height > 0
    with pytest.raises(RuntimeError, match="already taken"):
        together.end()
    with pytest.raises(RuntimeError, match="already taken"):
        _core.Together(made[:1]).push(next(tf.read(DATA / "demo.strace.zst")))
