"""The parts of ftrace's log, each with the calls that end in it and all that happened in these."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

import polars as pl

from tracefast.analysis.join.rows import Rows

# Rows of the log that are in a part: some ten for each call.
_ROWS: Final = 1 << 19
# The fields of scheduler events that name a task.
_TASKS: Final = ("tid", "prev_pid", "next_pid", "event_pid")


class Window(NamedTuple):
    """A part of ftrace's log."""

    calls: pl.DataFrame
    """The calls that end in it."""
    log: pl.DataFrame
    """Its events, and earlier ones of these calls: `kernel_events`."""
    scheduled: pl.DataFrame
    """The same of the scheduler: `scheduler_events`."""
    first: int
    """Its first row."""
    end: int
    """The row after its last."""


@dataclass(frozen=True)
class FtraceLog:
    """What a join needs of ftrace's log.

    Attributes
    ----------
    calls
        Its calls.
    log, scheduled
        Its events: `kernel_events` and `scheduler_events`.
    """

    calls: Rows
    log: Rows
    scheduled: Rows

    def windows(self) -> Iterator[Window]:
        """Give the parts, in order.

        Only what happened in calls that have not ended is kept from one part to the next.
        """
        files = (self.calls, self.log, self.scheduled)
        end = 1 + max(_last(file) for file in files)
        kept = [file.between("row", 0, 0) for file in (self.log, self.scheduled)]
        for first in range(0, end, _ROWS):
            calls, log, scheduled = (file.between("row", first, first + _ROWS) for file in files)
            whole = [pl.concat(parts) for parts in zip(kept, (log, scheduled), strict=True)]
            yield Window(calls, whole[0], whole[1], first, first + _ROWS)
            reached = max((part["line"].max() or 0) for part in (calls, log, scheduled))
            # The first call that ends later of each task.
            running = (
                self.calls.all.filter(pl.col("row") >= first + _ROWS, pl.col("line") <= reached)
                .select("tid", "line")
                .collect()
            )
            kept = [_of_calls(part, running) for part in whole]


def _last(file: Rows) -> int:
    return int(file.all.select(pl.col("row").max().fill_null(0)).collect().item() or 0)


def _of_calls(events: pl.DataFrame, running: pl.DataFrame) -> pl.DataFrame:
    """Give the events of tasks since their calls started."""
    since = [
        pl.col(name).replace_strict(running["tid"], running["line"], default=None)
        for name in _TASKS
        if name in events.columns
    ]
    return events.filter(pl.any_horizontal(pl.col("line") > line for line in since))
