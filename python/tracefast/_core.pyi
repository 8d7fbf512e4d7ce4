"""The extension module: the parser, its streams and its sinks, written in Rust."""

from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Any, ClassVar, Literal, Protocol, Self, TypedDict, final

from typing_extensions import disjoint_base

__all__ = [
    "SCHEMA_VERSION",
    "ActivityTally",
    "Batch",
    "Covered",
    "Darshan",
    "Decoder",
    "Error",
    "Export",
    "FailedCalls",
    "FileTally",
    "Files",
    "Flow",
    "Fold",
    "FoldThreads",
    "Forks",
    "Memory",
    "ParquetEvents",
    "Phases",
    "Plan",
    "PollTally",
    "Processes",
    "Progress",
    "Reader",
    "Report",
    "Roles",
    "Schema",
    "StraceCounts",
    "Survey",
    "Syscalls",
    "TaskRows",
    "TaskTally",
    "Waits",
    "Workers",
    "__version__",
    "check_batches",
    "column_kinds",
    "column_values",
    "field_column",
    "field_kind",
    "file_id",
    "known_events",
    "logs",
    "metadata",
    "parse",
    "report_of",
    "schema",
    "survey",
    "syscalls_that",
    "times",
]

SCHEMA_VERSION: str
__version__: str

class Error(ValueError):
    """An input is not a log, or a Parquet or Arrow file does not hold events of this schema.

    The text is ``FILE: what``, or ``FILE: line N: what``. `hint` says what to do, if anything is
    known; a traceback shows it below the text, as a note. `kind` is a word that does not change,
    such as ``not_a_log``, ``other_tool``, ``typeset``, ``columns``,
    ``damaged_columns``, ``too_long``.
    """

    hint: str | None
    kind: str | None

@final
class Schema:
    """The columns of a table of events: ``pl.Schema(…)`` and ``pa.schema(…)`` take it.

    Its length is the number of columns, and it iterates over their names. It is equal to a schema
    with the same columns in the same order.
    """

    __hash__: ClassVar[None]  # type: ignore[assignment]

    @property
    def names(self) -> list[str]:
        """Names of the columns, in order."""
    def _repr_html_(self) -> str: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[str]: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __arrow_c_schema__(self) -> object: ...

@final
class Progress:
    """Counters of work in progress, which another thread can read."""

    def __new__(cls) -> Self: ...
    @property
    def bytes_read(self) -> int:
        """Bytes of the logs that were read so far, as stored on disk."""

    @property
    def bytes_total(self) -> int:
        """Size of the logs in bytes; 0 where it is not known, as for standard input."""

    @property
    def rows(self) -> int:
        """Rows that were found so far."""

    @property
    def blocks(self) -> int:
        """Blocks of text that were parsed so far."""

    @property
    def rows_built(self) -> int:
        """Rows that were put into arrays so far, without those that a filter left out."""

    @property
    def columns_built(self) -> int:
        """The largest number of columns that those rows have."""

    @property
    def done(self) -> bool:
        """The logs were read to their end, or as far as needed."""

    def cancel(self) -> None:
        """Stop the work: ``parse`` raises ``KeyboardInterrupt``, and leaves no output."""

class _Line(TypedDict):
    line: int
    text: str

class _SourceReport(TypedDict):
    source: str
    lines: int
    bytes: int
    rows: int
    format: str
    clock: str
    machine: str | None
    kinds: dict[str, int]
    accounting: dict[str, int]
    accounting_bytes: dict[str, int]
    oddities: dict[str, int]
    filtered: bool
    wrapped: int | None
    quality: list[str]
    unparsed: list[_Line]

@final
class Report:
    """What was read, and what every line was used for.

    Reports can be pickled and copied, and are equal if they count the same, however long it took.
    """

    __hash__: ClassVar[None]  # type: ignore[assignment]

    def _repr_html_(self) -> str: ...
    def __eq__(self, other: object, /) -> bool: ...
    @property
    def lines(self) -> int:
        """Lines of text, after unpacking."""

    @property
    def bytes(self) -> int:
        """Bytes of text, after unpacking."""

    @property
    def rows(self) -> int:
        """Rows that the lines gave."""

    @property
    def seconds(self) -> float:
        """How long it took, in seconds."""

    @property
    def format(self) -> str:
        """``strace``, ``tracefs`` or ``trace-cmd``; ``mixed`` if logs differ, or ``none``."""

    @property
    def clock(self) -> str:
        """``epoch``, ``time-of-day``, ``delta``, ``uptime``, ``ticks``, ``none``, or ``mixed``."""

    @property
    def kinds(self) -> dict[str, int]:
        """Rows by `kind`."""

    @property
    def accounting(self) -> dict[str, int]:
        """Lines by use; every line has one, so that they add up to `lines`."""

    @property
    def accounting_bytes(self) -> dict[str, int]:
        """Bytes of the lines by use; they add up to `bytes`."""

    @property
    def oddities(self) -> dict[str, int]:
        """How often something unusual was found; only ``lost_values`` are losses."""

    @property
    def quality(self) -> list[str]:
        """How good the logs are: ``complete``, or what is missing; then what was done to them."""

    @property
    def losses(self) -> int:
        """Lines that were not understood, values that are lost, and logs that end within a call."""

    @property
    def sources(self) -> list[_SourceReport]:
        """The same for each log."""

    @property
    def unparsed(self) -> list[tuple[str, int, str]]:
        """Source, number and text of the first three lines that were not understood."""

    @property
    def warnings(self) -> list[str]:
        """Warnings about empty logs, and the like."""

    def to_json(self) -> str:
        """Give everything except `seconds` as JSON, as it is in the metadata of a file."""

