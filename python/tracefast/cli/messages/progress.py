"""A progress bar on standard error, if it is a terminal."""

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tracefast._core import Progress
from tracefast.cli.text.units import rate

_INTERVAL_S = 0.1
# Shorter work has no bar.
_DELAY_S = 0.5
# Terminals that cannot erase what they show: a bar would leave an empty line.
_DUMB = ("dumb", "unknown")


@contextmanager
def progress_bar(progress: Progress, *, disabled: bool = False) -> Iterator[None]:
    """Show the bytes read while the block runs, if standard error is a capable terminal.

    Parameters
    ----------
    progress
        The counters that the block advances.
    disabled
        Show nothing.
    """
    if disabled or not sys.stderr.isatty() or os.environ.get("TERM", "").lower() in _DUMB:
        yield
        return
    done = threading.Event()
    follower = threading.Thread(target=_follow, args=(progress, done), daemon=True)
    follower.start()
    try:
        yield
    finally:
        done.set()
        follower.join()


def _follow(progress: Progress, done: threading.Event) -> None:
    """Draw the bar until the work is done, unless that is soon."""
    if done.wait(_DELAY_S):
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        ProgressColumn,
        Task,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.progress import (
        Progress as Bar,
    )
    from rich.text import Text

    class Speed(ProgressColumn):
        """Bytes per second, in the units of the other columns and of reports."""

        def render(self, task: Task) -> Text:
            speed = task.finished_speed or task.speed
            words = "?" if speed is None else rate(round(speed), 1)
            return Text(words, style="progress.data.speed")

    bar = Bar(
        TextColumn("reading"),
        BarColumn(),
        DownloadColumn(binary_units=True),
        Speed(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    with bar:
        task = bar.add_task("", total=None)
        while not done.wait(_INTERVAL_S):
            total = progress.bytes_total or None
            # Rules that ask for lines read the log again.
            read = progress.bytes_read if total is None else min(progress.bytes_read, total)
            bar.update(task, completed=read, total=total)
