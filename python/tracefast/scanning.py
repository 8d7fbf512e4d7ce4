"""Scan logs, Parquet and Arrow IPC as one polars LazyFrame: `scan`."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from typing import get_args

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
from tracefast._polars.source_threads import hold, patiently, refuse_fork, release
from tracefast.arguments import check_choice, thread_count
from tracefast.error_hints import error_with_hint
from tracefast.inputs.contents import Content, is_pipe, sniff
from tracefast.inputs.duplicates import files_sharing_names
from tracefast.inputs.event_files import EventFile, EventFiles, check_columns, check_same
from tracefast.inputs.sources import STDIN, Sources, expand, is_url
from tracefast.reading import FormatIn, Machine


def scan(
    sources: Sources,
    *,
    format_in: FormatIn | None = None,
    machine: Machine | None = None,
    assume_complete: bool = False,
    threads: int | None = None,
    storage_options: Mapping[str, str] | None = None,
    progress: _core.Progress | None = None,
) -> pl.LazyFrame:
    """Scan logs, Parquet or Arrow IPC files as one table of events.

    Before the frame is collected, only the first bytes of each file and the metadata of Parquet
    and Arrow files are read. Logs are then parsed as a stream. Columns that the query does not need
    and rows that a filter drops are not built, and ``head`` stops early. The parser applies these
    parts of a filter: comparisons of a number or time with a value (``>``, ``is_between``,
    ``is_in`` …) and of words and paths with a text (``==``, ``is_in``, ``str.starts_with``,
    ``str.ends_with``, ``str.contains(…, literal=True)``), ``is_null``, and combinations of these
    with ``&``, ``|`` and ``~``. polars applies the rest. ``explain`` shows both as ``SELECTION``.

    polars reads Parquet and Arrow files lazily, and skips row groups by their statistics. They may
    also hold a part of the events, written by polars or another library. Columns are converted to
    the types of a log: words may be strings or dictionaries, times may have any unit, integers any
    width. Columns of other data, such as floating-point numbers instead of integers, are refused.

    Parameters
    ----------
    sources
        Path of a file or of a directory, a pattern, a URL, or any mixture of them. Logs of
        ``strace -ff -o NAME`` are merged, also when only ``NAME`` is given. A directory stands for
        the files below it, sorted, without empty files and names that start with ``.`` or ``_``; it
        must not hold both logs and Parquet or Arrow files. A file that is named twice is read once.
        If Parquet or Arrow files were made from different logs of the same name, `source` is the
        name of the file followed by that of the log. URLs (``s3://``, ``gs://``, ``az://``,
        ``https://``, ``file://``) must be of Parquet files, and may contain a pattern.
    format_in
        Format of the logs; detected from the text by default.
    machine, assume_complete
        As for :func:`tracefast.parse`.
    threads
        Number of worker threads for logs; all cores by default.
    storage_options
        Options for URLs, as for :func:`polars.scan_parquet`.
    progress
        Counters for the logs, to poll from another thread or to read afterwards: ``bytes_read``,
        ``blocks`` of text parsed, ``rows`` found so far, and how much of them was built,
        ``rows_built`` and ``columns_built``.

    Returns
    -------
    polars.LazyFrame
        The events in the order of the sources, with the columns of :func:`tracefast.schema`. `name`
        and `source` are ``String``, the other dictionaries are ``Categorical``.

    Raises
    ------
    OSError
        A file is missing or cannot be read.
    Error
        A Parquet or Arrow IPC file is incomplete, holds something other than events, events of
        another version of the schema, or those of a log that is also given; a URL cannot be read;
        a directory holds both logs and Parquet or Arrow files. ``hint`` says what to do. (An input
        that is not a log is only detected when the frame is collected. So is damage inside a
        Parquet or Arrow file, which raises an error of polars or ``OSError``.)
    ValueError
        A source is standard input: a lazy query may read its sources more than once. Or there is no
        such `format_in` or `machine`, or `threads` is less than 1.
    TypeError
        An argument has the wrong type, such as an open file instead of a path.
    RuntimeError
        This process was forked from one that had run such a query, and polars would hang.

    Examples
    --------
    >>> import polars as pl
    >>> import tracefast as tf
    >>> counters = tf.Progress()
    >>> events = tf.scan("demo.strace", progress=counters)
    >>> events.filter(pl.col("name") == "read").select("name", "bytes").collect().rows()
    [('read', 4096), ('read', 0)]
    >>> counters.rows, counters.rows_built, counters.columns_built
    (8, 2, 2)
    """
    # Errors should be raised by this call, not when the frame is collected.
    refuse_fork()
    check_choice("format_in", format_in, get_args(FormatIn))
    check_choice("machine", machine, get_args(Machine))
    threads = thread_count(threads)
    names = expand(sources, lazily=True)
    if STDIN in names:
        raise ValueError(
            "standard input cannot be scanned, because a query may read it more than once; "
            "use tracefast.parse('-', FILE) or tracefast.read('-')"
        )
    inputs = Inputs.of(names)
    check_same(inputs.files.values())
    return scan_inputs(
        inputs,
        names,
        format_in=format_in,
        machine=machine,
        assume_complete=assume_complete,
        threads=threads,
        storage_options=storage_options,
        progress=progress,
    )


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
    format_in: FormatIn | None,
    machine: Machine | None,
    assume_complete: bool,
    threads: int | None,
    storage_options: Mapping[str, str] | None = None,
    progress: _core.Progress | None = None,
) -> pl.LazyFrame:
    """Scan some of the inputs that were looked at; their footers are not read again.

    Parameters
    ----------
    inputs
        What is known of them.
    names
        The names of those to scan, in order.
    format_in, machine, assume_complete, threads, storage_options, progress
        As for `scan`.
    """
    frames: list[pl.LazyFrame] = []
    openers: list[direct_read.Opener] = []
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
            openers.append(direct_read.parquet(files) if direct else direct_read.unreadable)
        else:
            logs = _LogBuilder(
                tuple(files),
                format_in,
                machine,
                threads,
                progress,
                assume_complete=assume_complete,
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
    direct_read.remember(frame, openers)
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
        return patiently(partial(self.open, columns))

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
        """Name the logs in ``LazyFrame.explain``."""
        return {"logs": ", ".join(self.names)}


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
