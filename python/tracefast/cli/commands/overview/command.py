"""`tracefast LOG`: a first answer about a log on one screen."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tracefast import Error
from tracefast.cli.command_line.exit_codes import DONE, FAILED
from tracefast.cli.command_line.request import Request, table_command
from tracefast.cli.messages.errors import CommandError
from tracefast.cli.output.form import Format

if TYPE_CHECKING:
    import polars as pl

    from tracefast.analysis.overview.tables import Overview
    from tracefast.scanning.ahead import Ahead

# The most text for which rules may take further passes, each of which parses it again.
_QUICK: Final = 32 << 20


@table_command(without=("where", "sort", "wide", "jobs"))
def overview(request: Request) -> int:
    """Show the most important of a log on one screen, and the commands that show more of it.

    What ran and for how long; what the log lacks; where the time went; which files were used most;
    what failed; what is worth a change. All logs are summed up together. --format json gives the
    numbers; --top changes how many files, errors and findings are listed. Of more than 32 MiB of
    text, only some of the rules are asked what is worth a change: tracefast insights asks all.

    \b
    Examples:
      tracefast app.strace
      tracefast app.parquet --from 1.5 --top 10
      tracefast trace.txt --format json | jq .errors
    """
    if request.form not in {Format.TABLE, Format.JSON}:
        raise CommandError(
            f"--format {request.form}: an overview consists of several tables",
            "give --format json, or the command of one table, such as tracefast files",
        )
    unread: list[str] = []
    found, complete = made_overview(request, unread.extend)
    if found is not None:
        read = [name for name in request.inputs if name not in unread]
        request = replace(request, inputs=read or request.inputs)
        # After the log has been read: they import polars.
        from tracefast.cli.screen.overview.json_form import write_overview
        from tracefast.cli.screen.overview.report import print_overview

        write = write_overview if request.form is Format.JSON else print_overview
        write(found, request)
    return DONE if complete and found is not None else FAILED


def made_overview(
    request: Request, unread: Callable[[list[str]], object] | None = None
) -> "tuple[Overview | None, bool]":
    """Make the tables of an overview; None if no input can be read. And whether all could.

    `unread` is called with those that could not, if there are any.
    """
    insights = _text_of(request.inputs) <= _QUICK
    ahead = None if insights else _read_ahead(request)
    # These take longer to import than a small log to read.
    from tracefast.analysis.overview.tables import overview as analysis
    from tracefast.cli.inputs.event_sources import run_analysis

    made: list[Overview] = []

    def look(events: "pl.LazyFrame") -> "pl.LazyFrame":
        made.append(analysis(events, insights=insights))
        return made[-1].table("processes").lazy()

    try:
        _, complete = run_analysis(request, look, combinable=False, unread=unread, ahead=ahead)
    finally:
        if ahead is not None:
            ahead.close()
    if not made:
        return None, complete
    found = made[-1]
    if complete and not request.in_part:
        found = replace(found, quality=(*found.quality, *_quality_of_files(request)))
    return found, complete


def _read_ahead(request: Request) -> "Ahead | None":
    """Start to read a log, if it is the only input and all of it is wanted."""
    from tracefast.analysis.overview.folds import SCREEN, columns_of
    from tracefast.cli.inputs.one_input import only_input
    from tracefast.scanning.ahead import Ahead

    match None if request.in_part else only_input(request.inputs):
        case (log, "log"):
            # What is wrong with it is said where all inputs are read.
            with suppress(Error, OSError):
                return Ahead(
                    log,
                    columns_of(SCREEN),
                    format_in=request.format_in,
                    machine=request.machine,
                    assume_complete=request.assume_complete,
                )
    return None


def _quality_of_files(request: Request) -> list[str]:
    """Say what parsing the logs showed from which files of events were made."""
    from tracefast.analysis.overview.quality import quality, reports_of_files
    from tracefast.inputs.contents import is_pipe
    from tracefast.inputs.sources import STDIN, expand

    names = [name for given in request.inputs if given != STDIN for name in expand(given)]
    return quality(reports_of_files(name for name in names if not is_pipe(name)))


def _text_of(inputs: list[str]) -> int:
    """Give how many bytes the logs among the inputs have, as they are on the disk.

    Others are Parquet, or become Parquet: what comes from a pipe, and standard input.
    """
    from tracefast import Error
    from tracefast.inputs.contents import is_pipe, sniff
    from tracefast.inputs.sources import STDIN, expand

    total = 0
    for given in inputs:
        try:
            for name in expand(given):
                if name != STDIN and not is_pipe(name) and sniff(name) == "log":
                    total += Path(name).stat().st_size
        except (Error, OSError):
            continue  # Said when it is read.
    return total
