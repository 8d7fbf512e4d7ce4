"""Run jobs in threads of this process, or in an executor of the caller."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from typing import Any, Protocol

from tracefast import _core
from tracefast._polars.source_threads import PATIENCE_S
from tracefast.batch.job import Job, fail, run
from tracefast.batch.manifest import Record
from tracefast.batch.plan import files_of

# More threads hardly help with one log, because some of its work is done in order.
_THREADS_A_LOG = 4


class Executor(Protocol):
    """The interface of the executors of `concurrent.futures`, and of a Dask client."""

    def submit(self, fn: Callable[..., Any], /, *args: Any) -> Any:  # noqa: ANN401 - theirs
        """Start to call a function, and return a future for its result."""


Submit = Callable[[int, Job], "Future[Record]"]


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
    cores = _cores()
    chosen = jobs or max(cores // (threads or _THREADS_A_LOG), 1)
    chosen = max(min(chosen, logs), 1)
    return chosen, threads or max(cores // chosen, 1)


def _cores() -> int:
    """Count the cores that this process may use: those that a batch queue gave it."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class BatchProgress:
    """Counters over all jobs, to poll from another thread; bytes are those of the files."""

    def __init__(self, jobs: Sequence[Job]) -> None:
        self._jobs = jobs
        self._sizes: list[int] | None = None
        self.each = [_core.Progress() for _ in jobs]
        self.finished = [False for _ in jobs]

    @property
    def bytes_total(self) -> int:
        """Bytes of all files."""
        if self._sizes is None:
            self._sizes = [sum(map(_size, files_of(job.log.inputs))) for job in self._jobs]
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


def local(jobs: Sequence[Job], workers: int, progress: BatchProgress) -> list[Record]:
    """Run jobs in threads of this process; an interrupt stops them at once.

    The parser does not hold the GIL, so threads run in parallel.
    """
    with ThreadPoolExecutor(workers, thread_name_prefix="tracefast") as executor:

        def submit(index: int, job: Job) -> "Future[Record]":
            return executor.submit(run, job, progress.each[index])

        try:
            return _collect(jobs, submit, progress)
        except BaseException:
            for one in progress.each:
                one.cancel()
            raise


def handed_out(jobs: Sequence[Job], executor: Executor, progress: BatchProgress) -> list[Record]:
    """Run jobs in an executor, or with a Dask client.

    Raises
    ------
    TypeError
        It is neither.
    """
    # A client of Dask gives futures of its own, takes options with the arguments, and remembers
    # results by arguments. The executor that it makes has the interface of all others.
    if callable(make := getattr(executor, "get_executor", None)):
        executor = make(pure=False)
    if not callable(getattr(executor, "submit", None)):
        raise TypeError(
            "executor must be one of concurrent.futures, or a dask.distributed.Client, "
            f"got {type(executor).__name__}"
        )
    return _collect(jobs, lambda _index, job: executor.submit(run, job), progress)


def _collect(jobs: Sequence[Job], submit: Submit, progress: BatchProgress) -> list[Record]:
    """Submit all jobs, and collect their records in order."""
    records: list[Record | None] = [None] * len(jobs)
    with _cancelled_at_the_end() as futures:
        for index, job in enumerate(jobs):
            futures[submit(index, job)] = index
        for future in _as_completed(list(futures)):
            index = futures.pop(future)
            try:
                records[index] = future.result()
            except Exception as error:  # noqa: BLE001 - whatever ended a worker
                # A job records its own failures: here the worker itself is gone.
                records[index] = fail(jobs[index], error)
            progress.finished[index] = True
    return [record for record in records if record is not None]


def _as_completed(futures: "Sequence[Future[Record]]") -> "Iterator[Future[Record]]":
    """Yield futures as they complete, and let Python look for signals meanwhile.

    Once polars has handled signals, none ends a wait of Python's: ``as_completed`` of
    `concurrent.futures` would sleep until the next log is done.
    """
    done: SimpleQueue[Future[Record]] = SimpleQueue()
    for future in futures:
        future.add_done_callback(done.put)
    for _ in futures:
        yield _patiently(done)


def _patiently(done: "SimpleQueue[Future[Record]]") -> "Future[Record]":
    while True:
        with suppress(Empty):
            return done.get(timeout=PATIENCE_S)


@contextmanager
def _cancelled_at_the_end() -> "Iterator[dict[Future[Record], int]]":
    """Cancel jobs that have not started when the block is left early."""
    futures: dict[Future[Record], int] = {}
    try:
        yield futures
    finally:
        for future in futures:
            future.cancel()
