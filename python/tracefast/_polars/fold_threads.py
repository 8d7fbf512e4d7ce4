"""Several folds that take the same batches, on all processors."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from tracefast import _core
from tracefast._polars.source_threads import cores

if TYPE_CHECKING:
    from tracefast._polars.direct_read import Batches

# For so many folds it pays to find out first what each row says about tasks.
_FOLLOWING: Final = 2


def pushed_to_all(batches: "Batches", folds: Sequence[_core.Fold]) -> Iterator[None]:
    """Pass batches to folds: each is serial, but several run at once, outside of Python's lock.

    While the folds take some batches, the next ones are read: threads that find no fold left to run
    make batches.

    Parameters
    ----------
    batches
        Batches in order; None is passed over.
    folds
        Take all of them.

    Yields
    ------
    None
        From time to time, because a source that does not yield cannot be stopped.

    Examples
    --------
    >>> batches = _core.Reader(["demo.strace"])
    >>> folds = [_core.Files(), _core.Processes()]
    >>> for _ in pushed_to_all(batches, folds):
    ...     pass
    >>> [len(part) for fold in folds for part in fold.finish()]
    [2, 2]
    """
    threads = _threads(folds)
    rows = _task_rows(folds)
    for batch in batches:
        if batch is not None:
            more = batch if rows is None else rows.add_to(batch)
            while not threads.take(more):
                yield
        yield
    while not threads.end():
        yield


def pushed_from(file: str, folds: Sequence[_core.Fold]) -> Iterator[None]:
    """Pass the events of a Parquet file to folds, as `pushed_to_all` does, without Python's lock.

    Parameters
    ----------
    file
        Its name.
    folds
        Take all of them.

    Yields
    ------
    None
        From time to time, so that the caller can stop it.

    Raises
    ------
    OSError, ValueError, RuntimeError
        The file cannot be read in this way.

    Examples
    --------
    >>> import tracefast as tf
    >>> _ = tf.parse("demo.strace", "run.parquet")
    >>> folds = [_core.Files(), _core.Processes()]
    >>> for _ in pushed_from("run.parquet", folds):
    ...     pass
    >>> [len(part) for fold in folds for part in fold.finish()]
    [2, 2]
    """
    names = dict.fromkeys(name for fold in folds for name in fold.needed.names)
    events = _core.ParquetEvents(file, columns=list(names))
    threads = _threads(folds)
    rows = _task_rows(folds)
    while not threads.take_from(events, rows):
        yield
    while not threads.end():
        yield


def _threads(folds: Sequence[_core.Fold]) -> _core.FoldThreads:
    # More threads than processors would only take the caches of those from each other.
    return _core.FoldThreads(folds, min(len(folds), cores()))


def _task_rows(folds: Sequence[_core.Fold]) -> _core.TaskRows | None:
    """Find out what each row says about tasks, if several folds would do so for themselves."""
    follow = [fold for fold in folds if fold.follows_tasks]
    return None if len(follow) < _FOLLOWING else _core.TaskRows()


def expecting(folds: Sequence[object]) -> Callable[[], None]:
    """Let the fold of created tasks take the workers that another one finds; give what does so."""
    forks = [fold for fold in folds if isinstance(fold, _core.Forks)]
    workers = [fold for fold in folds if isinstance(fold, _core.Workers)]
    pairs = list(itertools.product(forks, workers[:1]))
    for fold, _ in pairs:
        fold.expect_workers()

    def take() -> None:
        for fold, found in pairs:
            fold.take_workers(found)

    return take
