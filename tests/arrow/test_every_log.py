"""Every log as a file of Parquet and as a stream: the same rows for all readers, blocks, threads.

``TRACEFAST_LOGS=folder pytest tests/arrow/test_every_log.py`` takes every log below that folder,
too.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import tracefast as tf
from support.paths import DATA

if TYPE_CHECKING:
    from collections.abc import Callable

# The names of logs in tests/data: app.strace, app.ftrace.zst, app.log; and log.7253 of `-ff`.
LOG = re.compile(r"(.+\.(strace|ftrace|log)|log)(\.[0-9]+)?(\.zst)?")


def below(folder: Path) -> list[Path]:
    return sorted(file for file in folder.rglob("*") if file.is_file())


# Files of one run for each task: together they are one log, which goes through a merge.
MERGED = [DATA / "tasks" / "log", DATA / "truth" / "separate.strace"]
LOGS = [*(file for file in below(DATA) if LOG.fullmatch(file.name)), *MERGED]
# Of files that have any name, those that cannot be read as a log are skipped.
MORE = below(Path(os.environ["TRACEFAST_LOGS"])) if "TRACEFAST_LOGS" in os.environ else []

CUTS = [(1, 2), (1, 7), (7, 1), (7, 3), (4096, 2), (4096, 7), (262_144, 2), (262_144, 3)]
"""Bytes of a block, which goes on to the end of a line, and threads."""

if MORE:
    CUTS = [(block, threads) for block in (1, 7, 4096, 262_144) for threads in (1, 2, 3, 7)]

SMALL = 50_000
"""Bytes of a log that is cut wherever it can be."""

every_log = pytest.mark.parametrize(
    "log", [*LOGS, *MORE], ids=lambda log: str(log.relative_to(DATA) if log in LOGS else log)
)


def stream(log: Path, **options: int) -> pa.Table:
    """Return the rows of the stream; files of a folder that are not logs are left out."""
    try:
        return pa.table(tf.read(log, **options))
    except (tf.Error, pa.ArrowException, OSError) as error:
        if log in LOGS:
            raise
        pytest.skip(str(error))


def plain(table: pa.Table) -> pa.Table:
    """Return texts as strings, however a reader holds them, and all other columns as they are."""
    columns = []
    for field, column in zip(table.schema, table.columns, strict=True):
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        if pa.types.is_string_view(kind) or pa.types.is_string(kind):
            kind = pa.large_string()
        columns.append(pc.cast(column, kind))
    return pa.table(columns, names=table.column_names)


def assert_same(found: pa.Table, expected: pa.Table) -> None:
    """Compare every column of every row, and say where the first difference is."""
    assert found.schema.names == expected.schema.names
    assert found.num_rows == expected.num_rows
    for name, one, other in zip(
        expected.column_names, found.columns, expected.columns, strict=True
    ):
        assert one.type == other.type, name
        if not one.equals(other):
            rows = enumerate(zip(one.to_pylist(), other.to_pylist(), strict=True))
            row, (here, there) = next(found for found in rows if found[1][0] != found[1][1])
            pytest.fail(f"{name}, row {row}: {here!r} instead of {there!r}")


READERS: dict[str, Callable[[Path], pa.Table]] = {
    "polars": lambda path: pl.read_parquet(path).to_arrow(),
    "pyarrow": pq.read_table,
    "duckdb": lambda path: duckdb.read_parquet(str(path)).to_arrow_table(),
}


@every_log
def test_every_reader_sees_the_rows_of_the_stream(log: Path, tmp_path: Path) -> None:
    expected = plain(stream(log))
    # Several groups, none of them full of whole batches; and one.
    for rows in {997, 65_536} if expected.num_rows > 997 else {65_536}:
        path = tmp_path / "events.parquet"
        assert tf.parse(log, path, row_group=rows).rows == expected.num_rows
        # Much text ends a group early.
        assert pq.read_metadata(path).num_row_groups >= -(-expected.num_rows // rows)
        for read in READERS.values():
            assert_same(plain(read(path)), expected)


@every_log
def test_rows_are_the_same_for_all_blocks_and_threads(log: Path) -> None:
    expected = plain(stream(log, threads=1))
    small = log.exists() and log.stat().st_size <= SMALL
    for block_bytes, threads in CUTS:
        if small or block_bytes > 1:
            found = stream(log, block_bytes=block_bytes, threads=threads)
            assert_same(plain(found), expected)
