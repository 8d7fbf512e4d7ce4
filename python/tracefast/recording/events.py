"""The text of a tracer, turned into events as it comes through a pipe."""

from typing import Literal

from tracefast import _core
from tracefast.outputs import sink_of


def write_events(
    pipe: int,
    output: str,
    tool: Literal["strace", "ftrace"],
    *,
    name: str,
    clobber: bool,
    progress: _core.Progress,
) -> _core.Report:
    """Write what comes through a pipe as events, until its other end is closed.

    Parameters
    ----------
    pipe
        The descriptor to read from.
    output
        The file to write.
    tool
        Whose text it is.
    name
        What the log is called in the column `source`.
    clobber
        Replace an output that exists.
    progress
        Counters to poll from another thread.

    Raises
    ------
    OSError
        The output cannot be written.
    """
    return _core.parse(
        [f"/proc/self/fd/{pipe}"],
        output,
        sink=sink_of(output) or "parquet",
        format_in=tool,
        clobber=clobber,
        progress=progress,
        name=name,
    )
