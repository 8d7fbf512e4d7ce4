"""How to read all rows of a frame that `scan` returned without going through polars.

A fold takes every row of a few columns, once and in order. Directly from Parquet or from the parser
this takes a third of the time that polars needs to convert columns of words.
"""

import weakref
from collections.abc import Callable, Iterator, Sequence

import polars as pl

from tracefast import _core

# None is yielded while there is nothing to read, as from a pipe: see `source_threads`.
Batches = Iterator[_core.Batch | None]
# Opens the files of a frame to read the named columns.
Opener = Callable[[list[str]], Batches]

# By the identity of the frame: frames cannot be compared, and a query on one is another one.
_openers: dict[int, list[Opener]] = {}
_reports: dict[int, list[_core.Report]] = {}
_files: dict[int, tuple[str, ...]] = {}


class UnreadableError(Exception):
    """The files have to be read by polars, which may also report what is wrong with them."""


def remember(
    frame: pl.LazyFrame,
    openers: Sequence[Opener],
    reports: list[_core.Report],
    files: Sequence[str] = (),
) -> None:
    """Note how to read all rows of a frame.

    Parameters
    ----------
    frame
        A frame of whole files.
    openers
        Functions that open its files, in order.
    reports
        Gets what reading its logs has shown, when the openers have read all rows.
    files
        Its files, if all of them are Parquet that the openers read.
    """
    key = id(frame)
    _openers[key], _reports[key], _files[key] = list(openers), reports, tuple(files)
    weakref.finalize(frame, _forget, key).atexit = False


def _forget(key: int) -> None:
    _openers.pop(key, None)
    _reports.pop(key, None)
    _files.pop(key, None)


def reports_of(frame: object) -> list[_core.Report]:
    """Give what reading the logs of a frame has shown, each time that all rows were read directly.

    Examples
    --------
    >>> import tracefast as tf
    >>> events = tf.scan("demo.strace")
    >>> reports_of(events)
    []
    >>> _ = tf.processes(events).collect()
    >>> [report.rows for report in reports_of(events)]
    [8]
    """
    return _reports.get(id(frame), [])


def files_of(frame: object) -> tuple[str, ...]:
    """Name the Parquet files of a frame; none if it also reads something else.

    Examples
    --------
    >>> import tracefast as tf
    >>> _ = tf.parse("demo.strace", "run.parquet")
    >>> files_of(tf.scan("run.parquet")), files_of(tf.scan("demo.strace"))
    (('run.parquet',), ())
    """
    return _files.get(id(frame), ())


def opener_of(frame: object) -> Opener | None:
    """Say how to read all rows of a frame; None if it is not a frame that `scan` returned.

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
    """Count the frames that are remembered: those that are still referenced."""
    return len(_openers)


def parquet(files: Sequence[str]) -> Opener:
    """Open Parquet files of events, one after the other.

    Reading raises `UnreadableError` if polars has to read a file instead.
    """

    def batches(columns: list[str]) -> Batches:
        for file in files:
            try:
                yield from _core.ParquetEvents(file, columns=columns)
            except (OSError, ValueError, RuntimeError) as error:
                raise UnreadableError from error

    return batches


def unreadable(_columns: list[str]) -> Batches:
    """Refuse to read files that only polars reads."""
    raise UnreadableError
