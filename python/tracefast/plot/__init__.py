"""Charts of a log, as objects of altair: bounded, however large the log is.

>>> import tracefast as tf
>>> events = tf.scan("demo.strace")
>>> tf.plot.sizes(events).to_dict()["title"]
'Sizes of reads and writes'

Each needs altair: ``pip install 'tracefast[report]'``. ``chart.save("chart.svg")`` writes a
picture. Modules of `tracefast.plot.charts` have what is drawn as tables (`rows`), and draw tables
(`chart`).
"""

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import os
    from collections.abc import Collection

    from altair import Chart, LayerChart, VConcatChart

    from tracefast._polars.given_events import Events
    from tracefast.plot.charts.timeline import Measure

__all__ = ["batches", "forks", "gantt", "latency", "memory", "offsets", "sizes", "timeline"]


def offsets(events: "Events", path: "str | os.PathLike[str] | int") -> "Chart":
    """Draw where a file was read and written over time.

    Accesses that follow each other are one line. What is read in sequence rises steadily; random
    reads are a cloud; a file that is read again starts over.

    Parameters
    ----------
    events
        The events of a log, of Parquet files, or a part of them.
    path
        The file: its path, the end of its path, a pattern that matches one path, such as
        ``"*.bin"``; or its identity, a number of the column `file`.

    Returns
    -------
    altair.Chart
        The chart: at most 2,000 marks.

    Raises
    ------
    ValueError
        No opened file has this path, or several match.
    ModuleNotFoundError
        altair is not installed.

    Examples
    --------
    >>> import tracefast as tf
    >>> tf.plot.offsets(tf.scan("demo.strace"), "data.bin").to_dict()["title"]
    '/srv/demo/data.bin'
    """
    import os

    from tracefast.analysis.files.find_path import find_path, used_paths
    from tracefast.plot.charts import offsets as parts

    if isinstance(path, int):
        return parts.chart(parts.rows(events, path))
    name, files = find_path(used_paths(events), os.fspath(path))
    return parts.chart(parts.rows(events, files), title=name)


def timeline(events: "Events", measures: "Collection[Measure] | None" = None) -> "VConcatChart":
    """Draw bytes read and written, calls, open files and waiting tasks over time.

    Of ftrace's events: requests to block devices.

    Parameters
    ----------
    events
        The events of a log or of Parquet files.
    measures
        What to draw, of ``"bytes"``, ``"calls"``, ``"open files"``, ``"waits"``, ``"requests"`` and
        ``"request bytes"``; None for the first four.

    Returns
    -------
    altair.VConcatChart
        The chart: at most 2,000 marks.

    Examples
    --------
    >>> import tracefast as tf
    >>> len(tf.plot.timeline(tf.scan("demo.strace"), ["bytes", "calls"]).to_dict()["vconcat"])
    2
    """
    from tracefast.plot.charts import timeline as parts

    chosen = parts.MEASURES if measures is None else measures
    return parts.chart(parts.rows(events, measures=chosen))


def sizes(events: "Events") -> "Chart":
    """Draw how many bytes reads and writes moved, in bins of powers of two.

    Parameters
    ----------
    events
        The events of a log, of Parquet files, or a part of them.

    Returns
    -------
    altair.Chart
        The chart: at most 2,000 marks.
    """
    from tracefast.plot.charts import sizes as parts

    return parts.chart(parts.rows(events))


def latency(
    events: "Events",
    names: "Collection[str] | None" = None,
    *,
    of: "Literal['calls', 'requests']" = "calls",
) -> "Chart":
    """Draw how long calls took, in bins of powers of two: of those that took longest in sum.

    Parameters
    ----------
    events
        The events of a log, of Parquet files, or a part of them.
    names
        The calls to draw; None for the eight that took the most time.
    of
        ``"requests"`` draws those to block devices instead, by operation, from the events of
        ftrace.

    Returns
    -------
    altair.Chart
        The chart: at most 2,000 marks.
    """
    from tracefast.plot.charts import latency as parts

    if of == "requests" and names is None:
        return parts.chart_of_requests(parts.rows_of_requests(events))
    if of != "calls":
        raise ValueError(f"of is 'calls', or 'requests' without names; got {of!r}")
    return parts.chart(parts.rows(events, names=names))


def gantt(events: "Events") -> "LayerChart":
    """Draw when each process lived, with a mark where it executed a program.

    Children of one parent that ran the same program are one bar where there are many.

    Parameters
    ----------
    events
        The events of a log or of Parquet files.

    Returns
    -------
    altair.LayerChart
        The chart: at most 2,000 marks.
    """
    from tracefast.plot.charts import gantt as parts

    return parts.chart(parts.rows(events))


def memory(events: "Events") -> "Chart":
    """Draw the memory of the eight largest processes over time.

    Parameters
    ----------
    events
        The events of a log or of Parquet files.

    Returns
    -------
    altair.Chart
        The chart: at most 2,000 marks.
    """
    from tracefast.plot.charts import memory as parts

    return parts.chart(parts.rows(events))


def batches(events: "Events") -> "Chart":
    """Draw how long each result of a worker was waited for, and what the worker did meanwhile.

    Parameters
    ----------
    events
        All events of a log or of Parquet files.

    Returns
    -------
    altair.Chart
        The chart: at most 2,000 marks.
    """
    from tracefast.plot.charts import batches as parts

    return parts.chart(parts.rows(events))


def forks(events: "Events") -> "LayerChart":
    """Draw the time of calls that start processes against the memory of the parent.

    The line of each parent program and kind is fitted as `tracefast.fork_summary` does it.

    Parameters
    ----------
    events
        The events of a log or of Parquet files.

    Returns
    -------
    altair.LayerChart
        The chart: at most 2,000 marks.
    """
    from tracefast.plot.charts import forks as parts

    return parts.chart(parts.rows(events))
