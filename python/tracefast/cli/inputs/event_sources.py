"""Run an analysis on the events of the inputs: logs, Parquet files, standard input."""

import io
import operator
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Final, NamedTuple, cast

import polars as pl

from tracefast import Error
from tracefast._core import Progress
from tracefast._polars.folds import COUNTED
from tracefast.batch.threads import BatchProgress, in_order, shares
from tracefast.cli.command_line.request import Request
from tracefast.cli.inputs.readable import known_inputs, readable_inputs
from tracefast.cli.messages.errors import CommandError
from tracefast.cli.messages.progress import progress_bar
from tracefast.cli.messages.stderr import print_error
from tracefast.error_hints import error_with_hint
from tracefast.inputs.contents import TASK_SUFFIX, sniff
from tracefast.inputs.event_files import damaged
from tracefast.outputs import refuse_own_input
from tracefast.scanning.ahead import Ahead
from tracefast.scanning.apart import logs_apart, small_together
from tracefast.scanning.sources import Inputs, scan_inputs

Analysis = Callable[[pl.LazyFrame], pl.LazyFrame]
Keep = Callable[[pl.DataFrame], pl.DataFrame]

# What may come of an input. polars panics at some of what is damaged.
_FAILURES = (Error, OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException)
# So many results are packed into one.
_PACKED: Final = 64


def run_analysis(
    request: Request,
    analysis: Analysis,
    *,
    combinable: bool = True,
    partial: bool = True,
    by_phase: bool = False,
    is_empty: Callable[[pl.DataFrame], bool] = pl.DataFrame.is_empty,
    by_source: bool = True,
    unread: Callable[[list[str]], object] | None = None,
    without_events: Callable[[list[str]], object] | None = None,
    keep: Keep | None = None,
    ahead: Ahead | None = None,
) -> tuple[pl.DataFrame | None, bool]:
    """Run an analysis on all inputs that can be read.

    Errors of single inputs are printed on standard error; the others are analysed: each log for
    itself, so that memory does not grow with their number.

    Parameters
    ----------
    request
        The inputs, the time window, and how many logs at a time.
    analysis
        Makes the result out of events. It may run in several threads.
    combinable
        The result for several logs consists of the results for each of them.
    partial
        Without some of the logs, the result still says something: else one that fails is an error.
    by_phase
        The analysis needs all events: those in the time window are `counted`.
    is_empty
        Says of a result whether there were no events.
    by_source
        Sort the result for several logs by `source`; else they are in the order of the inputs.
    unread
        Called with the inputs that could not be read, if there are any.
    without_events
        The same for those that could be read, and have no event.
    keep
        Called with the result for each log, or for some small ones together, in the order of the
        inputs: gives what is needed of it for the result for all.
    ahead
        The only input, if it is a log whose reading has started.

    Returns
    -------
    tuple of polars.DataFrame and bool
        The result, None if no input could be read; and whether all could. The rows of each log
        are as the analysis gives them.

    Raises
    ------
    CommandError
        No log has the time window.
    """
    with readable_inputs(request) as found:
        try:
            refuse_own_input(found.names, request.output)
            inputs = known_inputs(found)
            logs = [found.names]
            if combinable:
                logs = logs_apart(found.names, inputs, request.format_in)
        except (Error, OSError) as error:
            print_error(error)
            return None, False
        logs = logs if found.names else []
        in_order = logs
        apart: set[str] = set()
        # In a time window, each log has a start of its own.
        if combinable and not request.in_part:
            alone = (names[0] for names in logs if len(names) == 1)
            apart = {name for name in alone if name not in inputs.files}
            logs = small_together(logs, inputs)
        each = _EachLog(
            request,
            analysis,
            inputs,
            logs,
            apart,
            by_phase=by_phase,
            partial=partial,
            keep=keep,
            ahead=ahead,
        )
        results = each.run(alone=combinable)
        found.unread += results.failed
        if unread is not None and found.unread:
            unread(found.unread)
        table = results.table
        if table is None:
            return None, False
        if len(in_order) > 1 and "source" in table.columns:
            order = pl.col("source") if by_source else _place(table["source"], in_order, inputs)
            table = table.sort(order, nulls_last=True, maintain_order=True)
        known = found.spooled | set(results.failed)
        empty = each.without_events(known) + each.small_without_events(known, table)
        for name in empty:
            request.warn(f"{name}: no event was found")
        # An empty file of a log in several files is no log of its own.
        own = (name for name in found.empty if [name] in in_order)
        if without_events is not None and (without := dict.fromkeys([*empty, *own])):
            without_events(list(without))
        if not empty and is_empty(table) and request.in_part and not results.failed:
            request.warn("no events between --from and --to")
        return table, not found.unread


