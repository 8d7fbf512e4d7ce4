"""The events that a command is asked about: from logs, Parquet and standard input."""

import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl

import tracefast
from tracefast import Error
from tracefast._core import Progress, metadata
from tracefast.cli.command_line.request import Request
from tracefast.cli.inputs.spooling import spool, spool_pipe
from tracefast.cli.messages.errors import CommandError, explain, not_utf8
from tracefast.cli.messages.progress import shown
from tracefast.error_hints import error_with_hint
from tracefast.inputs.contents import is_pipe, sniff
from tracefast.inputs.duplicates import files_sharing_names
from tracefast.inputs.sources import STDIN, expand, without_repeats
from tracefast.outputs import refuse_own_input

Question = Callable[[pl.LazyFrame], pl.LazyFrame]


def answer(
    request: Request, question: Question, *, apart: bool = True
) -> tuple[pl.DataFrame | None, bool]:
    """Ask a question of all inputs that can be read.

    Inputs that fail are explained on standard error; the others are done.

    Parameters
    ----------
    request
        The inputs, and the part of their time that matters.
    question
        What to ask: an analysis.
    apart
        The answer about several inputs is what the answers about each of them are together.

    Returns
    -------
    tuple of polars.DataFrame and bool
        The answer, None if no input could be read; and whether all could.
    """
    with _readable(request) as (names, spooled, all_readable):
        if not names:
            return None, False
        try:
            refuse_own_input(names, request.output)
            files_sharing_names([(name, sniff(name)) for name in names])
        except (Error, OSError) as error:
            explain(error)
            return None, False
        progress = Progress()
        with shown(progress, disabled=request.quiet):
            try:
                table = _ask(names, question, request, progress)
            except (Error, OSError, pl.exceptions.PolarsError) as error:
                if len(names) == 1 or not apart:
                    explain(_told(error, names[0]))
                    return None, False
                return _ask_each(names, question, request, progress), False
        named = [name for name in names if name not in spooled]
        if not _warn_of_nothing(named, progress, request) and table.is_empty() and request.window:
            request.warn("nothing between --from and --to")
    return table, all_readable


def _warn_of_nothing(names: list[str], progress: Progress, request: Request) -> bool:
    """Say which inputs have been read and have no events, as `parse` does; whether there are such.

    Logs are known together: the counters are those of all.
    """
    kinds = {name: sniff(name) for name in names if not is_pipe(name)}
    logs = [name for name, kind in kinds.items() if kind == "log"]
    nothing = [f"{name}: " for name, kind in kinds.items() if kind != "log" and _is_eventless(name)]
    if progress.bytes_read and not progress.rows:
        nothing.append(f"{logs[0]}: " if len(logs) == 1 else "")
    for where in nothing:
        request.warn(f"{where}no event was found")
    return bool(nothing)


def _is_eventless(file: str) -> bool:
    """Say whether a file of columns was made of logs without any event."""
    report = json.loads(metadata(file).get("tracefast.report", "{}"))
    return "no event was found" in report.get("warnings", [])


def _ask_each(
    names: list[str], question: Question, request: Request, progress: Progress
) -> pl.DataFrame | None:
    """Ask one by one, which shows which of the inputs fails; the others are not to suffer."""
    answers = []
    for name in names:
        try:
            answers.append(_ask([name], question, request, progress))
        except (Error, OSError, pl.exceptions.PolarsError) as error:
            explain(_told(error, name))
    # Inputs asked one by one may have answers of different columns.
    return pl.concat(answers, how="diagonal_relaxed") if answers else None


def _ask(
    names: list[str], question: Question, request: Request, progress: Progress
) -> pl.DataFrame:
    events = tracefast.scan(
        names, format_in=request.format_in, machine=request.machine, progress=progress
    )
    if request.window:
        from tracefast.cli.inputs.events_in_window import within

        events = within(
            events,
            request.window,
            names,
            format_in=request.format_in,
            machine=request.machine,
        )
    return question(events).collect()


def _told(error: Exception, name: str) -> Exception:
    """Put an error of polars into the words of this program."""
    if isinstance(error, pl.exceptions.PolarsError):
        first = str(error).splitlines()[0]
        return error_with_hint(
            f"{name}: not the events of a log: {first}",
            "make Parquet of a log with: tracefast parse LOG -o FILE.parquet",
        )
    return error


@contextmanager
def _readable(request: Request) -> Iterator[tuple[list[str], set[str], bool]]:
    """Find the inputs that are there, and spool pipes, which can be read once only.

    The second is the names of what was spooled.
    """
    good = True
    names: list[str] = []
    taken: set[str] = set()
    spooled: set[str] = set()
    with tempfile.TemporaryDirectory(prefix="tracefast-") as folder:
        for given in request.inputs:
            try:
                for name in expand(given):
                    if name in taken:
                        continue
                    taken.add(name)
                    if name == STDIN:
                        names.append(str(spool(Path(folder), request)))
                        spooled.add(names[-1])
                    elif not _is_utf8(name):
                        raise not_utf8(name)
                    elif is_pipe(name):
                        names.append(str(spool_pipe(name, Path(folder), request)))
                        spooled.add(names[-1])
                    else:
                        sniff(name)
                        names.append(name)
                        if Path(name).is_file() and Path(name).stat().st_size == 0:
                            request.warn(f"{name}: the log is empty")
            except (CommandError, Error, OSError) as error:
                explain(error)
                good = False
        yield without_repeats(names), spooled, good


def _is_utf8(name: str) -> bool:
    """Say whether a name can be a value of the column `source`."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
