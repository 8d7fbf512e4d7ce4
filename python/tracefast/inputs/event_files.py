"""Parquet and Arrow IPC files of events: what their footers say, each read once."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from tracefast import _core
from tracefast._polars.compatible_types import listed, of_other_types
from tracefast._polars.event_schema import JOINED_COLUMNS, joined_schema
from tracefast.error_hints import error_with_hint
from tracefast.inputs.contents import Content

# The version of the schema of joined events, which have more columns at the end.
JOINED_SCHEMA: Final = "2"


@dataclass(frozen=True)
class EventFile:
    """A file of events, by its footer.

    Parameters
    ----------
    name
        Path of the file.
    columns
        Its columns, in the types of polars.
    metadata
        Its metadata, by key.

    Examples
    --------
    >>> import tracefast as tf
    >>> _ = tf.parse("demo.strace", "run.parquet")
    >>> file = EventFiles().read("run.parquet", "parquet")
    >>> file.columns["bytes"], file.logs, file.clocks, file.is_without_events
    (Int64, [('demo.strace', 775)], {'demo.strace': 'epoch'}, False)
    """

    name: str
    columns: pl.Schema
    metadata: Mapping[str, str]

    @property
    def logs(self) -> list[tuple[str, int]]:
        """The logs that it was made from, and their bytes; none if another library wrote it."""
        return [(log["source"], log["bytes"]) for log in self._report.get("sources", ())]

    @property
    def clocks(self) -> dict[str, str]:
        """The clocks of these logs."""
        return {log["source"]: log["clock"] for log in self._report.get("sources", ())}

    @property
    def is_without_events(self) -> bool:
        """Whether no event was found in these logs."""
        return "no event was found" in self._report.get("warnings", ())

    @property
    def _report(self) -> dict[str, list[Any]]:
        report: dict[str, list[Any]] = json.loads(self.metadata.get("tracefast.report", "{}"))
        return report


class EventFiles:
    """Reads the footers of files of events.

    Most of many files have the same columns, which are checked once.
    """

    def __init__(self) -> None:
        self._columns: dict[str, pl.Schema] = {}

    def read(self, name: str, content: Content) -> EventFile:
        """Read a footer; refuse a file without events of this schema.

        Files that tracefast wrote have the version of their schema in the metadata. polars does not
        keep it when it writes a part of the events. Such files are recognized by their columns.

        Parameters
        ----------
        name
            Path of the file.
        content
            What it is by its first bytes: ``"parquet"`` or ``"ipc"``.

        Raises
        ------
        Error
            The file is incomplete, or holds something else; ``hint`` says what to do.
        OSError
            It cannot be read.

        Examples
        --------
        >>> pl.DataFrame({"name": ["read"], "loss": [0.5]}).write_parquet("run.parquet")
        >>> try:
        ...     EventFiles().read("run.parquet", "parquet")
        ... except _core.Error as error:
        ...     print(error)
        run.parquet: not the events of a log: these have no column 'loss'
        """
        metadata = _core.metadata(name)
        if content == "ipc":
            # A spoiled length makes polars end the whole process.
            _core.check_batches(name)
        version = metadata.get("tracefast.schema")
        if version not in (None, _core.SCHEMA_VERSION, JOINED_SCHEMA):
            writer = metadata.get("tracefast.version", "of another version")
            raise refused(
                name,
                f"events of schema {version}, written by tracefast {writer}; this is tracefast "
                f"{_core.__version__}, which reads schema {_core.SCHEMA_VERSION} and "
                f"{JOINED_SCHEMA}",
            )
        # Parquet has the columns in the types of Arrow here; polars takes them from it as well.
        key = metadata.get("ARROW:schema") if content == "parquet" else None
        columns = None if key is None else self._columns.get(key)
        if columns is None:
            columns = _columns(name, content)
            check_columns(name, columns)
            if key is not None:
                self._columns[key] = columns
        return EventFile(name, columns, metadata)


def _columns(name: str, content: Content) -> pl.Schema:
    read = pl.read_parquet_schema if content == "parquet" else pl.read_ipc_schema
    try:
        return pl.Schema(read(name))
    except pl.exceptions.PolarsError as error:
        raise damaged(name, error) from error


def check_columns(name: str, found: pl.Schema) -> None:
    """Refuse columns that events do not have, or whose type holds other data.

    Parameters
    ----------
    name
        Path or URL of the file.
    found
        Its columns.

    Raises
    ------
    Error
        They are not those of events.
    """
    wanted = joined_schema()
    foreign = [column for column in found if column not in wanted]
    if foreign:
        names = listed(map(repr, foreign))
        what = "column" if len(foreign) == 1 else "columns"
        raise refused(name, f"not the events of a log: these have no {what} {names}")
    if not found:
        raise refused(name, "not the events of a log: it has no columns")
    if (odd := of_other_types(found, wanted)) is not None:
        raise refused(name, odd)


def check_same(files: Iterable[EventFile]) -> None:
    """Refuse files if some lack columns that others have.

    Raises
    ------
    Error
        A file lacks a column; the message names it and a file that has the column.
    """
    first: EventFile | None = None
    seen: list[pl.Schema] = []
    for file in files:
        if any(file.columns is known for known in seen):
            continue
        seen.append(file.columns)
        first = first or file
        for lacking, having in ((file, first), (first, file)):
            optional = (*lacking.columns, *JOINED_COLUMNS)
            if more := [name for name in having.columns if name not in optional]:
                what = "column" if len(more) == 1 else "columns"
                names = listed(map(repr, more))
                raise refused(lacking.name, f"lacks the {what} {names} that {having.name} has")


def damaged(file: str, error: BaseException) -> _core.Error:
    """Make an error of one of polars, which could not read a file of events."""
    first = str(error).partition("\n")[0]
    return refused(file, f"the file of events is incomplete or damaged: {first}")


def refused(file: str, why: str) -> _core.Error:
    """Make the error for a file that does not hold the events that it should."""
    hint = "re-create it from the log"
    return error_with_hint(f"{file}: {why}", hint, kind="damaged_columns")
