"""Several logs at a time in threads: how many, how far they are, their results in order."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Any, Final, TypeVar

from tracefast import _core
from tracefast._polars.source_threads import PATIENCE_S, cores

T = TypeVar("T")

# More threads hardly help with one log, because some of its work is done in order.
_THREADS_A_LOG: Final = 4


def shares(logs: int, jobs: int | None, threads: int | None) -> tuple[int, int]:
    """Share the cores among logs: say how many at a time, and with how many threads each.

    Parameters
    ----------
    logs
        Number of logs.
    jobs, threads
        What the caller asked for; None to choose.

    Examples
    --------
    >>> shares(100, 1000, None)
    (100, 1)
    """
    have = cores()
    chosen = jobs or max(have // (threads or _THREADS_A_LOG), 1)
    chosen = max(min(chosen, logs), 1)
    return chosen, threads or max(have // chosen, 1)


class BatchProgress:
    """Counters over all logs, to poll from another thread; bytes are those of the files.

    Parameters
    ----------
    logs
        The inputs of each log.
    """

    def __init__(self, logs: Sequence[Sequence[str]]) -> None:
        self._logs = logs
        self._sizes: list[int] | None = None
        self.each = [_core.Progress() for _ in logs]
        self.finished = [False for _ in logs]

    @property
    def bytes_total(self) -> int:
        """Bytes of all files."""
        if self._sizes is None:
            # Most commands have one log, and start faster without.
            from tracefast.batch.plan import files_of

            self._sizes = [sum(map(_size, files_of(inputs))) for inputs in self._logs]
        return sum(self._sizes)

    @property
    def bytes_read(self) -> int:
        """Bytes read so far, or known to need no reading."""
        sizes = self._sizes or [0] * len(self.each)
        return sum(
            size if finished else progress.bytes_read
            for size, finished, progress in zip(sizes, self.finished, self.each, strict=True)
        )


def _size(file: str) -> int:
    try:
        return os.stat(file).st_size  # noqa: PTH116 - there may be many
    except OSError:
        return 0


def in_order(
    work: Callable[[int], T], logs: int, jobs: int, progress: BatchProgress
) -> Iterator[T]:
    """Work on logs, several at a time in threads; give the results in the order of the logs.

    Parameters
    ----------
    work
        Called with the number of each log.
    logs, jobs
        How many there are, and how many at a time.
    progress
        Their counters; what runs is cancelled when the results are not taken to the end.
    """
    if jobs == 1:
        for index in range(logs):
            yield work(index)
            progress.finished[index] = True
        return
    with (
        ThreadPoolExecutor(jobs, thread_name_prefix="tracefast") as executor,
        cancelled_at_the_end() as futures,
    ):
        try:
            for index in range(logs):
                futures[executor.submit(work, index)] = index
            while futures:
                # Futures that were taken are dropped, or the results would stay in memory.
                index, result = _first_of(futures)
                progress.finished[index] = True
                yield result
        except BaseException:
            for one in progress.each:
                one.cancel()
            raise


def _first_of(futures: "dict[Future[T], int]") -> tuple[int, T]:
    """Wait for the first future, take it out, and give its result; look for signals meanwhile."""
    first = next(iter(futures))
    while not first.done():
        wait([first], timeout=PATIENCE_S)
    return futures.pop(first), first.result()


@contextmanager
def cancelled_at_the_end() -> "Iterator[dict[Future[Any], int]]":
    """Cancel jobs that have not started when the block is left early."""
    futures: dict[Future[Any], int] = {}
    try:
        yield futures
    finally:
        for future in futures:
            future.cancel()
