"""Darshan's counters, quirks included: one test for each, its numbers derived from Darshan's rules.

What Darshan's POSIX module does with a read that returned `ret` at `offset`, in short:

    SEQ_READS += offset > last_byte;  CONSEC_READS += offset == last_byte + 1
    stride = offset - last_byte - 1 if offset > last_byte and last_byte != 0 else 0
    last_byte = offset + ret - 1;  the record's own offset = offset + ret
    READS += 1;  BYTES_READ += ret;  MAX_BYTE_READ = max(MAX_BYTE_READ, last_byte)

`last_byte` and the offset belong to the path, begin at 0, and are 0 again after every open of it.
Writes have a `last_byte` of their own, and share the offset.
"""

import json

import pytest

import tracefast as tf
from support.logs import lines_of

A = 'openat(AT_FDCWD, "/srv/a", O_RDWR) = 3'


@pytest.fixture
def write(tmp_path):
    """Write a log of calls 100 µs apart."""

    def to_log(*calls: str):
        path = tmp_path / "app.strace"
        path.write_text(lines_of(calls))
        return path

    return to_log


@pytest.fixture
def counters(write):
    """Give the counters of the one path of a log, those that are not 0, without their prefix."""

    def count(*lines: str, path: str = "/srv/a") -> dict[str, float]:
        rows = tf.files(tf.scan(write(*lines)), darshan=True).collect().to_dicts()
        (row,) = [row for row in rows if row["path"] == path]
        counts = (item for item in row.items() if item[0].startswith("POSIX_"))
        return {name.removeprefix("POSIX_"): value for name, value in counts if value}

    return count


def some(found: dict[str, float], *names: str) -> list[float]:
    return [found.get(name, 0) for name in names]


READS = ("READS", "SEQ_READS", "CONSEC_READS", "BYTES_READ", "MAX_BYTE_READ")
WRITES = ("WRITES", "SEQ_WRITES", "CONSEC_WRITES", "BYTES_WRITTEN", "MAX_BYTE_WRITTEN")


def read(ret, fd=3):
    return f'read({fd}, "x"..., 65536) = {ret}'


def pread(ret, offset):
    return f'pread64(3, "x"..., 65536, {offset}) = {ret}'


def test_a_first_read_at_0_is_neither_sequential_nor_consecutive(counters):
    # It is not > 0, and not 0 + 1; last_byte = 0 + 4096 - 1.
    assert some(counters(A, read(4096)), *READS) == [1, 0, 0, 4096, 4095]


def test_a_first_read_at_1_is_both(counters):
    # 1 > 0, and 1 == 0 + 1. No stride: last_byte is 0, which also means that there was none.
    found = counters(A, pread(10, 1))
    assert some(found, *READS, "STRIDE1_STRIDE") == [1, 1, 1, 10, 10, 0]


def test_consecutive_reads_are_sequential_too(counters):
    # 0: neither. 100: > 99 and == 99 + 1. 200: > 199 and == 199 + 1.
    assert some(counters(A, *[read(100)] * 3), *READS) == [3, 2, 2, 300, 299]


def test_a_jump_forward_is_sequential_a_jump_back_is_not(counters):
    # 0: neither, last 9. 1000: 1000 > 9, stride 1000 - 9 - 1 = 990, last 1009. 500: 500 < 1009.
    found = counters(A, pread(10, 0), pread(10, 1000), pread(10, 500))
    assert some(found, *READS) == [3, 1, 0, 30, 1009]
    assert some(found, "STRIDE1_STRIDE", "STRIDE1_COUNT") == [990, 1]


def test_a_read_at_the_end_is_one_more_of_everything_that_moves_nothing(counters):
    # 0: neither, last 99. The end: 100 > 99 and 100 == 99 + 1, bucket of 0 to 100 bytes, and
    # last = 100 + 0 - 1 = 99, so that each further one counts the same again.
    found = counters(A, read(100), read(0), read(0))
    assert some(found, *READS, "SIZE_READ_0_100") == [3, 2, 2, 100, 99, 3]


