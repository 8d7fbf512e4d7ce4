"""Run an analysis on the events of the inputs: logs, Parquet files, standard input."""

import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl

import tracefast
from tracefast import Error
from tracefast._core import Progress, metadata
from tracefast._polars.folds import COUNTED
from tracefast.cli.command_line.request import Request
from tracefast.cli.inputs.spooling import spool, spool_pipe
from tracefast.cli.messages.errors import CommandError, name_not_utf8
from tracefast.cli.messages.progress import progress_bar
from tracefast.cli.messages.stderr import print_error
from tracefast.error_hints import error_with_hint
from tracefast.inputs.contents import is_pipe, sniff
from tracefast.inputs.duplicates import files_sharing_names
from tracefast.inputs.sources import STDIN, expand, without_repeats
from tracefast.outputs import refuse_own_input
from tracefast.scanning import damaged

Analysis = Callable[[pl.LazyFrame], pl.LazyFrame]

# What may come of an input. polars panics at some of what is damaged.
_FAILURES = (Error, OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException)


def run_analysis(
    request: Request,
    analysis: Analysis,
    *,
    combinable: bool = True,
    by_phase: bool = False,
    is_empty: Callable[[pl.DataFrame], bool] = pl.DataFrame.is_empty,
) -> tuple[pl.DataFrame | None, bool]:
    """Run an analysis on all inputs that can be read.

    Errors of single inputs are printed on standard error; the others are analysed.

    Parameters
    ----------
    request
        The inputs, and the time window.
    analysis
        Makes the result out of events.
    combinable
        The result for several inputs consists of the results for each of them.
    by_phase
        The analysis needs all events: those in the time window are `counted`.
    is_empty
        Says of a result whether there were no events.

    Returns
    -------
    tuple of polars.DataFrame and bool
        The result, None if no input could be read; and whether all could.
    """
    with _readable_inputs(request) as (names, spooled, all_readable):
        if not names:
            return None, False
        try:
            refuse_own_input(names, request.output)
            files_sharing_names([(name, sniff(name)) for name in names])
        except (Error, OSError) as error:
            print_error(error)
            return None, False
        progress = Progress()
        with progress_bar(progress, disabled=request.quiet):
            try:
                table = _collect(names, analysis, request, progress, by_phase=by_phase)
            except _FAILURES as error:
                if len(names) == 1 or not combinable:
                    print_error(_to_own_error(error, names[0]))
                    return None, False
                each = _collect_each(names, analysis, request, progress, by_phase=by_phase)
                return each, False
        unspooled = [name for name in names if name not in spooled]
        if (
            not _warn_of_no_events(unspooled, progress, request)
            and is_empty(table)
            and request.window
        ):
            request.warn("no events between --from and --to")
    return table, all_readable


def _warn_of_no_events(names: list[str], progress: Progress, request: Request) -> bool:
    """Warn of inputs without events, as `parse` does; say whether there are any.

    The counters are those of all logs together: which of several logs has none is not known.
    """
    kinds = {name: sniff(name) for name in names if not is_pipe(name)}
    logs = [name for name, kind in kinds.items() if kind == "log"]
    empty = [f"{name}: " for name, kind in kinds.items() if kind != "log" and _is_eventless(name)]
    if progress.bytes_read and not progress.rows:
        empty.append(f"{logs[0]}: " if len(logs) == 1 else "")
    for where in empty:
        request.warn(f"{where}no event was found")
    return bool(empty)


def _is_eventless(file: str) -> bool:
    """Say whether a Parquet or Arrow file was made from logs without any event."""
    report = json.loads(metadata(file).get("tracefast.report", "{}"))
    return "no event was found" in report.get("warnings", [])


def _collect_each(
    names: list[str],
    analysis: Analysis,
    request: Request,
    progress: Progress,
    *,
    by_phase: bool,
) -> pl.DataFrame | None:
    """Analyse inputs one by one, so that those that fail do not affect the others."""
    results = []
    for name in names:
        try:
            results.append(_collect([name], analysis, request, progress, by_phase=by_phase))
        except _FAILURES as error:
            print_error(_to_own_error(error, name))
    # Inputs analysed one by one may have results of different columns.
    return pl.concat(results, how="diagonal_relaxed") if results else None


def _collect(
    names: list[str],
    analysis: Analysis,
    request: Request,
    progress: Progress,
    *,
    by_phase: bool,
) -> pl.DataFrame:
    events = tracefast.scan(
        names,
        format_in=request.format_in,
        machine=request.machine,
        assume_complete=request.assume_complete,
        progress=progress,
    )
    if request.window:
        from tracefast.cli.inputs.events_in_window import in_window

        wanted = in_window(
            events,
            request.window,
            names,
            format_in=request.format_in,
            machine=request.machine,
        )
        part = events.with_columns(wanted.alias(COUNTED)) if by_phase else events.filter(wanted)
        return analysis(part).collect()
    return analysis(events).collect()


def _to_own_error(error: BaseException, name: str) -> Exception:
    """Turn an error of polars, which may lack the name of the file, into one of tracefast."""
    if not isinstance(error, Exception):
        return damaged(name, error)
    if isinstance(error, Error) or (isinstance(error, OSError) and error.filename is not None):
        return error
    of_columns = (pl.exceptions.ColumnNotFoundError, pl.exceptions.SchemaError)
    if not isinstance(error, of_columns) and sniff(name) != "log":
        return damaged(name, error)
    if isinstance(error, pl.exceptions.PolarsError):
        first = str(error).splitlines()[0]
        return error_with_hint(
            f"{name}: not the events of a log: {first}",
            "to turn a log into Parquet: tracefast parse LOG -o FILE.parquet",
        )
    return error


@contextmanager
def _readable_inputs(request: Request) -> Iterator[tuple[list[str], set[str], bool]]:
    """Find the inputs that exist, and spool pipes, which can be read only once.

    Yields the names, those of spooled inputs among them, and whether all inputs are readable.
    """
    all_readable = True
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
                        raise name_not_utf8(name)
                    elif is_pipe(name):
                        names.append(str(spool_pipe(name, Path(folder), request)))
                        spooled.add(names[-1])
                    else:
                        sniff(name)
                        names.append(name)
                        if Path(name).is_file() and Path(name).stat().st_size == 0:
                            request.warn(f"{name}: the log is empty")
            except (CommandError, Error, OSError) as error:
                print_error(error)
                all_readable = False
        yield without_repeats(names), spooled, all_readable


def _is_utf8(name: str) -> bool:
    """Say whether a name can be a value of the column `source`."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
