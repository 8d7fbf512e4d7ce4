"""Mutants of Parquet and Arrow files of events, the same ones in every run.

Some are files with damaged bytes; the others are whole files with columns that no log gives.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from pathlib import Path

# Values at the edges of types; each is used where it fits.
NUMBERS = [
    -(2**63),
    -(2**31) - 1,
    -1,
    0,
    1,
    2**31 - 1,
    2**32 - 1,
    2**32,
    2**62,
    2**63 - 1,
    2**64 - 1,
]
TEXTS = [
    "",
    "\0",
    "x" * 5000,
    "é\U0001f980",
    "read",
    "exact",
    "syscall",
    "99999999999999999999",
    "a/../b",
]
TYPES = [
    pa.int8(),
    pa.int32(),
    pa.int64(),
    pa.uint64(),
    pa.float64(),
    pa.string(),
    pa.large_string(),
    pa.binary(),
    pa.bool_(),
    pa.timestamp("s"),
    pa.timestamp("us", "UTC"),
    pa.duration("ns"),
    pa.decimal128(38, 2),
    pa.dictionary(pa.int8(), pa.string()),
    pa.list_(pa.int64()),
    pa.null(),
]


def odd(table: pa.Table, path: Path, seed: int) -> str:
    """Write a whole file of columns that no log gives; say how they were made."""
    chance = random.Random(seed)
    done = [chance.choice(CHANGES) for _ in range(chance.randint(1, 3))]
    for change in done:
        table = change(table, chance)
    write(table, path, chance)
    return ", ".join(change.__name__ for change in done)


def damaged(table: pa.Table, path: Path, seed: int) -> str:
    """Write a file, and damage its bytes; say how."""
    chance = random.Random(seed)
    write(table, path, chance)
    change = chance.choice([flip, flip, cut, doubled, zeroed, footer, footer])
    path.write_bytes(change(path.read_bytes(), chance))
    return change.__name__


def write(table: pa.Table, path: Path, chance: random.Random) -> None:
    """Write a table in one of the ways in which libraries write it."""
    rows = chance.choice([17, 100, 10_000])
    if path.suffix == ".parquet":
        compression = chance.choice(["zstd", "snappy", "none"])
        pq.write_table(table, path, row_group_size=rows, compression=compression)
        return
    compression = chance.choice(["lz4", "zstd", None])
    options = pa.ipc.IpcWriteOptions(compression=compression, unify_dictionaries=True)
    with pa.ipc.new_file(path, table.schema, options=options) as file:
        file.write_table(table, max_chunksize=rows)


# --- bytes


def flip(data: bytes, chance: random.Random) -> bytes:
    spoiled = bytearray(data)
    for _ in range(chance.choice([1, 3, 20])):
        spoiled[chance.randrange(len(data))] = chance.randrange(256)
    return bytes(spoiled)


def cut(data: bytes, chance: random.Random) -> bytes:
    return data[: chance.choice([chance.randrange(len(data)), len(data) - chance.randrange(1, 64)])]


def doubled(data: bytes, chance: random.Random) -> bytes:
    start = chance.randrange(len(data))
    return data[:start] + data[start : start + 500] + data[start:]


def zeroed(data: bytes, chance: random.Random) -> bytes:
    start = chance.randrange(len(data))
    length = min(chance.choice([4, 200, 5000]), len(data) - start)
    return data[:start] + bytes(length) + data[start + length :]


def footer(data: bytes, chance: random.Random) -> bytes:
    """Spoil one of the last bytes, where the file says what it holds and how long that is."""
    at = len(data) - chance.randrange(1, chance.choice([12, 12, 400, 3000]))
    at = max(at, 0)
    value = chance.choice([0, 1, 127, 128, 255, chance.randrange(256)])
    return data[:at] + bytes([value]) + data[at + 1 :]


# --- columns


def dropped(table: pa.Table, chance: random.Random) -> pa.Table:
    for _ in range(chance.choice([1, 1, 5])):
        table = table.remove_column(chance.randrange(table.num_columns))
    return table


def renamed(table: pa.Table, chance: random.Random) -> pa.Table:
    names = table.column_names
    at = chance.randrange(len(names))
    names[at] = chance.choice(["", "Kind", names[at] + " ", chance.choice(names)])
    return table.rename_columns(names)


def retyped(table: pa.Table, chance: random.Random) -> pa.Table:
    at = chance.randrange(table.num_columns)
    for dtype in chance.sample(TYPES, len(TYPES)):
        try:
            column = table.column(at).cast(dtype)
        except pa.ArrowException:
            continue
        return table.set_column(at, table.field(at).with_type(dtype), column)
    return table


def twice(table: pa.Table, chance: random.Random) -> pa.Table:
    at = chance.randrange(table.num_columns)
    return table.append_column(table.field(at), table.column(at))


def moved(table: pa.Table, chance: random.Random) -> pa.Table:
    return table.select(chance.sample(range(table.num_columns), table.num_columns))


def nulls(table: pa.Table, chance: random.Random) -> pa.Table:
    at = chance.randrange(table.num_columns)
    share = chance.choice([0.1, 0.5, 1.0])
    values = [None if chance.random() < share else value for value in _values(table, at)]
    return _set(table, at, values)


def extreme(table: pa.Table, chance: random.Random) -> pa.Table:
    """Put values into a column that no log gives."""
    at = chance.randrange(table.num_columns)
    dtype = table.field(at).type
    odd = TEXTS if pa.types.is_dictionary(dtype) or not _is_number(dtype) else NUMBERS
    share = chance.choice([0.05, 0.5, 1.0])
    values = [
        _fitting(chance.choice(odd), dtype, value) if chance.random() < share else value
        for value in _values(table, at)
    ]
    return _set(table, at, values)


def exchanged(table: pa.Table, chance: random.Random) -> pa.Table:
    """Two columns of one type change places."""
    by_type: dict[pa.DataType, list[int]] = {}
    for at, field in enumerate(table.schema):
        by_type.setdefault(field.type, []).append(at)
    a, b = chance.sample(chance.choice([ats for ats in by_type.values() if len(ats) > 1]), 2)
    one, other = table.column(a), table.column(b)
    return table.set_column(a, table.field(a), other).set_column(b, table.field(b), one)


def shuffled(table: pa.Table, chance: random.Random) -> pa.Table:
    rows = chance.choices(range(table.num_rows), k=table.num_rows)
    columns = []
    for column in table.columns:
        # Of views, pyarrow cannot take rows; to cut them out one by one keeps all texts each time.
        views = pa.types.is_string_view(column.type)
        taken = (column.cast(pa.string()) if views else column).take(rows)
        columns.append(taken.cast(column.type) if views else taken)
    return pa.table(columns, schema=table.schema)


def emptied(table: pa.Table, chance: random.Random) -> pa.Table:
    return table.slice(0, chance.choice([0, 1, 3]))


CHANGES = [
    dropped,
    renamed,
    retyped,
    retyped,
    twice,
    moved,
    nulls,
    nulls,
    extreme,
    extreme,
    extreme,
]
CHANGES += [exchanged, shuffled, emptied]


def _is_number(dtype: pa.DataType) -> bool:
    return pa.types.is_integer(dtype) or pa.types.is_temporal(dtype)


def _values(table: pa.Table, at: int) -> list[object]:
    column = table.column(at)
    if pa.types.is_temporal(column.type):
        column = column.cast(pa.int64())
    return column.to_pylist()


def _set(table: pa.Table, at: int, values: list[object]) -> pa.Table:
    field = table.field(at)
    dtype = pa.string() if pa.types.is_dictionary(field.type) else field.type
    if pa.types.is_temporal(dtype):
        column = pa.array(values, pa.int64()).cast(dtype)
    else:
        column = pa.array(values, dtype)
    return table.set_column(at, field.with_type(dtype).with_nullable(True), column)


def _fitting(value: object, dtype: pa.DataType, otherwise: object) -> object:
    try:
        pa.scalar(value, pa.int64() if pa.types.is_temporal(dtype) else _plain(dtype))
    except (pa.ArrowException, OverflowError):
        return otherwise
    return value


def _plain(dtype: pa.DataType) -> pa.DataType:
    return pa.string() if pa.types.is_dictionary(dtype) else dtype
