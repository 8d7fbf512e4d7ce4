"""The typed fields of one ftrace event, as columns."""

from collections.abc import Mapping, Sequence
from typing import Final, Literal, get_args

import polars as pl

from tracefast import _core
from tracefast._polars.given_events import Events, rows_of
from tracefast._polars.map_rows import map_rows
from tracefast.arguments import check_choice

Kind = Literal["event", "function"]

REST: Final = "rest"

# Columns of the record that come before the fields, as far as the events have them.
RECORD: Final = ("source", "ts", "task", "pid", "tid", "comm", "cpu", "line")

# The largest number of fields of an unknown event; others stay in `rest`.
MOST: Final = 128

_SURVEY: Final[dict[str, pl.DataType | type[pl.DataType]]] = {
    "kind": pl.String,
    "key": pl.String,
    "word": pl.Boolean,
    "rank": pl.UInt32,
    "rows": pl.UInt32,
    "classes": pl.UInt32,
}
_SYSCALL: Final = "syscall"
_FUNCTION: Final = "function"


def fields(
    events: Events,
    event: str,
    *,
    schema: Mapping[str, pl.DataType | type[pl.DataType]] | None = None,
    kind: Kind | None = None,
) -> pl.LazyFrame:
    """Give the fields of one event of ftrace: a tracepoint, a probe, a marker, a function.

    For the most common events, tracefast knows how kernels print them and which types their fields
    have. Their columns are the same for all kernels, for tracefs and trace-cmd, and for all
    options; ``docs/events.md`` lists them. Any other event is read as keys and values:
    ``key=value``, ``key value``, ``key: value``.

    No text is lost: what is not in a column is in `rest`.

    Parameters
    ----------
    events
        The events of a log, of Parquet files, or a part of them, with the columns `name` and
        `args`.
    event
        Name of the event, as in the column `name`.
    schema
        The keys to read and their types: String, Int64, UInt64 or Float64. By default, a known
        event has known keys. Any other event is read once when this function is called, to find
        its keys (at most 128) and the type that holds all values of a key exactly: Int64, UInt64
        (numbers above 2**63, hexadecimal ones with ``0x``, pointers of 16 digits), Float64,
        otherwise String. With a `schema` the events are not read beforehand, and a key may be
        followed by any text: ``status D``. It overrides what is known about an event.
    kind
        ``function`` for functions of that name that a tracer recorded, ``event`` for anything
        else. By default events; functions if nothing else has that name, and it is not the name of
        a known event such as ``kfree``.

    Returns
    -------
    polars.LazyFrame
        One row per record: the columns `source` (a String), `ts`, `task`, `pid`, `tid`, `comm`,
        `cpu`, `line` of the record, if `events` has them; then the fields, with the names in the
        text, or in the kernel's format file where the text has no names; then `rest`. A field
        with the name of a column of the record gets the prefix ``event_``: `pid` is the task that
        the record belongs to, as in all tables, and `event_pid` the one that the event is about.

    Raises
    ------
    polars.exceptions.ColumnNotFoundError
        The events lack a column that is needed.
    ValueError
        `event` is a system call: these are rows of kind `syscall`. Or a type in `schema` is not one
        of those above, or there is no such `kind`.
    TypeError
        `event` is not a string, or `schema` is not a mapping.

    Examples
    --------
    >>> import tracefast as tf
    >>> events = tf.scan("demo.ftrace")
    >>> switches = tf.fields(events, "sched_switch").collect()
    >>> switches.select("cpu", "prev_comm", "prev_state", "next_comm", "next_pid").rows()
    [(0, 'bash', 'S', 'true', 101)]
    >>> tf.fields(events, "sched_process_fork").select("pid", "child_pid").collect().rows()
    [(100, 101)]
    >>> tf.fields(events, "my_probe").select("probe", "count", "name").collect().rows()
    [('vfs_read+0x0/0x2a0', 4096, 'data.bin')]
    """
    rows = rows_of(events, {"name": pl.String, "args": pl.String}, "tracefast.fields")
    columns = rows.collect_schema().names()
    if not isinstance(event, str):
        raise TypeError(f"event must be the name of one event, got {event!r}")
    if schema is not None and not isinstance(schema, Mapping):
        raise TypeError(f"schema must map keys to types of polars, as a dict does, got {schema!r}")
    check_choice("kind", kind, get_args(Kind))
    call = event.removeprefix("sys_enter_").removeprefix("sys_exit_")
    if call != event:
        raise _system_call(event, call)
    rows = rows.filter(pl.col("name") == event)
    function = kind == _FUNCTION
    if schema is not None:
        chosen = [(key, _kind(key, dtype)) for key, dtype in schema.items()]
        decoder = _core.Decoder.generic(chosen, chosen=True)
    elif function:
        decoder = _core.Decoder.function()
    elif (known := _core.Decoder.for_event(event)) is not None:
        decoder = known
    else:
        decoder, function = _surveyed(rows, columns, event, only_events=kind is not None)
    if "kind" in columns:
        # Events may have the names of system calls and of functions.
        is_function = pl.col("kind") == _FUNCTION
        rows = rows.filter(is_function if function else ~is_function & (pl.col("kind") != _SYSCALL))
    record = [name for name in RECORD if name in columns]
    if "source" in record:
        # As in all tables, so that they can be joined.
        rows = rows.with_columns(pl.col("source").cast(pl.String))
    return map_rows(
        rows.select(*record, pl.col("args").cast(pl.String)),
        lambda batch: _decode(decoder, batch),
        _schema(rows, record, decoder),
        by_batch=True,
    )


