"""Batches for the threads of polars, which can only stop a source that yields.

polars runs a source in a thread of its own. When it has enough it returns to its caller, and the
thread ends at the source's next batch. Two things follow: a source that waits has to yield now and
then, or Ctrl-C would wait with it; and Python must not end while such a thread is in it.
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

# How long to wait for a log that says nothing.
PATIENCE_S = 0.05
# How long Python's end may wait for threads, and how long a thread may take to leave Python.
_END_S = 2.0
_LEAVE_S = 0.2

# Whether polars has run a source here, and whether it had in the process that this is a fork of.
_ran = False
_forked = False

# The threads that are in a source, and when others were last.
_inside: dict[int, int] = {}
_left: dict[int, float] = {}


def patiently(opened: Callable[[], _core.Reader]) -> Iterator[_core.Batch | None]:
    """Yield the batches of a reader, and None where there is none for some time.

    Parameters
    ----------
    opened
        Opens the reader: with a pipe that nobody writes to, even this takes its time.

    Returns
    -------
    iterator of Batch or None
        All batches, in order. The reader is closed at the end, and when nobody wants more.

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
    """Yield what a source yields, and note that this thread is in it: Python's end waits for it.

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
            # No call before this is noted: after a call comes the interrupt that is pending.
            _inside[here] -= 1
            if not _inside[here]:
                del _inside[here]
                _left[here] = time.monotonic()
        except KeyboardInterrupt:
            # polars has raised it already. It drops a source where nobody can catch anything:
            # Python would only print it.
            pass


def _batches(opened: Callable[[], _core.Reader]) -> Iterator[_core.Batch | None]:
    # As `concurrent.futures` does, but nobody waits for this thread when Python ends.
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
    """Refuse to begin what would never end: a query in a fork of a process that had run one.

    polars keeps threads, which a fork does not have and waits for.

    Raises
    ------
    RuntimeError
        This process is such a fork.
    """
    if _forked:
        raise RuntimeError(
            "this process was forked from one in which polars had run, and would wait for ever for "
            "threads that it does not have: start it by 'spawn' or 'forkserver' "
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
    """Let threads leave Python before it ends: one that is in it then aborts the process."""
    end = time.monotonic() + _END_S
    while time.monotonic() < end:
        frames = sys._current_frames()  # noqa: SLF001 - there is no other way to see them
        leaving = [thread for thread, when in _left.items() if when > time.monotonic() - _LEAVE_S]
        if not _inside and not any(thread in frames for thread in leaving if thread != get_ident()):
            return
        time.sleep(0.001)
