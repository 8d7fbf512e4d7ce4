"""Several folds that take the same batches, on all processors."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Condition
from typing import Final, Protocol

from tracefast import _core
from tracefast._polars.direct_read import Batches
from tracefast._polars.source_threads import PATIENCE_S, cores

# Batches that a fold takes in one go.
_TOGETHER: Final = 4
# So many of these wait for the slowest fold at most: a faster one need not wait for it each time.
_AHEAD: Final = 3


class _Takes(Protocol):
    """A fold."""

    def push(self, events: _core.Batch) -> None:
        """Add events."""


class _Lane:
    """A fold, and what it takes next, in order."""

    def __init__(self, fold: _Takes) -> None:
        self.fold = fold
        self.groups: deque[list[_core.Batch]] = deque()


class _Lanes:
    """Folds, each of which takes everything in order, in one thread at a time."""

    def __init__(self, folds: Sequence[_Takes], pool: ThreadPoolExecutor) -> None:
        self._lanes = [_Lane(fold) for fold in folds]
        self._pool = pool
        self._changed = Condition()
        self._error: BaseException | None = None

    def take(self, group: list[_core.Batch]) -> Iterator[None]:
        """Give batches to all folds, once the slowest one is not far behind."""
        yield from self._until(lambda longest: longest < _AHEAD)
        with self._changed:
            for lane in self._lanes:
                lane.groups.append(group)
                if len(lane.groups) == 1:
                    self._pool.submit(self._run, lane)

    def end(self) -> Iterator[None]:
        """Wait until all folds have taken everything."""
        yield from self._until(lambda longest: longest == 0)

    def _until(self, ready: Callable[[int], bool]) -> Iterator[None]:
        while True:
            with self._changed:
                if self._error is not None:
                    raise self._error
                if ready(max(len(lane.groups) for lane in self._lanes)):
                    return
                self._changed.wait(PATIENCE_S)
            yield

    def _run(self, lane: _Lane) -> None:
        try:
            for batch in lane.groups[0]:
                lane.fold.push(batch)
        except BaseException as error:  # noqa: BLE001 - raised again where the caller waits
            with self._changed:
                self._error = error
                self._changed.notify()
            return
        with self._changed:
            lane.groups.popleft()
            if lane.groups:
                # Behind those of the other folds.
                self._pool.submit(self._run, lane)
            self._changed.notify()


def pushed_to_all(batches: Batches, folds: Sequence[_Takes]) -> Iterator[None]:
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
    # More threads than processors would only take the caches of those from each other.
    threads = min(len(folds), cores())
    with ThreadPoolExecutor(threads, thread_name_prefix="tracefast-fold") as pool:
        lanes = _Lanes(folds, pool)
        group: list[_core.Batch] = []
        for batch in batches:
            if batch is not None:
                group.append(batch)
            if len(group) == _TOGETHER:
                yield from lanes.take(group)
                group = []
            yield
        yield from lanes.take(group)
        yield from lanes.end()