def test_a_read_of_an_empty_file_goes_below_0(counters):
    # 0 is not > 0; last = 0 + 0 - 1 = -1. Now 0 > -1 and 0 == -1 + 1.
    assert some(counters(A, read(0), read(0)), *READS) == [2, 1, 1, 0, 0]


def test_failed_reads_do_not_count(counters):
    failed = "read(3, 0x7f00, 4096) = -1 EIO (Input/output error)"
    assert some(counters(A, read(10), failed, read(10)), *READS) == [2, 1, 1, 20, 19]


def test_two_descriptors_of_a_path_share_one_offset(counters):
    # Each reads 0 to 99 of the file. Darshan: the second open sets the record's offset to 0; the
    # read through 3 moves it to 100; so the read through 4 is taken to be at 100: both.
    second = 'openat(AT_FDCWD, "/srv/a", O_RDONLY) = 4'
    found = counters(A, second, read(100), read(100, fd=4))
    assert some(found, "OPENS", *READS) == [2, 2, 1, 1, 200, 199]


def test_any_open_starts_over(counters):
    # 0 and 100 through 3: 1 consecutive. The open sets offset and last_byte to 0, though 3 is
    # at 200: its next read counts as one at 0, neither.
    second = 'openat(AT_FDCWD, "/srv/a", O_RDONLY) = 4'
    found = counters(A, read(100), read(100), second, read(100))
    assert some(found, *READS) == [3, 1, 1, 300, 199]


def test_pread_moves_the_offset_of_the_record(counters):
    # 0 to 99; pread of 1000 to 1009: 1000 > 99, not 100; the offset is 1010 now. The read, which
    # is at 100 in truth, counts as at 1010: > 1009, and == 1009 + 1.
    found = counters(A, read(100), pread(10, 1000), read(50))
    assert some(found, *READS) == [3, 2, 1, 160, 1059]


def test_preadv2_at_the_position_counts_as_minus_1(counters):
    # -1 > 0 is false, -1 == 1 is false; last = -1 + 10 - 1 = 8, offset = 9.
    # Then a read at 9: > 8 and == 8 + 1.
    at = 'preadv2(3, [{iov_base="x"..., iov_len=10}], 1, -1, 0) = 10'
    assert some(counters(A, at, read(10)), *READS) == [2, 1, 1, 20, 18]


def test_appending_begins_at_0(counters):
    # The file has 5,000 bytes. Darshan: write at 0, neither; then at 10: > 9 and == 9 + 1.
    opened = 'openat(AT_FDCWD, "/srv/a", O_WRONLY|O_APPEND) = 3'
    write = 'write(3, "x"..., 10) = 10'
    found = counters(opened, write, write)
    assert some(found, *WRITES) == [2, 1, 1, 20, 19]


def test_seeks_move_the_offset_of_the_record(counters):
    # 0 to 99; a seek to 5000: > 99, not 100; stride 5000 - 99 - 1.
    found = counters(A, read(100), "lseek(3, 5000, SEEK_SET) = 5000", read(10))
    assert some(found, "SEEKS", *READS, "STRIDE1_STRIDE") == [1, 2, 1, 0, 110, 5009, 4900]


def test_reads_and_writes_have_a_last_byte_each_and_share_the_offset(counters):
    # The read ends at 99, the offset is 100. The write at 100: > 0, as nothing was written yet,
    # and not 0 + 1; last byte written 149, offset 150. The read at 150: > 99, not 100.
    write = 'write(3, "x"..., 50) = 50'
    found = counters(A, read(100), write, read(10))
    assert some(found, *READS) == [2, 1, 0, 110, 159]
    assert some(found, *WRITES) == [1, 1, 0, 50, 149]
    # From read to write, and back.
    assert found["RW_SWITCHES"] == 2


