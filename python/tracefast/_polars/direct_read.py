"""Frames that `scan` gave out, and how to read all of their rows without going through polars.

A fold takes every row of a few columns, once and in order. From Parquet and from the parser it
gets them in a third of the time that polars needs to make columns of words its own.
"""

import weakref
from collections.abc import Callable, Iterator, Sequence

import polars as pl

from tracefast import _core

# None stands for a time in which there was nothing, as of a pipe: see `source_threads`.
Batches = Iterator[_core.Batch | None]
# Opens the files behind a frame for the named columns.
Opener = Callable[[list[str]], Batches]

# By the identity of the frame: frames cannot be compared, and what is made of one is another one.
_openers: dict[int, list[Opener]] = {}


class UnreadableError(Exception):
    """Files that only polars can read, or say what is wrong with."""


def remember(frame: pl.LazyFrame, openers: Sequence[Opener]) -> None:
    """Note how to read all rows of a frame.

    Parameters
    ----------
    frame
        A frame of whole files.
    openers
        What opens each of its runs of files, in order.
    """
    key = id(frame)
    _openers[key] = list(openers)
    weakref.finalize(frame, _openers.pop, key, None).atexit = False


def opener_of(frame: object) -> Opener | None:
    """Say how to read all rows of a frame; None if it is not as `scan` gave it.

    Examples
    --------
    >>> import tracefast as tf
    >>> events = tf.scan("demo.strace")
    >>> batches = opener_of(events)(["name"])
    >>> sum(len(batch) for batch in batches if batch is not None) == events.collect().height
    True
    >>> opener_of(events.filter(pl.col("name") == "read")) is None
    True
    """
    openers = _openers.get(id(frame))
    if openers is None:
        return None

    def batches(columns: list[str]) -> Batches:
        for opener in openers:
            yield from opener(columns)

    return batches


def count() -> int:
    """Say how many frames are remembered: those that are alive."""
    return len(_openers)


def parquet(files: Sequence[str]) -> Opener:
    """Open Parquet files of events, one after the other.

    What is opened raises `UnreadableError` where polars should be asked instead.
    """

    def batches(columns: list[str]) -> Batches:
        for file in files:
            try:
                yield from _core.ParquetEvents(file, columns=columns)
            except (OSError, ValueError, RuntimeError) as error:
                raise UnreadableError from error

    return batches


def unreadable(_columns: list[str]) -> Batches:
    """Stand for files that only polars reads."""
    raise UnreadableError