@final
class Batch:
    """Some rows of a stream: an Arrow record batch, which polars and pyarrow take as it is."""

    def _repr_html_(self) -> str: ...
    def __len__(self) -> int: ...
    @property
    def num_rows(self) -> int:
        """How many rows."""
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_array__(
        self, requested_schema: object | None = None
    ) -> tuple[object, object]: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

@final
class ParquetEvents:
    """The rows of a Parquet file of events, in order."""

    def __new__(cls, path: str, *, columns: list[str], threads: int | None = None) -> Self: ...
    def __iter__(self) -> Self: ...
    def __next__(self) -> Batch: ...

class _ArrowStream(Protocol):
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

class _ArrowArray(Protocol):
    def __arrow_c_array__(
        self, requested_schema: object | None = None
    ) -> tuple[object, object]: ...

@disjoint_base
class Fold:
    """A table in the making: batches of events in, in order, one table out."""

    @property
    def needed(self) -> Schema:
        """The columns of the events that the fold reads, in the types that events have."""

    @property
    def schema(self) -> Schema:
        """The columns of the table."""

    @property
    def follows_tasks(self) -> bool:
        """Whether it takes less time if `TaskRows` go first."""

    def words(self, column: str, words: _ArrowStream) -> None:
        """Take the dictionary of a column whose batches hold only keys."""

    def push(self, events: _ArrowStream | _ArrowArray) -> None:
        """Add events."""

    def ready(self) -> list[Batch]:
        """Return the first rows of the table, if they can no longer change; each once."""

    def snapshot(self) -> list[Batch]:
        """Return the table of the events so far; more may follow. Not all tables have one."""

    def finish(self) -> list[Batch]:
        """Return the rest of the table, in one part or several. This can be done once."""

@final
class TaskRows:
    """What each row says about tasks, found out once for the folds of several tables."""

    def __new__(cls) -> Self: ...
    def add_to(self, events: _ArrowArray) -> Batch:
        """Return events, in order, with a column for folds that take all of them."""

@final
class FoldThreads:
    """Folds that take the same batches in threads: each in order, several at once."""

    def __new__(cls, folds: Sequence[Fold], threads: int) -> Self: ...
    def take(self, batch: Batch) -> bool:
        """Wait for room, 0.05 s at most, and give a batch to all; return whether there was room."""

    def take_from(self, events: ParquetEvents, rows: TaskRows | None = None) -> bool:
        """Give all folds what a file has, for 0.05 s and a batch; return whether it was the rest.

        `rows` adds to each batch what its rows say about tasks.
        """

    def end(self) -> bool:
        """Wait, 0.05 s at most, until all have taken everything; return whether they have."""

@final
class Files(Fold):
    def __new__(
        cls,
        *,
        by: str | None = None,
        scope: str = "stream",
        near: int = 131072,
        distributions: bool = True,
    ) -> Self: ...
    @property
    def rings(self) -> tuple[int, int]: ...

@final
class Darshan(Fold):
    def __new__(cls) -> Self: ...

@final
class Forks(Fold):
    def __new__(cls, *, hints: bool = False) -> Self: ...
    def expect_workers(self) -> None: ...
    def take_workers(self, workers: Workers) -> None: ...

@final
class Processes(Fold):
    def __new__(cls) -> Self: ...

@final
class Syscalls(Fold):
    def __new__(
        cls, *, by: str | None = None, span: bool = False, distributions: bool = True
    ) -> Self: ...

@final
class FailedCalls(Fold):
    def __new__(cls) -> Self: ...

@final
class TaskTally(Fold):
    def __new__(cls) -> Self: ...

@final
class FileTally(Fold):
    def __new__(cls) -> Self: ...

@final
class PollTally(Fold):
    def __new__(cls) -> Self: ...

@final
class ActivityTally(Fold):
    def __new__(cls, starts: dict[str, int], *, step_ns: int, steps: int) -> Self: ...

@final
class StraceCounts(Fold):
    def __new__(cls) -> Self: ...

@final
class Flow(Fold):
    def __new__(cls, *, by: str = "process") -> Self: ...
    @property
    def gaps(self) -> list[str]: ...
    def roles(self) -> list[Batch]:
        """Return what each file was for, in one part or several, once all events are in."""

