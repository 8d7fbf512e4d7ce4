"""Scan logs, Parquet and Arrow IPC as one polars LazyFrame: `scan`."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import get_args

import polars as pl

from tracefast import _core
from tracefast._polars.divided import remember
from tracefast._polars.source_threads import refuse_fork
from tracefast.arguments import check_choice, thread_count
from tracefast.inputs.event_files import check_same
from tracefast.inputs.sources import STDIN, Sources, expand
from tracefast.reading import FormatIn, Machine
from tracefast.scanning.apart import logs_apart, small_together
from tracefast.scanning.events_in_window import in_window
from tracefast.scanning.notebook import show_files
from tracefast.scanning.sources import Inputs, scan_inputs
from tracefast.scanning.time_window import Time, Window


def scan(
    sources: Sources,
    *,
    from_: Time | None = None,
    to: Time | None = None,
    format_in: FormatIn | None = None,
    machine: Machine | None = None,
    assume_complete: bool = False,
    threads: int | None = None,
    storage_options: Mapping[str, str] | None = None,
    progress: _core.Progress | None = None,
) -> pl.LazyFrame:
    """Scan logs, Parquet or Arrow IPC files as one table of events.

    Before the frame is collected, only the first bytes of each file and the metadata of Parquet
    and Arrow files are read, and times where a window needs them. Logs are then parsed as a stream.
    Columns that the query does not need and rows that a filter drops are not built, and ``head``
    stops early. The parser applies these parts of a filter: comparisons of a number or time with a
    value (``>``, ``is_between``, ``is_in`` …) and of words and paths with a text (``==``,
    ``is_in``, ``str.starts_with``, ``str.ends_with``, ``str.contains(…, literal=True)``),
    ``is_null``, and combinations of these with ``&``, ``|`` and ``~``. polars applies the rest.
    ``explain`` shows both as ``SELECTION``.

    polars reads Parquet and Arrow files lazily, and skips row groups by their statistics. They may
    also hold a part of the events, written by polars or another library. Columns are converted to
    the types of a log: words may be strings or dictionaries, times may have any unit, integers any
    width. Columns of other data, such as floating-point numbers instead of integers, are refused.

    Parameters
    ----------
    sources
        Path of a file or of a directory, a pattern, a URL, or any mixture of them. Logs of
        ``strace -ff -o NAME`` are merged, also when only ``NAME`` is given. A directory stands for
        the files below it, sorted, without empty files and names that start with ``.`` or ``_``; it
        must not hold both logs and Parquet or Arrow files. A file that is named twice is read once.
        If Parquet or Arrow files were made from different logs of the same name, `source` is the
        name of the file followed by that of the log. URLs (``s3://``, ``gs://``, ``az://``,
        ``https://``, ``file://``) must be of Parquet files, and may contain a pattern.
    from_, to
        Only events that start in this window, which includes its start, but not its end: seconds
        since the first event of each log (``12.5``, ``"90s"``, ``"2m"``), a time of day
        (``"14:05:30"``), a date and time (``"2026-01-31T14:05:30"`` or a ``datetime``, in UTC
        unless it has a zone), seconds since 1970 (``1700000000.5``), or ``@`` and seconds on the
        log's own clock (``"@1591.5"``). A call counts with its whole duration. Paths and offsets
        are tracked from the start of the log, processes within the window. Seconds since the start
        and times of day read the times of all events now.
    format_in
        Format of the logs; detected from the text by default.
    machine, assume_complete
        As for :func:`tracefast.parse`.
    threads
        Number of worker threads for logs; all cores by default.
    storage_options
        Options for URLs, as for :func:`polars.scan_parquet`.
    progress
        Counters for the logs, to poll from another thread or to read afterwards: ``bytes_read``,
        ``blocks`` of text parsed, ``rows`` found so far, and how much of them was built,
        ``rows_built`` and ``columns_built``.

    Returns
    -------
    polars.LazyFrame
        The events in the order of the sources, with the columns of :func:`tracefast.schema`. `name`
        and `source` are ``String``, the other dictionaries are ``Categorical``.

    Raises
    ------
    OSError
        A file is missing or cannot be read.
    Error
        A Parquet or Arrow IPC file is incomplete, holds something other than events, events of
        another version of the schema, or those of a log that is also given; a URL cannot be read;
        a directory holds both logs and Parquet or Arrow files; `from_` or `to` is not a time, or
        not one that the clock of the log shows. ``hint`` says what to do. (An input
        that is not a log is only detected when the frame is collected. So is damage inside a
        Parquet or Arrow file, which raises an error of polars or ``OSError``.)
    ValueError
        A source is standard input: a lazy query may read its sources more than once. Or there is no
        such `format_in` or `machine`, or `threads` is less than 1.
    TypeError
        An argument has the wrong type, such as an open file instead of a path.
    RuntimeError
        This process was forked from one that had run such a query, and polars would hang.

    Examples
    --------
    >>> import polars as pl
    >>> import tracefast as tf
    >>> counters = tf.Progress()
    >>> events = tf.scan("demo.strace", progress=counters)
    >>> events.filter(pl.col("name") == "read").select("name", "bytes").collect().rows()
    [('read', 4096), ('read', 0)]
    >>> counters.rows, counters.rows_built, counters.columns_built
    (8, 2, 2)
    >>> part = tf.scan("demo.strace", from_="100us", to=0.0004)
    >>> part.select("name").collect()["name"].to_list()
    ['read', 'read', 'close']
    """
    # Errors should be raised by this call, not when the frame is collected.
    refuse_fork()
    check_choice("format_in", format_in, get_args(FormatIn))
    check_choice("machine", machine, get_args(Machine))
    threads = thread_count(threads)
    window = Window.parse(from_, to)
    names = expand(sources, lazily=True)
    if STDIN in names:
        raise ValueError(
            "standard input cannot be scanned, because a query may read it more than once; "
            "use tracefast.parse('-', FILE) or tracefast.read('-')"
        )
    inputs = Inputs.of(names)
    check_same(inputs.files.values())
    scanned = partial(
        scan_inputs,
        inputs,
        format_in=format_in,
        machine=machine,
        assume_complete=assume_complete,
        threads=threads,
        storage_options=storage_options,
        progress=progress,
    )
    events = scanned(names)
    wanted: pl.Expr | None = None
    if window:
        wanted = in_window(
            events,
            window,
            inputs,
            names,
            format_in=format_in,
            machine=machine,
            storage_options=storage_options,
        )
        events = events.filter(wanted)

    def divide() -> Iterator[pl.LazyFrame]:
        for group in small_together(logs_apart(names, inputs, format_in), inputs):
            log = scanned(group)
            yield log if wanted is None else log.filter(wanted)

    remember(events, divide)
    show_files(events, inputs, names, window)
    return events