@pytest.mark.parametrize(
    ("ret", "bucket"),
    [
        *[(0, "0_100"), (100, "0_100"), (101, "100_1K"), (1024, "100_1K"), (1025, "1K_10K")],
        *[(10_240, "1K_10K"), (10_241, "10K_100K"), (102_400, "10K_100K"), (102_401, "100K_1M")],
        *[(1 << 20, "100K_1M"), ((1 << 20) + 1, "1M_4M"), (4 << 20, "1M_4M")],
        *[((4 << 20) + 1, "4M_10M"), (10 << 20, "4M_10M"), ((10 << 20) + 1, "10M_100M")],
        *[(100 << 20, "10M_100M"), ((100 << 20) + 1, "100M_1G"), (1 << 30, "100M_1G")],
        ((1 << 30) + 1, "1G_PLUS"),
    ],
)
def test_buckets_are_those_of_what_was_returned(counters, ret, bucket):
    found = counters(A, f'read(3, "x"..., 2147483647) = {ret}')
    assert {name for name in found if name.startswith("SIZE_")} == {f"SIZE_READ_{bucket}"}


def test_common_sizes_of_reads_and_writes_are_one_list_of_four(counters):
    # 7: thrice (a write among them), 5: twice, 9, 8 and 6 once: of equals the largest.
    reads = [read(n) for n in (5, 6, 7, 8, 9, 7, 5)]
    found = counters(A, *reads, 'write(3, "x"..., 7) = 7')
    sizes = [(found[f"ACCESS{n}_ACCESS"], found[f"ACCESS{n}_COUNT"]) for n in (1, 2, 3, 4)]
    assert sizes == [(7, 3), (5, 2), (9, 1), (8, 1)]


def test_only_the_first_32_sizes_are_ever_looked_at(counters):
    # 32 sizes of 1 to 32, once each; then 1,000 five times, which is too late.
    found = counters(A, *[read(n) for n in range(1, 33)], *[read(1000)] * 5)
    assert [found[f"ACCESS{n}_ACCESS"] for n in (1, 2, 3, 4)] == [32, 31, 30, 29]
    assert found["READS"] == 37
    assert found["SIZE_READ_100_1K"] == 5


def test_a_stride_of_0_takes_one_of_the_32_places(counters):
    # Jumps of 1, 2, … 32 bytes forward, after a first read whose stride is 0: with it, only 31
    # are looked at, and the jump of 32, made thrice, is not.
    offset, lines = 10, [A, pread(10, 0)]
    for jump in (*range(1, 32), 32, 32, 32):
        offset += jump
        lines.append(pread(10, offset))
        offset += 10
    found = counters(*lines)
    assert [found[f"STRIDE{n}_STRIDE"] for n in (1, 2, 3, 4)] == [31, 30, 29, 28]
    assert found["SEQ_READS"] == 34


def test_mappings_are_counted_as_calls_whatever_their_length(counters):
    at = "mmap(NULL, 1073741824, PROT_READ, MAP_SHARED, 3, 0) = 0x7f0000000000"
    found = counters(A, at, at)
    assert some(found, "MMAPS", "READS", "BYTES_READ") == [2, 0, 0]


@pytest.mark.parametrize(
    ("call", "counter"),
    [
        ('oldstat("/srv/a", {st_mode=S_IFREG|0644, st_size=9, ...}) = 0', "STATS"),
        ('oldlstat("/srv/a", {st_mode=S_IFREG|0644, st_size=9, ...}) = 0', "STATS"),
        ("oldfstat(3, {st_mode=S_IFREG|0644, st_size=9, ...}) = 0", "STATS"),
        ("old_mmap(NULL, 4096, PROT_READ, MAP_SHARED, 3, 0) = 0x7f0000000000", "MMAPS"),
    ],
)
def test_calls_of_old_programs_count_like_those_that_replaced_them(counters, call, counter):
    assert counters(A, call)[counter] == 1


def test_renames_count_at_both_names(counters):
    rename = 'rename("/srv/a", "/srv/b") = 0'
    assert some(counters(A, rename), "RENAME_SOURCES", "RENAME_TARGETS") == [1, 0]
    assert some(counters(A, rename, path="/srv/b"), "RENAME_SOURCES", "RENAME_TARGETS") == [0, 1]


