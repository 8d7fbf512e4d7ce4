"""Folds that take the events of a file while what asks for their tables is imported."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from threading import Thread
from typing import Final

from tracefast import _core
from tracefast._polars.fold_threads import expecting, pushed_from

# How long to wait before yielding.
_PATIENCE_S: Final = 0.05


class FoldsAhead:
    """A pass over the events of a Parquet file, which has started.

    Parameters
    ----------
    file
        Its name: one that `tracefast.parse` wrote.
    folds
        Make the folds, by name.

    Examples
    --------
    >>> import tracefast as tf
    >>> _ = tf.parse("demo.strace", "run.parquet")
    >>> ahead = FoldsAhead("run.parquet", {"files": _core.Files, "tasks": _core.TaskTally})
    >>> for _ in ahead.wait():
    ...     pass
    >>> [len(part) for part in ahead.take()["files"].finish()]
    [2]
    >>> ahead.take() is None
    True
    """

    def __init__(self, file: str, folds: Mapping[str, Callable[[], _core.Fold]]) -> None:
        self._file = file
        self._made: dict[str, _core.Fold] | None = None
        self._stop = False
        started = {name: new() for name, new in folds.items()}
        self._thread = Thread(target=self._run, args=[started])
        self._thread.start()

    def _run(self, started: dict[str, _core.Fold]) -> None:
        folds = list(started.values())
        take_over = expecting(folds)
        # What reads the file instead says what is wrong with it.
        with suppress(OSError, ValueError, RuntimeError):
            for _ in pushed_from(self._file, folds):
                if self._stop:
                    return
            take_over()
            self._made = started

    def wait(self) -> Iterator[None]:
        """Wait for the end of the pass; yields from time to time: the caller may stop it."""
        while self._thread.is_alive():
            self._thread.join(_PATIENCE_S)
            yield

    def take(self) -> Mapping[str, _core.Fold] | None:
        """Give the folds that have all events, once; None if the file has to be read otherwise."""
        made, self._made = self._made, None
        return made

    def close(self) -> None:
        """Stop the pass, if it is not over."""
        self._stop = True
        self._thread.join()
