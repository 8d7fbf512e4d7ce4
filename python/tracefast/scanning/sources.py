"""Logs, Parquet and Arrow IPC files as one lazy frame of events."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby

import polars as pl
from polars.io.external_reader import (
    FileReader,
    FileReaderBuilder,
    FilterExpr,
    ReaderCapabilities,
    scan_external_reader,
)

from tracefast import _core
from tracefast._polars import direct_read, pushdown
from tracefast._polars.compatible_types import fitted
from tracefast._polars.event_schema import JOINED_COLUMNS, event_schema, joined_schema
from tracefast._polars.pushdown import Predicate
from tracefast._polars.source_threads import hold, patiently, release
from tracefast.error_hints import error_with_hint
from tracefast.inputs.contents import Content, is_pipe, sniff
from tracefast.inputs.duplicates import files_sharing_names
from tracefast.inputs.event_files import EventFile, EventFiles, check_columns
from tracefast.inputs.sources import is_url
from tracefast.reading import FormatIn, Machine
from tracefast.scanning.ahead import Ahead


@dataclass(frozen=True)
class Inputs:
    """What is known of inputs before their events are read.

    Parameters
    ----------
    contents
        What each of them is by its first bytes, by name; None for URLs.
    files
        The Parquet and Arrow files, by name.
    shared
        Those of them whose logs have the name of another log.
    """

    contents: Mapping[str, Content | None]
    files: Mapping[str, EventFile]
    shared: frozenset[str]

    @classmethod
    def of(cls, names: Iterable[str]) -> "Inputs":
        """Look at inputs.

        Raises
        ------
        Error
            A Parquet or Arrow file does not hold events, or those of another input.
        OSError
            An input is missing or cannot be read.

        Examples
        --------
        >>> Inputs.of(["demo.strace"]).contents
        {'demo.strace': 'log'}
        """
        contents = {name: None if is_url(name) else sniff(name) for name in names}
        reader = EventFiles()
        files = {
            name: reader.read(name, content)
            for name, content in contents.items()
            if content not in (None, "log")
        }
        return cls(contents, files, files_sharing_names(contents, files))


def scan_inputs(
    inputs: Inputs,
    names: Iterable[str],
    *,
    format_in: FormatIn | None = None,
    machine: Machine | None = None,
    assume_complete: bool = False,
    threads: int | None = None,
    storage_options: Mapping[str, str] | None = None,
    progress: _core.Progress | None = None,
    ahead: Ahead | None = None,
) -> pl.LazyFrame:
    """Scan some of the inputs that were looked at; their footers are not read again.

    Parameters
    ----------
    inputs
        What is known of them.
    names
        The names of those to scan, in order.
    format_in, machine, assume_complete, threads, storage_options, progress
        As for :func:`tracefast.scan`.
    ahead
        The only log, read with the same options, if that has started.
    """
    frames: list[pl.LazyFrame] = []
    openers: list[direct_read.Opener] = []
    reports: list[_core.Report] = []
    parquet: list[str] = []
    for (content, is_shared), run in groupby(
        names, lambda name: (inputs.contents[name], name in inputs.shared)
    ):
        files = list(run)
        if content is None:
            frames.append(_scan_urls(files, storage_options))
            openers.append(direct_read.unreadable)
            continue
        if content != "log":
            known = [inputs.files[name] for name in files]
            frames.append(_scan_columns(known, content, named=is_shared))
            direct = content == "parquet" and not is_shared
            parquet += files if direct else []
            openers.append(direct_read.parquet(files) if direct else direct_read.unreadable)
        else:
            logs = _LogBuilder(
                tuple(files),
                format_in,
                machine,
                threads,
                progress,
                assume_complete=assume_complete,
                reports=reports,
                ahead=ahead,
            )
            openers.append(logs.batches)
            frames.append(
                scan_external_reader(
                    logs,
                    # The parser reads all logs of a run in order, with all its threads, so they
                    # are one source. The name is only for `explain`.
                    sources=["\n".join(files).encode()],
                    schema=event_schema(),
                )
            )
    frame = _concat(frames)
    direct_read.remember(frame, openers, reports, parquet if len(frames) == 1 else ())
    return frame


def _scan_columns(files: list[EventFile], content: Content, *, named: bool) -> pl.LazyFrame:
    """Scan Parquet or Arrow IPC files, converting those that differ in types.

    Parameters
    ----------
    files, content
        The files.
    named
        Put the names of the files in front of those of their logs.
    """
    frames: list[pl.LazyFrame] = []
    # polars reads several Parquet files of one schema in one scan.
    single = named or content == "ipc"
    for _, run in groupby(
        files, lambda file: (list(file.columns.items()), file.name if single else None)
    ):
        same = list(run)
        scanned = pl.scan_parquet if content == "parquet" else pl.scan_ipc
        frame = _as_scanned(scanned([file.name for file in same], glob=False), same[0].columns)
        frames.append(_named(frame, same[0].name) if named else frame)
    return _concat(frames)


def _named(events: pl.LazyFrame, file: str) -> pl.LazyFrame:
    """Put the name of a file in front of the names of the logs that it was made from."""
    name = pl.concat_str(pl.lit(f"{file}:"), pl.col("source").cast(pl.String))
    return events.with_columns(name.cast(event_schema()["source"]).alias("source"))


def _concat(frames: list[pl.LazyFrame]) -> pl.LazyFrame:
    """Concatenate frames, with the columns in the order of the first one."""
    if len(frames) == 1:
        return frames[0]
    columns = [frame.collect_schema().names() for frame in frames]
    # Events that were not joined have nulls where others were.
    more = [name for name in JOINED_COLUMNS if any(name in names for names in columns)]
    full = [
        frame.with_columns(pl.lit(None, pl.Int64).alias(name) for name in more if name not in names)
        for frame, names in zip(frames, columns, strict=True)
    ]
    names = [name for name in columns[0] if name not in more] + more
    return pl.concat(
        [
            frame.select(names) if set(own) | set(more) == set(names) else frame
            for frame, own in zip(full, columns, strict=True)
        ]
    )


def _as_scanned(events: pl.LazyFrame, have: pl.Schema) -> pl.LazyFrame:
    """Convert the columns of a file to the types that `scan` returns."""
    wanted = joined_schema()
    fits = {name: fitted(name, dtype, wanted[name]) for name, dtype in have.items()}
    other = [fit for name, fit in fits.items() if fit is not None and have[name] != wanted[name]]
    return events.with_columns(other) if other else events


def _scan_urls(urls: list[str], storage_options: Mapping[str, str] | None) -> pl.LazyFrame:
    """Scan Parquet at URLs; the footer is read now, so that mistakes are noticed."""
    options = None if storage_options is None else dict(storage_options)
    frames: list[pl.LazyFrame] = []
    for url in urls:
        frame = pl.scan_parquet(url, storage_options=options)
        try:
            found = frame.collect_schema()
        except pl.exceptions.ComputeError as error:
            what = f"{url}: not Parquet, or not readable: {error}"
            hint = "only Parquet can be scanned by URL: download logs, or parse them where they are"
            raise error_with_hint(what, hint) from error
        check_columns(url, found)
        frames.append(_as_scanned(frame, found))
    return _concat(frames)


def one_line(text: str, markup: str = "") -> str:
    r"""Write text so that no character of it is invisible, starts a line or turns the text around.

    Parameters
    ----------
    text
        Such as the name of a file, which may hold anything.
    markup
        More characters to write by their numbers.

    Examples
    --------
    >>> one_line("a\nb\u202e<i>", "<>")
    'a\\u{a}b\\u{202e}\\u{3c}i\\u{3e}'
    """
    return "".join(
        one if one.isprintable() and one not in markup else f"\\u{{{ord(one):x}}}" for one in text
    )


@dataclass(frozen=True)
class _LogBuilder(FileReaderBuilder):
    """Opens streams over logs for polars."""

    names: tuple[str, ...]
    format_in: FormatIn | None
    machine: Machine | None
    threads: int | None
    progress: _core.Progress | None
    assume_complete: bool = False
    taken: set[str] = field(default_factory=set, compare=False)
    reports: list[_core.Report] = field(default_factory=list, compare=False)
    """What passes over all rows have shown."""
    ahead: Ahead | None = field(default=None, compare=False)

    def open(
        self,
        columns: list[str],
        predicate: Predicate | None = None,
        limit: int | None = None,
        *,
        plain_words: bool = False,
    ) -> _core.Reader:
        """Start to parse: some columns, of the rows that match, up to a number of rows."""
        for pipe in filter(is_pipe, self.names):
            if pipe in self.taken:
                raise error_with_hint(
                    f"{pipe}: a pipe can be read only once, and this query reads it again",
                    "convert it with tracefast.parse, and scan the Parquet file",
                )
            self.taken.add(pipe)
        return _core.Reader(
            list(self.names),
            format_in=self.format_in,
            machine=self.machine,
            assume_complete=self.assume_complete,
            threads=self.threads,
            columns=columns,
            predicate=predicate,
            limit=limit,
            progress=self.progress,
            plain_words=plain_words,
        )

    def batches(self, columns: list[str]) -> direct_read.Batches:
        """Parse some columns of all rows into batches."""
        opened: list[_core.Reader] = []

        def open_it() -> _core.Reader:
            started = None if self.ahead is None else self.ahead.take(columns)
            opened.append(started or self.open(columns))
            return opened[-1]

        yield from patiently(open_it)
        self.reports.extend(reader.report for reader in opened if reader.report is not None)

    def reader_capabilities(self) -> ReaderCapabilities:
        """Say what is pushed down: slices from the start, and filters as far as possible."""
        return ReaderCapabilities(pre_slice=True, supported_filter="partial")

    def build_file_reader(
        self,
        source: str | bytes,  # noqa: ARG002
        multi_scan_context: dict[object, object],  # noqa: ARG002
    ) -> "_LogReader":
        """Open the stream; all logs are a single source."""
        return _LogReader(self)

    def explain_properties(self) -> dict[str, str]:
        """Name the logs in ``LazyFrame.explain``, which polars shows in notebooks as HTML."""
        return {"logs": one_line(", ".join(self.names), "<>&")}


class _LogReader(FileReader):
    """One pass over logs."""

    def __init__(self, builder: _LogBuilder) -> None:
        self._builder = builder

    def on_drop(self) -> None:
        """Note that polars will not read on: its thread leaves Python."""
        release(self)

    def schema(self) -> pl.Schema:
        """Give the schema, which does not depend on the logs."""
        return event_schema()

    def collect_batches(
        self,
        *,
        columns: Sequence[str],
        row_index: tuple[str, int] | None,  # noqa: ARG002
        pre_slice: tuple[int, int] | None,
        filters: Sequence[FilterExpr],
        num_pipelines: int,  # noqa: ARG002
    ) -> Iterator[pl.DataFrame]:
        """Yield the requested rows in batches; polars applies the filters to them again."""
        hold(self)
        skip, limit = pre_slice if pre_slice is not None else (0, None)
        if limit == 0:
            return
        # A slice counts rows before filtering.
        wanted = pushdown.predicate(filters) if pre_slice is None else None
        end = None if limit is None else skip + limit
        # A source that does not yield cannot be stopped (see `source_threads`).
        nothing = event_schema().to_frame().select(columns)
        opened = partial(self._builder.open, list(columns), wanted, end, plain_words=True)
        for batch in patiently(opened):
            if batch is None or batch.num_rows <= skip:
                skip -= 0 if batch is None else batch.num_rows
                yield nothing
                continue
            # Without columns a frame still has a height, which is how polars counts rows.
            rows = batch.num_rows
            frame = pl.DataFrame(batch).select(columns) if columns else pl.DataFrame(height=rows)
            yield frame.slice(skip)
            skip = 0

    def n_rows_in_file(self, limit: int | None = None) -> int:
        """Count the rows, up to a limit."""
        rows = 0
        with self._builder.open([], limit=limit) as reader:
            for batch in reader:
                rows += batch.num_rows
        return rows