def test_time_of_calls_that_overlap_counts_once(counters):
    # 100 µs apart. The first read takes 150 µs, to 250; the second begins at 200 and ends at 300:
    # 150 + (300 - 250) = 200 µs, not 250. The slower one is the longest; its size 10.
    found = counters(
        'openat(AT_FDCWD, "/srv/a", O_RDWR) = 3 <0.000010>',
        'read(3, "x"..., 4096) = 10 <0.000150>',
        'read(3, "x"..., 4096) = 20 <0.000100>',
    )
    assert found["F_READ_TIME"] == pytest.approx(200e-6)
    assert found["F_MAX_READ_TIME"] == pytest.approx(150e-6)
    assert found["MAX_READ_TIME_SIZE"] == 10


def test_the_model_file(pth):
    # Offsets and sizes of the log, and last_byte before each:
    #         0   4096  0: neither                                     last      4,095
    #         0   4096  neither                                              4,095
    # 124235413   4096  > 4,095: SEQ                                   last  124,239,508
    # 124239487     22  neither, as are the next four, which go back
    #         0   4096  neither                                        last      4,095
    #      4096  15319  > 4,095 and == 4,096: SEQ, CONSEC
    (row,) = tf.files(tf.scan(pth), darshan=True).collect().to_dicts()
    assert (row["POSIX_READS"], row["POSIX_BYTES_READ"]) == (10, 43_290)
    assert (row["POSIX_SEQ_READS"], row["POSIX_CONSEC_READS"]) == (2, 1)
    # What the log's own classes say of the same reads: one of the ten is consecutive, too, but the
    # first one is known as such, and nothing is sequential by being far ahead.
    (own,) = tf.files(tf.scan(pth)).collect().to_dicts()
    assert (own["read_first"], own["read_consecutive"], own["read_forward"]) == (1, 1, 1)


def test_the_command_on_a_recorded_program(run, spawn_strace):
    # What tests/data/spawn/program.py does with the file, as the log shows it:
    #   open, fstat, lseek 0, write 65,536 at 0: neither; close
    #   open, fstat, read 10,000 six times, 5,536, 0: the one at 0 is neither, the six that follow
    #     are both, and so is the one at the end, 65,536 == 65,535 + 1
    #   lseek and read 4,096 at 60,000, 30,000 and 0: none is > 65,535, > 64,095, > 34,095
    #   close; stat by another thread
    ran = run("files", spawn_strace, "--darshan", "--match", "data.bin", "--format", "ndjson")
    row = json.loads(ran.stdout)
    expected = {
        "OPENS": 2,
        "SEEKS": 1 + 3,
        "STATS": 1 + 1 + 1,
        "RW_SWITCHES": 1,
        "READS": 8 + 3,
        "SEQ_READS": 7,
        "CONSEC_READS": 7,
        "BYTES_READ": 65_536 + 3 * 4096,
        "MAX_BYTE_READ": 65_535,
        "WRITES": 1,
        "SEQ_WRITES": 0,
        "CONSEC_WRITES": 0,
        "BYTES_WRITTEN": 65_536,
        "MAX_BYTE_WRITTEN": 65_535,
        "SIZE_READ_0_100": 1,
        "SIZE_READ_1K_10K": 6 + 1 + 3,
        "SIZE_WRITE_10K_100K": 1,
        "ACCESS1_ACCESS": 10_000,
        "ACCESS1_COUNT": 6,
        "ACCESS2_ACCESS": 4096,
        "ACCESS2_COUNT": 3,
        "ACCESS3_ACCESS": 65_536,
        "ACCESS4_ACCESS": 5536,
        "STRIDE1_COUNT": 0,
    }
    assert {name: row[f"POSIX_{name}"] for name in expected} == expected
    table = run("files", spawn_strace, "--darshan", "--match", "data.bin").stdout.splitlines()
    assert table[1].split() == [
        *["2", "11", "7", "7", "77,824", "1", "0", "0", "65,536", "/srv/spawn/data.bin"]
    ]
