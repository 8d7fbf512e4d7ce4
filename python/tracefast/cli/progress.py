"""A progress bar on standard error, for those who watch."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tracefast._core import Progress

_INTERVAL_S = 0.1


@contextmanager
def shown(progress: Progress, *, disabled: bool = False) -> Iterator[None]:
    """Show the bytes read while the block runs, where standard error is a terminal.

    Parameters
    ----------
    progress
        Counters that the block's work moves.
    disabled
        Show nothing.
    """
    if disabled or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )
    from rich.progress import (
        Progress as Bar,
    )

    done = threading.Event()
    bar = Bar(
        TextColumn("reading"),
        BarColumn(),
        DownloadColumn(binary_units=True),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )

    def follow() -> None:
        task = bar.add_task("", total=None)
        while not done.wait(_INTERVAL_S):
            bar.update(task, completed=progress.bytes_read, total=progress.bytes_total or None)

    with bar:
        follower = threading.Thread(target=follow, daemon=True)
        follower.start()
        try:
            yield
        finally:
            done.set()
            follower.join()
