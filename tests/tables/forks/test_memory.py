"""What `tf.forks` holds for each row of its table.

The bound is between what it takes and what it took when all rows were there before their columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from support.memory import bytes_per_row, needs_status

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
def test_memory_grows_with_children_by_little(tmp_path: Path) -> None:
    assert bytes_per_row(FORKS, write_children, tmp_path) < 1600
