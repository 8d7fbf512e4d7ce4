"""Sources that run in threads of polars.

polars runs a source in a thread of its own. When polars has enough rows it returns to its caller,
and the thread ends when the source yields its next batch. So a source that waits has to yield from
time to time, or Ctrl-C would wait as well; and Python must not exit while such a thread runs.
"""

import atexit
import os
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from threading import Thread, get_ident
from typing import TypeVar

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

# The threads that are running a source, and when others last were.
_inside: dict[int, int] = {}
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
    global _ran  # noqa: PLW0603 - of the process
    _ran = True
    here = get_ident()
    _inside[here] = _inside.get(here, 0) + 1
    try:
        yield from batches
    finally:
        try:
            # Calls come after this is noted, because a pending interrupt is raised after a call.
            _inside[here] -= 1
            if not _inside[here]:
                del _inside[here]
                _left[here] = time.monotonic()
        except KeyboardInterrupt:
            # polars has raised it already. When it drops a source, nothing can catch an exception,
            # and Python would only print it.
            pass


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
        if not done.done():
            yield None
    with done.result() as reader:
        while True:
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
    _inside.clear()
    _left.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


@atexit.register
def _settle() -> None:
    """Let threads leave Python before it exits: one that does not would abort the process."""
    end = time.monotonic() + _END_S
    while time.monotonic() < end:
        frames = sys._current_frames()  # noqa: SLF001 - there is no other way to see them
        leaving = [thread for thread, when in _left.items() if when > time.monotonic() - _LEAVE_S]
        if not _inside and not any(thread in frames for thread in leaving if thread != get_ident()):
            return
        time.sleep(0.001)