@final
class Roles(Fold):
    def __new__(cls, *, users: bool = True) -> Self: ...
    @property
    def gaps(self) -> list[str]: ...

@final
class Phases(Fold):
    def __new__(cls) -> Self: ...

@final
class Memory(Fold):
    def __new__(cls) -> Self: ...

@final
class Waits(Fold):
    def __new__(cls, *, min_ns: int) -> Self: ...
    @property
    def gaps(self) -> list[str]: ...

@final
class Workers(Fold):
    def __new__(cls, *, estimates: bool = True) -> Self: ...

@final
class Survey(Fold):
    def __new__(cls, *, min_ns: int | None = None) -> Self: ...
    def plan(self) -> Plan: ...

@final
class Plan:
    @property
    def calls(self) -> int: ...
    @property
    def placed(self) -> int: ...

@final
class Export:
    def __new__(
        cls,
        path: str,
        clobber: bool,
        format: str,  # noqa: A002 - as in Rust
        weight: str,
        plan: Plan,
    ) -> Self: ...
    @property
    def needed(self) -> Schema: ...
    @property
    def schema(self) -> Schema: ...
    def words(self, column: str, words: _ArrowStream) -> None: ...
    def push(self, events: _ArrowStream | _ArrowArray) -> None: ...
    def ready(self) -> list[Batch]: ...
    def finish(self) -> list[Batch]: ...
    def commit(self) -> list[tuple[str, int]]: ...

@final
class Covered:
    def __new__(cls) -> Self: ...
    def push(self, ranges: _ArrowStream | _ArrowArray) -> None: ...
    def finish(self) -> Batch: ...

@final
class Decoder:
    @staticmethod
    def for_event(event: str) -> Decoder | None: ...
    @staticmethod
    def generic(fields: Sequence[tuple[str, str]], *, chosen: bool = False) -> Decoder: ...
    @staticmethod
    def function() -> Decoder: ...
    @property
    def schema(self) -> Schema: ...
    def decode(self, texts: _ArrowStream) -> list[Batch]: ...

@final
class Reader:
    """The events of some logs as a stream of Arrow record batches, which can be read once.

    `tracefast.read` makes it. A reader that was iterated in part exports the remaining rows. One
    that was read to its end, exported or closed raises an error.
    """

    def _repr_html_(self) -> str: ...
    def __new__(
        cls,
        sources: list[str],
        *,
        format_in: str | None = None,
        threads: int | None = None,
        block_bytes: int = 262144,
        columns: list[str] | None = None,
        machine: str | None = None,
        assume_complete: bool = False,
        predicate: tuple[Any, ...] | None = None,
        limit: int | None = None,
        progress: Progress | None = None,
        plain_words: bool = False,
        arriving: bool = False,
        ahead: int = 0,
    ) -> Self: ...
    @property
    def schema(self) -> Schema:
        """The columns of the batches."""

    @property
    def report(self) -> Report | None:
        """What was read, at the end of the stream; None before."""

    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __iter__(self) -> Self: ...
    def __next__(self) -> Batch: ...
    def poll(self) -> tuple[bool, Batch | None]:
        """Wait 1/20 s for a batch; return whether this was the end, and the batch or None."""

    def end(self) -> None:
        """Take what was read so far of a log that still comes for all of it; batches follow."""

    def close(self) -> None:
        """Stop reading; batches that were returned stay valid.

        On a closed reader, iteration and ``__arrow_c_stream__`` raise `ValueError`.
        """

    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...

def schema() -> Schema:
    """Give the columns of the events: names, order and types."""

def report_of(json: str, seconds: float) -> Report: ...
def survey(texts: _ArrowStream) -> list[Batch]: ...
def field_kind(classes: int) -> str: ...
def field_column(name: str) -> str: ...
def file_id(name: bytes) -> int: ...
def syscalls_that(does: str) -> list[str]: ...
def check_batches(path: str) -> None: ...
def column_kinds(schema: Schema) -> list[tuple[str, Literal["number", "time", "text"]]]: ...
def column_values(batch: Batch, name: str) -> list[Any]: ...
def known_events() -> list[str]: ...
def logs(names: list[str], *, format_in: str | None = None) -> list[tuple[str, list[str]]]: ...
def metadata(path: str) -> dict[str, str]: ...
def times(path: str) -> tuple[int, int] | None: ...
def parse(
    sources: list[str],
    output: str | None,
    *,
    sink: str = "parquet",
    format_in: str | None = None,
    threads: int | None = None,
    row_group: int = 65536,
    compression: str | None = None,
    block_bytes: int = 262144,
    clobber: bool = True,
    machine: str | None = None,
    model: bool = True,
    assume_complete: bool = False,
    explain: Callable[[list[tuple[str, int, str, str]]], object] | None = None,
    progress: Progress | None = None,
    name: str | None = None,
) -> Report: ...