def _schema(rows: pl.LazyFrame, record: Sequence[str], decoder: _core.Decoder) -> pl.Schema:
    known = rows.collect_schema()
    return pl.Schema({**{name: known[name] for name in record}, **pl.Schema(decoder.schema)})


def _decode(decoder: _core.Decoder, batch: pl.DataFrame) -> pl.DataFrame:
    texts = batch.select("args")
    parts = [pl.DataFrame(part) for part in decoder.decode(texts)]
    decoded = pl.concat(parts) if parts else pl.DataFrame(schema=pl.Schema(decoder.schema))
    return pl.concat([batch.drop("args"), decoded], how="horizontal")


def _kind(key: str, dtype: pl.DataType | type[pl.DataType]) -> str:
    """Name a type of polars as the decoder does."""
    kinds = {pl.String: "text", pl.Int64: "i64", pl.UInt64: "u64", pl.Float64: "f64"}
    for known, kind in kinds.items():
        if dtype == known:
            return kind
    raise ValueError(
        f"{key} must be String, Int64, UInt64 or Float64, got {dtype}: cast it afterwards"
    )


def _system_call(event: str, call: str) -> ValueError:
    return ValueError(
        f"{event}: system calls are rows of kind 'syscall', and their fields are columns of the "
        f"events: filter by pl.col('name') == '{call}'"
    )


def _surveyed(
    rows: pl.LazyFrame, columns: list[str], event: str, *, only_events: bool
) -> tuple[_core.Decoder, bool]:
    """Read an unknown event to find its keys, and whether it is a function."""
    kind = pl.col("kind").cast(pl.String) if "kind" in columns else pl.lit(None, pl.String)
    found = (
        rows.select(kind.alias("kind"), pl.col("args").cast(pl.String))
        .pipe(map_rows, _survey, pl.Schema(_SURVEY), by_batch=True)
        .group_by("kind", "key", "word")
        .agg(pl.col("rank").min(), pl.col("rows").sum(), pl.col("classes").bitwise_or())
        .collect(engine="streaming")
    )
    kinds = set(found["kind"])
    if kinds == {_SYSCALL}:
        raise _system_call(event, event)
    if kinds and kinds <= {_FUNCTION, _SYSCALL} and not only_events:
        return _core.Decoder.function(), True
    # The most common keys, in the order of the text. A word is a key if all texts have it: then it
    # is part of the format, not of a value.
    found = found.filter(~pl.col("kind").is_in([_SYSCALL, _FUNCTION]).fill_null(value=False))
    texts = found.filter(pl.col("key").is_null())["rows"].sum()
    keys = (
        found.filter(pl.col("key").is_not_null())
        .group_by("key", "word")
        .agg(pl.col("rank").min(), pl.col("rows").sum(), pl.col("classes").bitwise_or())
        .filter(~pl.col("word") | (pl.col("rows") == texts))
        .sort("word", "rows", "rank", "key", descending=[False, True, False, False])
        .unique("key", keep="first", maintain_order=True)
        .head(MOST)
        .sort("rank", "key")
    )
    pairs = zip(keys["key"], keys["classes"], strict=True)
    named = [(key, _core.field_kind(classes)) for key, classes in pairs]
    return _core.Decoder.generic(named, chosen=bool(keys["word"].any())), False


def _survey(batch: pl.DataFrame) -> pl.DataFrame:
    """List the keys of a batch by kind of event; rows without a key count the texts."""
    parts = [pl.DataFrame(schema=_SURVEY)]
    for (kind,), rows in batch.group_by("kind"):
        keys = [pl.DataFrame(part) for part in _core.survey(rows.select("args"))]
        named = [part.with_columns(pl.lit(kind, pl.String).alias("kind")) for part in keys]
        parts += [part.select(*_SURVEY) for part in named]
    return pl.concat(parts)