class _Results(NamedTuple):
    table: pl.DataFrame | None
    failed: list[str]


class _Result(NamedTuple):
    """Of one log: its table, or those of each of its inputs if they do not fit together."""

    tables: list[pl.DataFrame]
    failed: list[tuple[str, Exception]]
    refused: CommandError | None = None


@dataclass
class _EachLog:
    """An analysis of logs, one after the other or several at a time."""

    request: Request
    analysis: Analysis
    inputs: Inputs
    logs: Sequence[list[str]]
    apart: set[str]
    """Inputs that are logs of their own, also where they are analysed with others."""
    by_phase: bool
    partial: bool
    keep: Keep | None = None
    ahead: Ahead | None = None

    def __post_init__(self) -> None:
        self._progress = BatchProgress(self.logs)
        # A log that has vanished meanwhile is not among them.
        if self.ahead is not None and self.logs:
            self._progress.each[0] = self.ahead.progress
        self._jobs, self._threads = shares(len(self.logs), self.request.jobs, None)
        # Of the groups whose inputs were analysed one by one, those without an event.
        self._one_by_one_empty: dict[int, list[str]] = {}

    def run(self, *, alone: bool) -> _Results:
        """Analyse all logs, and print the errors of those that fail.

        Parameters
        ----------
        alone
            If inputs cannot be analysed together, each is analysed alone; else those together that
            can be, if the result may be `partial`.
        """
        watch = self._progress if len(self.logs) > 1 else None
        counters = cast("Progress", watch) if watch else next(iter(self._progress.each), Progress())
        kept = _Kept()
        failed: list[str] = []
        refused: list[CommandError] = []
        with progress_bar(counters, disabled=self.request.quiet):
            for result in self._each(alone=alone):
                for table in result.tables:
                    kept.add(table if self.keep is None else self.keep(table))
                for name, error in result.failed:
                    print_error(error)
                    failed.append(name)
                refused += [] if result.refused is None else [result.refused]
        found = kept.table()
        if refused and found is None:
            raise refused[0]
        return _Results(found, failed)

    def _each(self, *, alone: bool) -> Iterator[_Result]:
        def work(index: int) -> _Result:
            names, progress = self.logs[index], self._progress.each[index]
            try:
                return _Result([self._collect(names, progress)], [])
            except CommandError as error:
                return _Result([], [], error)
            except _FAILURES as error:
                if len(names) == 1 or not (alone or self.partial):
                    return _Result([], [(names[0], _to_own_error(error, names[0]))])
                return self._one_by_one(index) if alone else self._others(index, error)

        return in_order(work, len(self.logs), self._jobs, self._progress)

    def _others(self, index: int, error: BaseException) -> _Result:
        """Analyse inputs together, but for those that fail, as errors name them."""
        names, failed = list(self.logs[index]), []
        while True:
            text = str(error)
            bad = next((name for name in names if text.startswith(f"{name}:")), names[0])
            failed.append((bad, _to_own_error(error, bad)))
            if not text.startswith(f"{bad}:") or len(names) == 1:
                return _Result([], failed)
            names.remove(bad)
            try:
                return _Result([self._collect(names, self._progress.each[index])], failed)
            except CommandError as refused:
                return _Result([], failed, refused)
            except _FAILURES as another:
                error = another

    def _one_by_one(self, index: int) -> _Result:
        """Analyse inputs one by one, so that those that fail do not affect the others."""
        result = _Result([], [])
        empty: list[str] = []
        for name in self.logs[index]:
            progress = Progress()
            try:
                result.tables.append(self._collect([name], progress))
            except _FAILURES as error:
                result.failed.append((name, _to_own_error(error, name)))
            else:
                empty += [name] if progress.bytes_read and not progress.rows else []
        self._one_by_one_empty[index] = empty
        return result

    def _collect(self, names: list[str], progress: Progress) -> pl.DataFrame:
        request = self.request
        events = self._scan(names, progress)
        if request.in_part:
            wanted = self._in_part(events, names)
            counted = events.with_columns(wanted.alias(COUNTED))
            events = counted if self.by_phase else events.filter(wanted)
        return self.analysis(events).collect()

    def _scan(self, names: list[str], progress: Progress) -> pl.LazyFrame:
        return scan_inputs(
            self.inputs,
            names,
            format_in=self.request.format_in,
            machine=self.request.machine,
            assume_complete=self.request.assume_complete,
            threads=self._threads,
            progress=progress,
            ahead=self.ahead,
        )

    def _in_part(self, events: pl.LazyFrame, names: list[str]) -> pl.Expr:
        """Say which events are in the time window, and in the phase."""
        from tracefast.cli.inputs.events_in_phase import in_phase
        from tracefast.scanning.events_in_window import in_window

        request = self.request
        conditions: list[pl.Expr] = []
        if request.phase is not None:
            conditions.append(in_phase(events, request.phase))
        if request.window:
            try:
                in_time = in_window(
                    events,
                    request.window,
                    self.inputs,
                    names,
                    format_in=request.format_in,
                    machine=request.machine,
                )
            except Error as error:
                if error.kind != "window":
                    raise
                raise CommandError(str(error), error.hint) from error
            conditions.append(in_time)
        return reduce(operator.and_, conditions)

    def without_events(self, known: set[str]) -> list[str]:
        """Name the logs and files that were read, and have no event.

        Parameters
        ----------
        known
            Those of which something else was said.
        """
        empty: list[str] = []
        for index, (names, progress) in enumerate(zip(self.logs, self._progress.each, strict=True)):
            files = [self.inputs.files[name] for name in names if name in self.inputs.files]
            empty += [file.name for file in files if file.is_without_events]
            if index in self._one_by_one_empty:
                empty += self._one_by_one_empty[index]
            elif len(files) < len(names) and progress.bytes_read and not progress.rows:
                empty += [name for name in names if name not in self.inputs.files]
        return [name for name in empty if name not in known]

    def small_without_events(self, known: set[str], table: pl.DataFrame) -> list[str]:
        """Name the logs that were read together with others, and have no event.

        Parameters
        ----------
        known
            Those of which something else was said.
        table
            The result: logs that have rows have events.
        """
        empty: list[str] = []
        there = set(table["source"].cast(pl.String)) if "source" in table.columns else set()
        for index, (names, progress) in enumerate(zip(self.logs, self._progress.each, strict=True)):
            unsure = [name for name in names if name in self.apart and name not in there | known]
            if len(names) == 1 or not unsure or not progress.rows:
                continue
            if index in self._one_by_one_empty:
                continue
            sources = self._scan(unsure, Progress()).select(pl.col("source").cast(pl.String))
            with_events = set(sources.unique().collect().to_series())
            empty += [name for name in unsure if name not in with_events]
        return empty


