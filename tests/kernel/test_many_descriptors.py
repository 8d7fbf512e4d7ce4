"""Many descriptors that no call has made: time must not grow with the square of their number."""

import time
from pathlib import Path

import tracefast as tf

START = (
    'execve("/bin/x", ["x"], 0x7ffc /* 9 vars */) = 0',
    "brk(NULL) = 0x5000",
    "arch_prctl(ARCH_SET_FS, 0x6b3c30) = 0",
    "lseek(0, 0, SEEK_CUR) = -1 ESPIPE (Illegal seek)",
)


def seconds(descriptors: int, folder: Path) -> float:
    """Give the processor time of a log in which so many are opened, and as many others are read."""
    log = folder / "log.strace"
    last = 2 + descriptors
    opens = (f'openat(AT_FDCWD, "/d/{fd}", O_RDONLY) = {fd}' for fd in range(3, last + 1))
    reads = (f'read({fd}, "x"..., 10) = 10' for fd in range(last, last + descriptors))
    calls = [*START, *opens, f"close({last}) = 0", *reads]
    log.write_text("".join(f"100 {call}\n" for call in calls))
    before = time.process_time()
    assert tf.parse(log, None).rows == len(calls)
    return time.process_time() - before


def test_descriptions_are_not_all_suspected_each_time(tmp_path: Path) -> None:
    few = min(seconds(3_000, tmp_path) for _ in range(3))
    # Ten times as many took eighty times as long.
    assert seconds(30_000, tmp_path) < 30 * max(few, 0.01)
