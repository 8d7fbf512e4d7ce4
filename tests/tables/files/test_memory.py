"""What `tf.files` holds for each row of its table: the fold, and the table itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from support.memory import bytes_per_row, needs_status, parsed, peak_kb, written

if TYPE_CHECKING:
    from pathlib import Path

FILES = """
import sys
import tracefast as tf
table = tf.files(tf.scan(sys.argv[1])).collect()
assert table.height == int(sys.argv[2]), table.height
"""


def write_paths(log: Path, count: int) -> None:
    """Write a log in which each of `count` paths is opened, read, and closed again."""
    with log.open("w") as file:
        for i in range(count):
            at = f"7 1700000000.{i:06d}"
            file.write(
                f'{at} openat(AT_FDCWD, "/data/{i:09d}/{i * 7919 % 1000003}", O_RDONLY) = 3 <0.1>\n'
                f'{at} read(3, "", 4096) = 10 <0.1>\n{at} close(3) = 0 <0.1>\n'
            )


def write_unfinished(log: Path, count: int) -> None:
    """Write a log in which `count` tasks each start a read that does not end."""
    with log.open("w") as file:
        for i in range(count):
            file.write(f"{100 + i} 1700000000.{i:06d} read(3,  <unfinished ...>\n")


@needs_status
@pytest.mark.parametrize(("write", "many"), [(write_paths, 500_000), (write_unfinished, 250_000)])
def test_memory_grows_with_rows_by_little(tmp_path: Path, write, many: int) -> None:
    # So many that a buffer that a thread kept, or a table that just doubled, is little beside them.
    assert bytes_per_row(FILES, write, tmp_path, (20_000, many)) < 700


@needs_status
@pytest.mark.parametrize(
    ("write", "many", "most"),
    [
        (write_paths, 500_000, 700),
        # Each is also a live task with a call under way until the log ends.
        (write_unfinished, 250_000, 1000),
    ],
)
def test_memory_grows_with_rows_of_a_log_by_little(
    tmp_path: Path, write, many: int, most: int
) -> None:
    assert bytes_per_row(FILES, write, tmp_path, (20_000, many), made=written) < most


@needs_status
@pytest.mark.slow
@pytest.mark.parametrize("write", [write_paths, write_unfinished])
@pytest.mark.parametrize("made", [parsed, written])
def test_a_million_rows_take_less_than_a_gigabyte(tmp_path: Path, write, made) -> None:
    million = 1_000_000
    assert peak_kb(FILES, made(write, tmp_path, million), million) < 1_000_000