class _Kept:
    """The results for several logs, until all are there.

    Every column of words has a buffer of kilobytes, however few rows there are: the tables of a
    thousand small logs would take many times the memory of their rows.
    """

    def __init__(self) -> None:
        self._recent: list[pl.DataFrame] = []
        self._packed: list[bytes] = []

    def add(self, table: pl.DataFrame) -> None:
        """Keep a result."""
        self._recent.append(table)
        if len(self._recent) == _PACKED:
            stream = io.BytesIO()
            _concat(self._recent).write_ipc_stream(stream)
            self._packed.append(stream.getvalue())
            self._recent.clear()

    def table(self) -> pl.DataFrame | None:
        """Join all results in order; return None if no log gave any."""
        tables = [*map(pl.read_ipc_stream, self._packed), *self._recent]
        if not tables:
            return None
        return _concat(tables)


def _concat(tables: list[pl.DataFrame]) -> pl.DataFrame:
    """Put results together, whose columns may differ: inputs may have been analysed one by one."""
    same = all(table.schema == tables[0].schema for table in tables)
    return pl.concat(tables, how="vertical" if same else "diagonal_relaxed")


def _place(sources: pl.Series, logs: Sequence[list[str]], inputs: Inputs) -> pl.Series:
    """Give the place of logs among the inputs."""
    known: dict[str, int] = {}
    for at, names in enumerate(logs):
        for name in names:
            file = inputs.files.get(name)
            # Logs of several tasks (strace -ff) are called what their names have in common.
            of_tasks = re.sub(rf"{TASK_SUFFIX}$", "", name)
            own = [name, of_tasks] if file is None else [log for log, _ in file.logs]
            known |= dict.fromkeys(own, at)
    return sources.cast(pl.String).replace_strict(known, default=None, return_dtype=pl.UInt32)


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
