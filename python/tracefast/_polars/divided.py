"""The logs of a frame that `scan` returned, each in a frame of its own."""

import weakref
from collections.abc import Callable, Iterator

import polars as pl

# Gives frames that have the events of some logs each, all of them.
Divide = Callable[[], Iterator[pl.LazyFrame]]

# By the identity of the frame: frames cannot be compared, and a query on one is another one.
_divided: dict[int, Divide] = {}


def remember(frame: pl.LazyFrame, divide: Divide) -> None:
    """Note how to divide a frame.

    Parameters
    ----------
    frame
        A frame of one log or of several.
    divide
        Makes frames of small logs together, and of each other log.
    """
    _divided[id(frame)] = divide
    weakref.finalize(frame, _divided.pop, id(frame), None).atexit = False


def logs_of(frame: object) -> Iterator[pl.LazyFrame] | None:
    """Give the logs of a frame one by one; None if it is not a frame that `scan` returned.

    An analysis of each of them needs the memory of one log. Small logs are in one frame together.

    Examples
    --------
    >>> import tracefast as tf
    >>> events = tf.scan(["demo.strace", "demo.ftrace"])
    >>> [one.collect().height for one in logs_of(events)] == [events.collect().height]
    True
    >>> logs_of(events.filter(pl.col("name") == "read")) is None
    True
    """
    divide = _divided.get(id(frame))
    return None if divide is None else divide()
