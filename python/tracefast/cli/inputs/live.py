"""Show a table while its log comes: from a pipe, or a file that grows."""

import signal
import stat
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import fstat
from types import FrameType
from typing import Final

import polars as pl

from tracefast import Error, _core
from tracefast._polars.arriving import ArrivingEvents
from tracefast._polars.event_schema import event_schema
from tracefast.cli.command_line.request import Request
from tracefast.cli.inputs.event_sources import Analysis, run_analysis
from tracefast.cli.inputs.spooling import peek, put_back
from tracefast.cli.messages.errors import CommandError
from tracefast.cli.messages.stderr import print_error
from tracefast.cli.output.terminal import is_terminal_table
from tracefast.inputs.contents import content_of
from tracefast.inputs.sources import STDIN

Show = Callable[[pl.DataFrame], None]

# To the corner, and erase all below it: ECMA-48, CUP and ED.
_CLEAR: Final = "\x1b[H\x1b[J"
# The first bytes of gzip, zstd, xz and bzip2.
_PACKED: Final = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ", b"BZh")


def run_or_watch(
    request: Request, analysis: Analysis, show: Show, *, by_phase: bool = False
) -> tuple[pl.DataFrame | None, bool]:
    """Run an analysis; while its log still comes, show what there is.

    Parameters
    ----------
    request
        What was asked for.
    analysis
        Makes the result out of events, by one fold.
    show
        Prints a result on the terminal.
    by_phase
        As for `run_analysis`.

    Returns
    -------
    tuple of polars.DataFrame and bool
        The result at the end, None if the log could not be read; and whether it could.

    Raises
    ------
    CommandError
        A log cannot be followed with these options.
    """
    if not request.follow and not _is_piped(request, by_phase=by_phase):
        return run_analysis(request, analysis, by_phase=by_phase)
    if request.follow:
        if len(request.inputs) != 1 or request.in_part or by_phase:
            raise CommandError(
                "--follow: follows one log, from its start, without phases",
                "leave out other logs, --from, --to, --phase and --by phase",
            )
        return _watch(request, request.inputs[0], analysis, show)
    head, _ = peek()
    with put_back(head):
        if content_of(head) != "log" or head.startswith(_PACKED):
            return run_analysis(request, analysis, by_phase=by_phase)
        return _watch(request, STDIN, analysis, show)


def _is_piped(request: Request, *, by_phase: bool) -> bool:
    """Say whether the only input is a pipe, and the result is read by somebody who waits."""
    mode = fstat(0).st_mode
    pipe = stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
    plain = request.inputs == [STDIN] and not request.in_part and not by_phase
    return plain and pipe and is_terminal_table(request.form, request.output)


def _watch(
    request: Request, name: str, analysis: Analysis, show: Show
) -> tuple[pl.DataFrame | None, bool]:
    events = ArrivingEvents(event_schema())
    table = analysis(events.frame)
    drawn = is_terminal_table(request.form, request.output)
    try:
        reader = _core.Reader(
            [name],
            format_in=request.format_in,
            machine=request.machine,
            assume_complete=request.assume_complete,
            columns=events.columns,
            arriving=True,
        )
        with reader, _ended_by_interrupt(reader):
            due = time.monotonic() + request.refresh
            ended = False
            while not ended:
                ended, batch = reader.poll()
                if batch is not None:
                    events.push(batch)
                if drawn and not ended and time.monotonic() >= due:
                    print(_CLEAR, end="", flush=True)
                    show(table.collect())
                    sys.stdout.flush()
                    due = time.monotonic() + request.refresh
            events.finish()
            report = reader.report
            for warning in report.warnings if report is not None else []:
                request.warn(warning)
            result = table.collect()
        if drawn:
            print(_CLEAR, end="", flush=True)
    except (Error, OSError) as error:
        print_error(error)
        return None, False
    return result, True


@contextmanager
def _ended_by_interrupt(reader: _core.Reader) -> Iterator[None]:
    """End reading with the first interrupt; the second one is as usual."""

    def end(_number: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, before)
        reader.end()

    before = signal.signal(signal.SIGINT, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
