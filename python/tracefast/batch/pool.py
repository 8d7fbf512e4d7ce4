"""Run jobs in threads of this process, or in an executor of the caller."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any, Protocol

from tracefast._polars.source_threads import PATIENCE_S
from tracefast.batch.job import Job, fail, run
from tracefast.batch.manifest import Record
from tracefast.batch.threads import BatchProgress, cancelled_at_the_end


class Executor(Protocol):
    """The interface of the executors of `concurrent.futures`, and of a Dask client."""

    def submit(self, fn: Callable[..., Any], /, *args: Any) -> Any:  # noqa: ANN401 - theirs
        """Start to call a function, and return a future for its result."""


Submit = Callable[[int, Job], "Future[Record]"]


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
    with cancelled_at_the_end() as futures:
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
