"""Many tasks that no call has made: the time must not grow with the square of their number."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path

import polars as pl
import pytest

import tracefast as tf

THREAD = "clone3({flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD}, 88)"


def seconds_of(lines: Sequence[str], folder: Path) -> float:
    """Give the processor time that these calls take, each of which has one line."""
    log = folder / "log.strace"
    log.write_text("".join(f"{line}\n" for line in lines))
    before = time.process_time()
    assert tf.parse(log, None).rows == len(lines)
    return time.process_time() - before


def seconds(tasks: int, folder: Path) -> float:
    """Give the processor time that a log of so many tasks takes."""
    return seconds_of([f'{1000 + task} read(3, "x"..., 10) = 10' for task in range(tasks)], folder)


def racing(threads: int, folder: Path) -> float:
    """The same for threads that wait for a number, which is opened again as often."""
    made = [f"100 {THREAD} = {1000 + thread}" for thread in range(threads)]
    waiting = [f"{1000 + thread} read(3,  <unfinished ...>" for thread in range(threads)]
    again = ["100 close(3) = 0", '100 openat(AT_FDCWD, "/a", O_RDONLY) = 3'] * threads
    return seconds_of([again[1], *made, *waiting, *again], folder)


def forking(threads: int, folder: Path) -> float:
    """The same for threads that make processes, while a number is replaced as often."""
    made = [f"100 {THREAD} = {1000 + thread}" for thread in range(threads)]
    forks = [f"{1000 + thread} fork( <unfinished ...>" for thread in range(threads)]
    opened = '100 openat(AT_FDCWD, "/a", O_RDONLY)'
    files = [f"{opened} = 3", f"{opened} = 4", "100 dup(3) = 5", "100 dup(4) = 6"]
    replaced = ["100 dup2(3, 7) = 7", "100 dup2(4, 7) = 7"] * threads
    return seconds_of([*files, *made, *forks, *replaced], folder)


def test_processes_that_fork_do_not_matter_to_others(tmp_path: Path) -> None:
    """However many they are: only tasks of one table see each other's descriptors."""
    names = range(1000, 1300)
    started = ['execve("/bin/a", ["a"], 0x7f) = 0', "brk(NULL) = 0x1000"]
    forks = [
        line
        for name in names
        for line in (f"100 fork() = {name}", f"{name} fork( <unfinished ...>")
    ]
    reads = ['100 openat(AT_FDCWD, "/a", O_RDONLY) = 3', '100 read(3, "x"..., 10) = 10']
    log = tmp_path / "log.strace"
    lines = [*(f"100 {line}" for line in started), *forks, *reads]
    log.write_text("".join(f"{line}\n" for line in lines))
    rows = tf.scan(log, assume_complete=True).filter(pl.col("name") == "read").collect()
    assert rows["offset_known"].to_list() == ["exact"]


def test_tasks_are_not_all_compared_with_each_other(tmp_path: Path) -> None:
    few = min(seconds(5_000, tmp_path) for _ in range(3))
    # Ten times as many took a hundred times as long.
    assert seconds(50_000, tmp_path) < 30 * max(few, 0.01)


@pytest.mark.parametrize("made", [racing, forking])
def test_tasks_are_not_all_asked_for_each_number(
    made: Callable[[int, Path], float], tmp_path: Path
) -> None:
    few = min(made(1_000, tmp_path) for _ in range(3))
    assert min(made(10_000, tmp_path) for _ in range(2)) < 30 * max(few, 0.01)
