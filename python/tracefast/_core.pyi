"""The extension module: the parser, its streams and its sinks, written in Rust."""

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Protocol, Self, TypedDict, final

__all__ = [
    "SCHEMA_VERSION",
    "Batch",
    "Covered",
    "Darshan",
    "Decoder",
    "Error",
    "Progress",
    "Reader",
    "Report",
    "Saved",
    "Schema",
    "Uses",
    "__version__",
    "field_column",
    "field_kind",
    "file_id",
    "known_events",
    "metadata",
    "parse",
    "schema",
    "survey",
]

SCHEMA_VERSION: str
__version__: str

class Error(ValueError):
    """An input that is no log and holds no events of this schema; the text is ``FILE: what``.

    Of a log, the text may name the line: ``FILE: line N: what``. `hint` says what to do, if
    anything is known.
    """

    hint: str | None

@final
class Schema:
    @property
    def names(self) -> list[str]: ...
    def __arrow_c_schema__(self) -> object: ...

@final
class Progress:
    def __new__(cls) -> Self: ...
    @property
    def bytes_read(self) -> int: ...
    @property
    def bytes_total(self) -> int: ...
    @property
    def rows(self) -> int: ...
    def cancel(self) -> None: ...

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
    unparsed: list[_Line]

@final
class Report:
    @property
    def lines(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    @property
    def rows(self) -> int: ...
    @property
    def seconds(self) -> float: ...
    @property
    def format(self) -> str: ...
    @property
    def clock(self) -> str: ...
    @property
    def kinds(self) -> dict[str, int]: ...
    @property
    def accounting(self) -> dict[str, int]: ...
    @property
    def accounting_bytes(self) -> dict[str, int]: ...
    @property
    def oddities(self) -> dict[str, int]: ...
    @property
    def sources(self) -> list[_SourceReport]: ...
    @property
    def unparsed(self) -> list[tuple[str, int, str]]: ...
    @property
    def warnings(self) -> list[str]: ...
    def to_json(self) -> str: ...

@final
class Batch:
    def __len__(self) -> int: ...
    @property
    def num_rows(self) -> int: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_array__(
        self, requested_schema: object | None = None
    ) -> tuple[object, object]: ...

@final
class Saved:
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

@final
class Uses:
    def __new__(
        cls, *, by: str | None = None, scope: str = "stream", near: int = 131072
    ) -> Self: ...
    @staticmethod
    def schema(*, by: str | None = None) -> Schema: ...
    def words(self, column: str, words: _ArrowStream) -> None: ...
    def push(self, events: _ArrowStream | _ArrowArray) -> None: ...
    @property
    def rings(self) -> tuple[int, int]: ...
    def finish(self) -> Batch: ...

@final
class Covered:
    def __new__(cls) -> Self: ...
    def push(self, ranges: _ArrowStream | _ArrowArray) -> None: ...
    def finish(self) -> Batch: ...

@final
class Darshan:
    def __new__(cls) -> Self: ...
    @staticmethod
    def schema() -> Schema: ...
    def words(self, column: str, words: _ArrowStream) -> None: ...
    def push(self, events: _ArrowStream | _ArrowArray) -> None: ...
    def finish(self) -> Batch: ...

@final
class Decoder:
    @staticmethod
    def of(event: str) -> Decoder | None: ...
    @staticmethod
    def generic(fields: Sequence[tuple[str, str]], *, chosen: bool = False) -> Decoder: ...
    @staticmethod
    def function() -> Decoder: ...
    @property
    def schema(self) -> Schema: ...
    def decode(self, texts: _ArrowStream) -> list[Batch]: ...

@final
class Reader:
    def __new__(
        cls,
        sources: list[str],
        *,
        format_in: str | None = None,
        threads: int | None = None,
        block_bytes: int = 262144,
        columns: list[str] | None = None,
        machine: str | None = None,
        progress: Progress | None = None,
    ) -> Self: ...
    @property
    def schema(self) -> Schema: ...
    @property
    def report(self) -> Report | None: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __iter__(self) -> Self: ...
    def __next__(self) -> Batch: ...
    def close(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...

def schema() -> Schema: ...
def survey(texts: _ArrowStream) -> list[Batch]: ...
def field_kind(classes: int) -> str: ...
def field_column(name: str) -> str: ...
def file_id(name: bytes) -> int: ...
def known_events() -> list[str]: ...
def metadata(path: str) -> dict[str, str]: ...
def parse(
    sources: list[str],
    output: str | None,
    *,
    sink: str = "parquet",
    format_in: str | None = None,
    threads: int | None = None,
    row_group: int = 131072,
    block_bytes: int = 262144,
    clobber: bool = True,
    machine: str | None = None,
    model: bool = True,
    explain: Callable[[list[tuple[str, int, str, str]]], object] | None = None,
    progress: Progress | None = None,
) -> Report: ...
