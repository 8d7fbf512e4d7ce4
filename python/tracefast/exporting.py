"""Write events in the formats of other tools: timelines and flame graphs."""

import os
from collections.abc import Generator
from dataclasses import dataclass
from typing import Final, Literal, get_args

from tracefast import _core
from tracefast._polars.folds import finished, fold_together
from tracefast._polars.given_events import Events
from tracefast.error_hints import error_with_hint

ExportFormat = Literal["perfetto", "chrome", "folded", "speedscope"]
Weight = Literal["time", "calls", "bytes"]

_SUFFIXES: Final[dict[str, ExportFormat]] = {
    ".pftrace": "perfetto",
    ".perfetto-trace": "perfetto",
    ".speedscope.json": "speedscope",
    ".json": "chrome",
    ".folded": "folded",
}

# ui.perfetto.dev holds about 2 GB.
MOST_SLICES: Final = 2_000_000


@dataclass(frozen=True, kw_only=True)
class Exported:
    """What `export` wrote.

    Attributes
    ----------
    format
        The format.
    calls
        Calls: slices of a timeline, or what a flame graph adds up.
    instants
        Signals and ends of tasks.
    flows
        Arrows from a fork to the first call of its child, and from a waker to the end of the wait.
    samples
        Values of counters.
    moved
        Slices on a further track, because they overlap with another call of their task.
    clipped
        Slices that start later than their call, because of the rounding of times, or because all
        tracks of their task were taken.
    timeless
        Calls that are left out of a timeline, because the log has no time for them.
    untimed
        Calls without a duration: they have no width.
    """

    format: ExportFormat
    calls: int
    instants: int
    flows: int
    samples: int
    moved: int
    clipped: int
    timeless: int
    untimed: int


def format_of(path: str) -> ExportFormat | None:
    """Say which format a file has, by the end of its name; None where that does not say.

    Examples
    --------
    >>> format_of("run.pftrace"), format_of("run.json.gz"), format_of("run.speedscope.json")
    ('perfetto', 'chrome', 'speedscope')
    """
    name = path.lower().removesuffix(".gz")
    found = (format_ for suffix, format_ in _SUFFIXES.items() if name.endswith(suffix))
    return next(found, None)


def export(
    events: Events,
    path: str | os.PathLike[str],
    *,
    format: ExportFormat | None = None,  # noqa: A002 - as everywhere
    weight: Weight = "time",
    min_ns: int = 1_000_000,
    clobber: bool = True,
) -> Exported:
    """Write events as a timeline or a flame graph that other tools open.

    A timeline has a track for each thread. Its slices are the calls, with path, result, error,
    bytes, offset and line; slices of one track never cross. Signals and ends of tasks are instants.
    Arrows lead from a call that makes a task to its first call, and to the end of a wait from the
    call that proves to have ended it. Counters of each process: bytes read and written so far, open
    descriptors (not for ftrace), anonymous memory; and how many calls were in flight on average.

    The events are read twice. The file appears whole or not at all.

    Parameters
    ----------
    events
        The events of a log, of Parquet files, or a part of them, in their order.
    path
        The file. If its name ends with ``.gz``, it is packed.
    format
        ``"perfetto"`` (``.pftrace``, for ui.perfetto.dev), ``"chrome"`` (``.json.gz``: trace events
        of Chrome), ``"folded"`` (``.folded``, for flamegraph.pl) or ``"speedscope"``
        (``.speedscope.json``); by default what the name ends with.
    weight
        What the width of a flame is: ``"time"`` in calls, in nanoseconds; ``"calls"``, their
        number; ``"bytes"`` moved.
    min_ns
        Arrows end only at waits of at least so many nanoseconds.
    clobber
        Replace a file that exists.

    Returns
    -------
    Exported
        What the file holds.

    Raises
    ------
    ValueError
        There is no such format or weight, or the name does not say which.
    Error
        A timeline of a log without times.
    OSError
        The file cannot be written.

    Examples
    --------
    >>> import tracefast as tf
    >>> done = tf.export(tf.scan("demo.strace"), "demo.pftrace")
    >>> done.format, done.calls, done.flows
    ('perfetto', 6, 1)
    >>> _ = tf.export(tf.scan("demo.strace"), "demo.folded")
    >>> from pathlib import Path
    >>> print(Path("demo.folded").read_text().splitlines()[-1])
    true;execve;/bin/true 300000
    """
    return finished(
        steps(events, path, format=format, weight=weight, min_ns=min_ns, clobber=clobber)
    )


def steps(
    events: Events,
    path: str | os.PathLike[str],
    *,
    format: ExportFormat | None,  # noqa: A002 - as everywhere
    weight: Weight,
    min_ns: int,
    clobber: bool,
) -> Generator[None, None, Exported]:
    """Export as `export` does, with pauses in which it can be interrupted."""
    place = os.fspath(path)
    chosen = format or format_of(place)
    if chosen is None:
        raise ValueError(
            f"{place}: the name does not say which format: give it the suffix .pftrace, .json.gz, "
            ".folded or .speedscope.json, or give a format"
        )
    if chosen not in get_args(ExportFormat):
        raise ValueError(f"format must be one of {get_args(ExportFormat)}, got {chosen!r}")
    if weight not in get_args(Weight):
        raise ValueError(f"weight must be one of {get_args(Weight)}, got {weight!r}")
    timeline = chosen in {"perfetto", "chrome"}
    question = "tracefast.export"

    def new_survey() -> _core.Survey:
        return _core.Survey(min_ns=min_ns if timeline else None)

    (survey,) = yield from fold_together(events, [new_survey], question=question)
    plan = survey.plan()
    if timeline and plan.calls and not plan.placed:
        raise error_with_hint(
            "the log has no times: a timeline needs them",
            "record it with strace -ttt -T, or make a flame graph of calls: --weight calls",
        )

    def new_export() -> _core.Export:
        return _core.Export(place, clobber, chosen, weight, plan)

    (file,) = yield from fold_together(events, [new_export], question=question)
    return Exported(format=chosen, **dict(file.commit()))
