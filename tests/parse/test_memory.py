"""What the parser holds does not grow with the log, nor with what the log has opened and closed.

The bounds are wide: a peak depends on how two threads happen to take turns. What grows with the
log would be several times as much.
"""

from __future__ import annotations

import base64
import random
import zlib
from typing import TYPE_CHECKING

import polars as pl
import pytest

from support.memory import needs_status, peak_kb

if TYPE_CHECKING:
    from pathlib import Path

PARSE = """
import sys
import tracefast as tf
tf.parse(sys.argv[1], sys.argv[2], threads=2, row_group=int(sys.argv[3]))
"""

# Short groups: even the shorter log fills many.
SHORT = 16_384


def peak_of(log: Path, row_group: int = SHORT, *, keep: bool = False) -> int:
    """Return the largest resident memory of a process that parses `log`, in KiB."""
    out = log.with_suffix(".parquet")
    peak = peak_kb(PARSE, log, out, row_group)
    if not keep:
        out.unlink()
    return peak


def write_paths(log: Path, count: int) -> None:
    """Write a log in which each of `count` paths is opened, read, and closed again."""
    with log.open("w") as file:
        for i in range(count):
            at = f"7 1700000000.{i:06d}"
            file.write(
                f'{at} openat(AT_FDCWD, "/data/{i:09d}/{i * 7919 % 1000003}", O_RDONLY) = 3 <0.1>\n'
                f'{at} read(3, "", 4096) = 0 <0.1>\n{at} close(3) = 0 <0.1>\n'
            )


def write_strings(log: Path, lengths: list[int]) -> None:
    """Write a log of calls with strings of these lengths, which shrink by a quarter only."""
    text = base64.b64encode(random.Random(1).randbytes(3 << 18)).decode()
    with log.open("w") as file:
        for i, length in enumerate(lengths):
            file.write(f'7 {1700000000 + i}.000001 write(1, "')
            for at in range(0, length, len(text)):
                file.write(text[: length - at])
            file.write(f'", {length}) = {length} <0.1>\n')


def write_tasks(log: Path, rounds: int) -> None:
    """Write a log of 2,000 tasks, each of which reads `rounds` times while all are live."""
    with log.open("w") as file:
        for i in range(rounds):
            for task in range(2000):
                file.write(f'{task + 100} {1700000000 + i}.{task:06d} read(3, "x", 1) = 1 <0.1>\n')


@needs_status
@pytest.mark.parametrize(
    ("write", "counts"), [(write_paths, (150, 600)), (write_tasks, (150, 600))]
)
def test_memory_does_not_grow_with_the_log(tmp_path: Path, write, counts) -> None:
    peaks = []
    for count in counts:
        log = tmp_path / f"{count}.strace"
        write(log, count * (1000 if write is write_paths else 1))
        peaks.append(min(peak_of(log), peak_of(log)))
        log.unlink()
    few, many = peaks
    # Four times the log: less than a third more.
    assert many < few * 1.33 + 8_000, peaks


@needs_status
def test_the_footer_is_short_while_it_waits(tmp_path: Path) -> None:
    """Only the footer of Parquet grows with the log: by this for each row group."""
    log = tmp_path / "log.strace"
    write_tasks(log, 100)
    few, many = (min(peak_of(log, rows) for _ in range(2)) for rows in (200, 20))
    # 1,000 and 10,000 groups. They take some 5 kB each.
    assert (many - few) / 9_000 < 8, (few, many)


@needs_status
def test_a_long_line_takes_a_few_times_its_length(tmp_path: Path) -> None:
    length = 250 << 20
    log = tmp_path / "log.strace"
    write_strings(log, [5, length, 7])
    peak = peak_of(log, keep=True)
    # The text, the page, the page compressed, and that where the column gathers.
    assert peak < 3.7 * length / 1024 + 60_000, peak
    out = log.with_suffix(".parquet")
    rows = pl.read_parquet(out, columns=["args", "bytes"])
    out.unlink()
    log.unlink()
    assert rows["args"].str.len_bytes().to_list() == [13, length + 16, 15]
    assert rows["bytes"].to_list() == [5, length, 7]


REFUSED = """
import sys
import tracefast as tf
try:
    tf.parse(sys.argv[1], sys.argv[2], threads=int(sys.argv[3]))
except tf.Error as error:
    assert error.kind == "too_long", error
    assert "a line is longer than 268435456 bytes" in str(error), error
    assert f"byte {sys.argv[4]}" in str(error), error
else:
    sys.exit("it was not refused")
"""


@needs_status
@pytest.mark.parametrize("threads", [1, 4])
def test_a_line_that_is_too_long_takes_no_more_than_the_limit(tmp_path: Path, threads) -> None:
    log = tmp_path / "log.strace.gz"
    first = b'7 1700000000.000001 read(3, "x", 1) = 1 <0.1>\n' * 100_000
    packed = zlib.compressobj(1, wbits=31)
    with log.open("wb") as file:
        file.write(packed.compress(first + b'7 1700000001.000001 write(1, "'))
        for _ in range(1 << 10):
            file.write(packed.compress(b"x" * (1 << 20)))
        file.write(packed.compress(b'", 1) = 1 <0.1>\n') + packed.flush())
    assert log.stat().st_size < 8 << 20
    peak = peak_kb(REFUSED, log, tmp_path / "log.parquet", threads, len(first))
    log.unlink()
    assert peak < (256 << 10) + 150_000, peak


@needs_status
def test_many_long_lines_take_no_more_than_a_few(tmp_path: Path) -> None:
    peaks = []
    for count in (400, 1_600):
        log = tmp_path / f"{count}.strace"
        write_strings(log, [100_000] * count)
        peaks.append(min(peak_of(log), peak_of(log)))
        log.unlink()
    few, many = peaks
    # 120 MB more of text.
    assert many < few + 50_000, peaks
