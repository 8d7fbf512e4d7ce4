"""Several folds that take the same batches, on all processors."""

from collections.abc import Iterator, Sequence

from tracefast import _core
from tracefast._polars.direct_read import Batches
from tracefast._polars.source_threads import cores


def pushed_to_all(batches: Batches, folds: Sequence[_core.Fold]) -> Iterator[None]:
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
    threads = _core.FoldThreads(folds, min(len(folds), cores()))
    for batch in batches:
        while batch is not None and not threads.take(batch):
            yield
        yield
    while not threads.end():
        yield
