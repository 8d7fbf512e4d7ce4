"""How files were used: a line for the reads of each, and one for the writes."""

import math
from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

from tracefast.cli.text.rows import Kind, ListRows, Rows, Table, rows_of

# Up to this share of random accesses a file is sequential, and above the second one it is random.
# Accesses that skip a little are not random.
_SEQUENTIAL: Final = 0.2
_RANDOM: Final = 0.5

# Types of files that have no offsets.
_STREAMS: Final = ("pipe", "fifo", "socket", "char", "anon")

# Columns that identify a row, and those that need no column of their own when sorted by.
_KEYS: Final = ("source", "phase", "pid", "ofd", "task", "ts_open")
_SHOWN: Final = {
    *_KEYS,
    *("path", "reads", "read_bytes", "read_ns", "read_errors", "read_reread_factor"),
    *("read_coverage_share", "writes", "write_bytes", "write_ns", "write_errors"),
}
# What a line says, before what a device did and the path.
_SAID: Final[dict[str, Kind]] = {
    "op": "text",
    "op_bytes": "number",
    "calls": "number",
    "errors": "number",
    "pattern": "text",
    "reread_factor": "number",
    "covered_share": "number",
    "op_ns": "number",
}
# Of a file: what a line is made from.
_OF_ROW: Final = (
    *("type", "opens", "opens_failed", "stats", "stats_failed", "mmaps", "mmaps_failed"),
    *("mmap_bytes", "processes"),
)
_OF_OP: Final = (
    *("{}s", "{}_errors", "{}_bytes", "{}_first", "{}_unknown", "{}_consecutive", "{}_forward"),
    *("{}_backward", "{}_random_share", "{}_reread_factor", "{}_coverage_share", "{}_ns"),
)
# Patterns in which all of a file was read, or written, in order, if all of it was accessed.
_IN_ORDER: Final = ("in sequence", "once")

# A row of the table of files, by column.
_File: TypeAlias = Mapping[str, Any]


def usage_lines(table: Table, sort: str | None = None, *, short: bool = False) -> Rows:
    """Make one row for the reads of each file, and one for its writes.

    Files that were neither read nor written have one row that says what was done instead: map,
    open, stat, or other, such as execute.

    Parameters
    ----------
    table
        What :func:`tracefast.files` gives.
    sort
        The column that the table is sorted by, to be shown as well.
    short
        Leave out of the patterns how many processes used the file.

    Returns
    -------
    Rows
        `op`, `op_bytes`, `calls` (those that succeeded), `errors`, `pattern`, `reread_factor`,
        `covered_share`, `op_ns`, `path`, and what identifies the row.

    Examples
    --------
    >>> import tracefast as tf
    >>> lines = usage_lines(tf.files(tf.scan("demo.strace")).collect())
    >>> list(lines.records("op", "op_bytes", "calls", "pattern", "covered_share"))
    [('read', 4096, 2, 'whole', 1.0), ('other', None, None, None, None)]
    """
    rows = rows_of(table)
    lines: list[tuple[Any, ...]] = []
    files: list[int] = []
    for number, file in enumerate(_files_of(rows)):
        used = [op for op in ("read", "write") if file[f"{op}s"] + file[f"{op}_errors"] > 0]
        for line in [_transfer_line(file, op, short=short) for op in used] or [_other_line(file)]:
            lines.append(line)
            files.append(number)
    said = dict(zip(_SAID, zip(*lines, strict=True), strict=True)) if lines else {}
    of_file = rows.take(files)
    # Reads that a device served are known of joined events.
    reads = [op == "read" for op in said.get("op", ())]
    shown = {*_SHOWN, *device_columns(rows)}
    extra = [sort] if sort is not None and sort not in shown else []
    columns: dict[str, tuple[Kind, list[Any]]] = {
        name: (of_file.kind(name), of_file.values(name)) for name in _KEYS if name in rows.names
    }
    columns |= {name: (kind, list(said.get(name, ()))) for name, kind in _SAID.items()}
    for name in device_columns(rows):
        values = zip(of_file.values(name), reads, strict=True)
        columns[name] = ("number", [value if read else None for value, read in values])
    columns |= {name: (of_file.kind(name), of_file.values(name)) for name in (*extra, "path")}
    return ListRows(columns)


