"""What `tf.forks` holds for each row of its table: the fold, and the table itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from support.memory import bytes_per_row, needs_status, parsed, peak_kb, written

if TYPE_CHECKING:
    from pathlib import Path

FORKS = """
import sys
import tracefast as tf
table = tf.forks(tf.scan(sys.argv[1])).collect()
assert table.height == int(sys.argv[2]), table.height
"""


def write_children(log: Path, count: int) -> None:
    """Write a log in which a process creates `count` children, which end at once."""
    with log.open("w") as file:
        for i in range(count):
            at = f"1700000000.{i:06d}"
            file.write(
                f"7 {at} clone(child_stack=NULL, flags=SIGCHLD) = {100 + i} <0.000010>\n"
                f"{100 + i} {at} +++ exited with 0 +++\n"
            )


@needs_status
@pytest.mark.parametrize("made", [parsed, written])
def test_memory_grows_with_children_by_little(tmp_path: Path, made) -> None:
    # Enough for the hash tables to be as full as they usually are.
    assert bytes_per_row(FORKS, write_children, tmp_path, (100_000, 400_000), made=made) < 700


@needs_status
@pytest.mark.slow
@pytest.mark.parametrize("made", [parsed, written])
def test_a_million_children_take_less_than_a_gigabyte(tmp_path: Path, made) -> None:
    million = 1_000_000
    assert peak_kb(FORKS, made(write_children, tmp_path, million), million) < 1_000_000
