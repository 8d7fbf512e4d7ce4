"""Sources that run in threads of polars.

polars runs a source in a thread of its own, and waits for it in another. When polars has enough
rows it returns to its caller, and these threads end after the source yields its next batch. So a
source that waits has to yield from time to time, or Ctrl-C would wait as well; and Python must not
exit before they have ended: a thread that wants to go on in Python then is ended by Python, and
dropping what polars holds aborts the process.
"""

import atexit
import importlib
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from threading import Event, Thread, get_ident
from types import FrameType
from typing import TypeVar
from weakref import WeakSet

from tracefast import _core

T = TypeVar("T")

# How long to wait for input before yielding nothing.
PATIENCE_S = 0.05
# How long the exit of Python may wait for threads, and how long a thread may take to leave Python.
_END_S = 2.0
_LEAVE_S = 0.2

# Whether polars has run a source in this process, and whether it had in a process it is a fork of.
_ran = False
_forked = False


def cores() -> int:
    """Count the cores that this process may use: those that a batch queue gave it."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _Running:
    """Stands for a source that polars runs."""


# Set when Python exits.
_exiting = Event()

# What stands for the sources that polars has not dropped yet, and when threads last dropped one.
_held: "WeakSet[object]" = WeakSet()
_left: dict[int, float] = {}


def patiently(opened: Callable[[], _core.Reader]) -> Iterator[_core.Batch | None]:
    """Yield the batches of a reader, and None while there is no batch.

    Parameters
    ----------
    opened
        Opens the reader, which may block if the input is a pipe.

    Returns
    -------
    iterator of Batch or None
        All batches, in order. The reader is closed at the end, or when the iterator is dropped.

    Raises
    ------
    Error, OSError, ValueError
        As the reader.

    Examples
    --------
    >>> batches = patiently(lambda: _core.Reader(["demo.strace"], columns=[]))
    >>> sum(len(batch) for batch in batches if batch is not None)
    8
    """
    return inside(_batches(opened))


def inside(batches: Iterator[T]) -> Iterator[T]:
    """Yield what a source yields, and note that this thread runs it: the exit of Python waits.

    Examples
    --------
    >>> list(inside(iter([1, 2])))
    [1, 2]
    """
    running = _Running()
    hold(running)
    try:
        yield from batches
    finally:
        try:  # noqa: SIM105 - the call of `suppress` may raise it, too
            release(running)
        except KeyboardInterrupt:
            # polars has raised it already. When it drops a source, nothing can catch an exception,
            # and Python would only print it. An interrupt that comes before the note is no harm:
            # what stands for the source is dropped with this frame.
            pass


def hold(source: object) -> None:
    """Note that polars has a source: the exit of Python waits until it is released, or dropped.

    Examples
    --------
    >>> source = _Running()
    >>> hold(source)
    >>> source in _held
    True
    >>> release(source)
    >>> source in _held
    False
    """
    global _ran  # noqa: PLW0603 - of the process
    _ran = True
    _held.add(source)


def release(source: object) -> None:
    """Note that polars is done with a source, and that this thread is about to leave Python."""
    _held.discard(source)
    _left[get_ident()] = time.monotonic()


def _batches(opened: Callable[[], _core.Reader]) -> Iterator[_core.Batch | None]:
    # As `concurrent.futures` does, but Python does not wait for this thread when it exits.
    done: Future[_core.Reader] = Future()

    def open_it() -> None:
        try:
            done.set_result(opened())
        except BaseException as error:  # noqa: BLE001 - it is raised where the result is wanted
            done.set_exception(error)

    Thread(target=open_it, name="tracefast-open", daemon=True).start()
    while not done.done():
        wait([done], timeout=PATIENCE_S)
        if _exiting.is_set():
            return
        if not done.done():
            yield None
    with done.result() as reader:
        while not _exiting.is_set():
            ended, batch = reader.poll()
            if ended:
                return
            yield batch


def refuse_fork() -> None:
    """Refuse to run a query in a fork of a process that has run one, where it would never end.

    polars waits for its threads, which a fork does not have.

    Raises
    ------
    RuntimeError
        This process is such a fork.
    """
    if _forked:
        raise RuntimeError(
            "this process was forked from one in which polars had run, and would wait forever for "
            "threads that it does not have: start it with 'spawn' or 'forkserver' "
            "(multiprocessing.get_context), or use tracefast.parse or tracefast.read, which work"
        )


def _after_fork() -> None:
    global _forked  # noqa: PLW0603 - of the process
    _forked = _forked or _ran
    _held.clear()
    _left.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


# Python waits for the threads of pools, which run sources for polars, before it calls what is
# registered with `atexit`: one of a query that nobody waits for any more, as a query within another
# one that was interrupted, would read on, from a pipe without an end.
# The functions of who registered last come first, so the pools are to be there already.
importlib.import_module("concurrent.futures.thread")
if hasattr(threading, "_register_atexit"):
    threading._register_atexit(_exiting.set)  # noqa: SLF001 - as concurrent.futures does


@atexit.register
def _settle() -> None:
    """Let threads leave Python before it exits: one that does not would abort the process."""
    end = time.monotonic() + _END_S
    while _ran and (_held or _leaving()) and time.monotonic() < end:
        time.sleep(0.001)


def _leaving() -> bool:
    """Say whether another thread runs Python for polars, or did until now and is still there."""
    since = time.monotonic() - _LEAVE_S
    return any(
        _left.get(thread, since) > since or _in_polars(frame)
        for thread, frame in sys._current_frames().items()  # noqa: SLF001 - no other way to see them
        if thread != get_ident()
    )


def _in_polars(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_globals.get("__name__", "").startswith("polars."):
            return True
        frame = frame.f_back
    return False
