"""Read logs into files and streams of Arrow: `parse` and `read`. Neither imports polars."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, get_args

from tracefast import _core
from tracefast.arguments import check_choice, integer, path_text, thread_count
from tracefast.inputs.sources import Source, Sources, expand
from tracefast.outputs import Sink, refuse_own_input, sink_of

if TYPE_CHECKING:
    from collections.abc import Sequence

FormatIn = Literal["strace", "ftrace"]
Machine = Literal["x86_64", "i386", "arm64", "arm", "riscv64"]

# The largest row group of Parquet, and the largest block of text.
_ROW_GROUP_ROWS = 1 << 24
_BLOCK_BYTES = 1 << 26

# A line that was not understood: its source, its number, its text, and what was expected there.
UnparsedLine = tuple[str, int, str, str]
Explain = Callable[[list[UnparsedLine]], object]


def parse(
    sources: Sources,
    output: Source | None,
    *,
    format_in: FormatIn | None = None,
    sink: Sink | None = None,
    threads: int | None = None,
    row_group: int = 65_536,
    compression: str | None = None,
    block_bytes: int = 262_144,
    clobber: bool = True,
    machine: Machine | None = None,
    model: bool = True,
    assume_complete: bool = False,
    explain: Explain | None = None,
    progress: _core.Progress | None = None,
) -> _core.Report:
    """Parse logs into one Parquet or Arrow IPC file.

    The output appears whole or not at all, and its bytes depend only on the input, not on the
    number of threads.

    Parameters
    ----------
    sources
        Path of a log or of a directory of logs, a pattern, or several of them; ``"-"`` is standard
        input. Logs of ``strace -ff -o NAME`` are merged, also when only ``NAME`` is given.
        Compressed logs (gzip, zstd, xz, bzip2) are recognized by their first bytes.
    output
        Path of the file to write; ``"-"`` is standard output, None writes nothing.
    format_in
        Format of the logs; detected from the text by default.
    sink
        Format of the output; by default chosen by the suffix of `output`: ``.parquet``, or
        ``.arrow``, ``.feather``, ``.ipc``.
    threads
        Number of worker threads; all cores by default.
    row_group
        Rows in a row group of Parquet, at most 16,777,216. Readers skip row groups and, within
        them, pages of 65,536 rows. Larger groups take more memory while they are written.
    compression
        Compression of Parquet pages: ``"zstd"`` for level 1, ``"zstd:1"`` to ``"zstd:22"``,
        ``"lz4"``, or ``"none"``. The default is zstd at level 1: higher levels save a few per cent
        and take much longer. Arrow files are not compressed.
    block_bytes
        Bytes of text that one worker takes at a time.
    clobber
        Replace an output that exists.
    machine
        The machine on which ftrace recorded the logs. It decides what the call numbers and
        registers of ``raw_syscalls`` mean. By default it is guessed from the numbers, arguments
        and addresses in the first megabyte. Logs that name their calls do not need it.
    model
        Follow tasks, descriptors and files through the log. Without it, parsing is faster, and the
        columns that need it are null: `task`, `ofd`, `offset`, `access`, `child`, and `path` where
        only the descriptor is printed.
    assume_complete
        Take it that all calls that open files or move positions were traced, even if the log seems
        to lack some of them: positions are then ``exact`` where they would be ``assumed``.
    explain
        Called with lines that were not understood, in order, several at a time: a list of tuples
        of source, line number, text, and a description of what was expected there. So are calls
        whose result is lost and, at the end, the first notes behind results of each log. If it
        raises an exception, parsing stops.
    progress
        Counters to poll from another thread.

    Returns
    -------
    Report
        What was read: lines and bytes, rows by kind (``kinds``), lines and bytes by use
        (``accounting``, ``accounting_bytes``; every line counts once), what is unusual but not
        lost (``oddities``), the first lines that were not understood (``unparsed``), and the same
        for each log (``sources``). It is also in the metadata of the file, as
        ``tracefast.report``.

    Raises
    ------
    Error
        An input is not a log, or the output would replace it.
    OSError
        An input cannot be read or the output cannot be written; ``filename`` says which.
    TypeError
        An argument has the wrong type, such as an open file instead of a path.
    ValueError
        The suffix of `output` is not known, and `sink` is not given; there is no such `machine` or
        `compression`, or the output format has no compression; a number is out of range.

    Examples
    --------
    >>> import tracefast as tf
    >>> report = tf.parse("demo.strace", "demo.parquet")
    >>> report.format, report.clock, report.rows
    ('strace', 'epoch', 8)
    >>> report.unparsed
    []
    >>> [(log["source"], log["lines"], log["accounting"]["resumed"]) for log in report.sources]
    [('demo.strace', 10, 2)]

    >>> with open("demo.strace", "a") as log:
    ...     print("100 1700000000.001700 three = 3", file=log)
    >>> report = tf.parse(
    ...     "demo.strace", None, explain=lambda lines: print(lines[0][1], lines[0][3])
    ... )
    11 an event after the columns: NAME(…) = RESULT, <... NAME resumed>, --- SIGNAL {…} ---, ...
    """
    check_choice("format_in", format_in, get_args(FormatIn))
    check_choice("machine", machine, get_args(Machine))
    target = None if output is None else path_text("output", output)
    chosen = sink or ("parquet" if target is None else sink_of(target))
    if chosen is None:
        raise ValueError(f"{target}: unknown suffix; pass sink='parquet' or sink='arrow'")
    names = expand(sources)
    if target is not None:
        refuse_own_input(names, target)
    return _core.parse(
        names,
        target,
        sink=chosen,
        format_in=format_in,
        threads=thread_count(threads),
        row_group=integer("row_group", row_group, low=1, high=_ROW_GROUP_ROWS),
        compression=compression,
        block_bytes=integer("block_bytes", block_bytes, low=1, high=_BLOCK_BYTES),
        clobber=clobber,
        machine=machine,
        model=model,
        assume_complete=assume_complete,
        explain=explain,
        progress=progress,
    )


def read(
    sources: Sources,
    *,
    columns: "Sequence[str] | None" = None,
    format_in: FormatIn | None = None,
    machine: Machine | None = None,
    assume_complete: bool = False,
    threads: int | None = None,
    block_bytes: int = 262_144,
    progress: _core.Progress | None = None,
) -> _core.Reader:
    """Read logs as a stream of Arrow record batches.

    Pass the reader to any library that takes Arrow: ``pl.DataFrame(reader)``, ``pa.table(reader)``,
    ``pd.DataFrame.from_arrow(reader)``, ``duckdb.sql("select … from reader")``. It can be read
    once. Iterating over it yields batches of about 8,192 rows, which the same libraries take. To
    get the same data in other Arrow types, pass ``requested_schema``, as below.

    Parameters
    ----------
    sources
        Path of a log or of a directory of logs, a pattern, or several of them; ``"-"`` is standard
        input. Logs of ``strace -ff -o NAME`` are merged, also when only ``NAME`` is given.
    columns
        Names of the columns to read, in this order; others are never built. All by default.
    format_in
        Format of the logs; detected from the text by default.
    machine, assume_complete
        As for :func:`parse`.
    threads
        Number of worker threads; all cores by default.
    block_bytes
        Bytes of text that one worker takes at a time.
    progress
        Counters to poll from another thread.

    Returns
    -------
    Reader
        An iterator of batches with ``__arrow_c_stream__``; at the end it has a ``report``. Closing
        it early (``with``, ``close``) or dropping it stops its threads. After iterating over some
        batches, the stream has the remaining ones; reading it a second time, or after closing it,
        raises an error. A reader cannot be used in a forked process, which has to open its own.

    Raises
    ------
    Error
        An input is not a log; for inputs after the first, this is raised while reading.
    OSError
        An input cannot be read; ``filename`` says which.
    TypeError
        An argument has the wrong type, such as an open file instead of a path.
    ValueError
        There is no such `machine` or column, or a column is named twice; a number is out of range.

    Examples
    --------
    >>> import polars as pl
    >>> import tracefast as tf
    >>> pl.DataFrame(tf.read("demo.strace", columns=["name", "ret"])).head(2).rows()
    [('openat', 3), ('read', 4096)]

    To get strings instead of dictionaries, with pyarrow:

    >>> import pyarrow as pa
    >>> wanted = pa.schema({"name": pa.string()})
    >>> reader = tf.read("demo.strace", columns=["name"])
    >>> pa.RecordBatchReader.from_stream(reader, wanted).read_all()["name"].to_pylist()[:2]
    ['openat', 'read']
    """
    if isinstance(columns, str):
        # A string is a sequence of strings as well.
        raise TypeError(f"columns must be a list of names: columns=[{columns!r}]")
    check_choice("format_in", format_in, get_args(FormatIn))
    check_choice("machine", machine, get_args(Machine))
    return _core.Reader(
        expand(sources),
        format_in=format_in,
        threads=thread_count(threads),
        block_bytes=integer("block_bytes", block_bytes, low=1, high=_BLOCK_BYTES),
        columns=None if columns is None else list(columns),
        machine=machine,
        assume_complete=assume_complete,
        progress=progress,
    )