def _files_of(rows: Rows) -> Iterator[_File]:
    """Give what lines are made from, of each file."""
    of_ops = (name.format(op) for op in ("read", "write") for name in _OF_OP)
    names = (*_OF_ROW, *of_ops, "read_eof")
    return (dict(zip(names, values, strict=True)) for values in rows.records(*names))


def device_columns(rows: Rows) -> list[str]:
    """Name the columns about reads that a device served, where the table has them."""
    return [name for name in ("cold_reads", "disk_read_bytes") if name in rows.names]


def _transfer_line(file: _File, op: str, *, short: bool) -> tuple[Any, ...]:
    pattern = whole_or_pattern(file, op)
    processes = file["processes"] or 0
    by = ""
    if not short and processes > 1 and pattern is not None and not is_stream(file["type"]):
        by = f", by {processes} processes"
    # Of a file that was read and written, the line of reads says so.
    first = op == "read" or not file["reads"]
    mapped = " +map" if file["mmaps"] > 0 and first else ""
    return (
        op,
        *(file[name] for name in (f"{op}_bytes", f"{op}s", f"{op}_errors")),
        f"{pattern or '-'}{by}{mapped}" if pattern is not None or by or mapped else None,
        *(file[f"{op}_{name}"] for name in ("reread_factor", "coverage_share", "ns")),
    )


def _other_line(file: _File) -> tuple[Any, ...]:
    nothing = (None, None, None, None)
    if file["mmaps"] + file["mmaps_failed"] > 0:
        return ("map", file["mmap_bytes"], file["mmaps"], file["mmaps_failed"], *nothing)
    if file["opens"] + file["opens_failed"] > 0:
        return ("open", None, file["opens"], file["opens_failed"], *nothing)
    if file["stats"] > 0:
        looks = file["stats"] - file["stats_failed"]
        return ("stat", None, looks, file["stats_failed"], *nothing)
    # Other calls are in no column.
    return ("other", None, None, None, *nothing)


def whole_or_pattern(file: _File, op: str) -> str | None:
    """Name the order in which a file was accessed: ``whole`` if all of it was, in order."""
    pattern = access_pattern(file, op)
    whole = pattern in _IN_ORDER and file[f"{op}_coverage_share"] == 1
    return "whole" if whole else pattern


def access_pattern(file: _File, op: str) -> str | None:
    """Name the order in which a file was read or written, with a percentage.

    ``in sequence``, ``random``, or ``partly random`` by the share of accesses that neither continue
    where the one before ended nor skip only a little; ``once`` where no access follows another; the
    type of a file without offsets, such as a pipe; ``unknown`` where the log does not show most
    offsets; ``end`` where there was nothing to read. None where every call failed.

    Parameters
    ----------
    file
        A row of the table of files.
    op
        ``read`` or ``write``.

    Examples
    --------
    >>> file = {"type": "regular", "reads": 10, "read_random_share": 8 / 9, "read_first": 1}
    >>> file |= {"read_consecutive": 1, "read_forward": 1, "read_backward": 7, "read_unknown": 0}
    >>> access_pattern(file, "read")
    'random 88 %'
    """
    if is_stream(file["type"]):
        return str(file["type"])
    first: int = file[f"{op}_first"]
    moves: int = sum(file[f"{op}_{name}"] for name in ("consecutive", "forward", "backward"))
    if file[f"{op}_unknown"] > first + moves:
        return "unknown"
    random: float | None = file[f"{op}_random_share"]
    if random is not None:
        return _by_share(random)
    if first > 0:
        return "once"
    return "end" if op == "read" and file["reads"] > 0 else None


def _by_share(random: float) -> str:
    """Name an order by the share of random accesses."""
    if random == 0:
        return "in sequence"
    if random <= _SEQUENTIAL:
        return _in_percent("in sequence", 1 - random)
    return _in_percent("random" if random > _RANDOM else "partly random", random)


def _in_percent(text: str, part: float) -> str:
    # Rounded down, as only all of them are 100 %, but not below what a float falls short of.
    return f"{text} {math.floor(part * 100 + 1e-9)} %"


def is_stream(of_type: str | None) -> bool:
    """Say whether files of a type have no offsets."""
    return of_type in _STREAMS
