"""Many tasks that no call has made: the time must not grow with the square of their number."""

import time
from pathlib import Path

import tracefast as tf


def seconds(tasks: int, folder: Path) -> float:
    """Give the processor time that a log of so many tasks takes."""
    log = folder / "log.strace"
    lines = (f'{1000 + task} read(3, "x"..., 10) = 10\n' for task in range(tasks))
    log.write_text("".join(lines))
    before = time.process_time()
    assert tf.parse(log, None).rows == tasks
    return time.process_time() - before


def test_tasks_are_not_all_compared_with_each_other(tmp_path: Path) -> None:
    few = min(seconds(5_000, tmp_path) for _ in range(3))
    # Ten times as many took a hundred times as long.
    assert seconds(50_000, tmp_path) < 30 * max(few, 0.01)
