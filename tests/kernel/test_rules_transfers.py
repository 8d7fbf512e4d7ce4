"""The rules by which transfers use and move positions: each a few lines of a log."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from support.kernel import truth
from support.kernel.rules import FORK, THREAD, Log, Reader, reader

if TYPE_CHECKING:
    from pathlib import Path

BOTH = ("offset", "offset2", "offset_known", "access", "access2")
OPEN_TWO = """
100   openat(AT_FDCWD, "/data", O_RDONLY) = 3
100   openat(AT_FDCWD, "/out", O_WRONLY|O_CREAT|O_TRUNC, 0644) = 4
100   lseek(3, 100, SEEK_SET) = 100
"""


@pytest.fixture
def read(tmp_path: Path) -> Reader:
    return reader(tmp_path)


def test_classes_of_reads(read):
    log = read("""
100   openat(AT_FDCWD, "/data", O_RDONLY) = 3
100   read(3, "x"..., 10) = 10
100   read(3, "x"..., 10) = 5
100   lseek(3, 20, SEEK_SET) = 20
100   read(3, "x"..., 10) = 10
100   lseek(3, 0, SEEK_SET) = 0
100   read(3, 0x8, 10) = -1 EFAULT (Bad address)
100   read(3, "x"..., 40) = 40
100   read(3, "", 10) = 0
100   read(3, "", 0) = 0
100   pread64(3, "x"..., 10, 40) = 10
100   pread64(3, "", 10, 1000) = 0
""")
    reads = log.reads()
    # It asked for nothing.
    assert reads.pop(6)[2] is None
    assert reads == [
        (0, "exact", "first"),
        (10, "exact", "consecutive"),
        (20, "exact", "forward"),
        (None, None, "error"),
        (0, "exact", "backward"),
        (40, "exact", "eof"),
        (40, "exact", "consecutive"),
        (1000, "exact", "eof"),
    ]


def test_reads_and_writes_are_two_streams(read):
    log = read("""
100   openat(AT_FDCWD, "/data", O_RDWR) = 3
100   read(3, "x"..., 10) = 10
100   write(3, "x"..., 20) = 20
100   read(3, "x"..., 5) = 5
100   write(3, "x"..., 5) = 5
""")
    assert log.see("offset", "access", name=("read", "write")) == [
        (0, "first"),
        (10, "first"),
        (30, "forward"),
        (35, "forward"),
    ]


def test_each_description_has_streams_of_its_own(read):
    log = read("""
100   openat(AT_FDCWD, "/data", O_RDONLY) = 3
100   openat(AT_FDCWD, "/data", O_RDONLY) = 4
100   read(3, "x"..., 10) = 10
100   read(4, "x"..., 20) = 20
100   read(3, "x"..., 10) = 10
""")
    assert log.see("offset", "access", name="read") == [
        (0, "first"),
        (0, "first"),
        (10, "consecutive"),
    ]


def test_pread_leaves_the_position(read):
    log = read("""
100   openat(AT_FDCWD, "/data", O_RDWR) = 3
100   read(3, "x"..., 10) = 10
100   pread64(3, "x"..., 10, 500) = 10
100   preadv(3, [{iov_base="x"..., iov_len=5}, {iov_base="x"..., iov_len=5}], 2, 600) = 10
100   preadv2(3, [{iov_base="x"..., iov_len=7}], 1, 700, 0) = 7
100   pwrite64(3, "x"..., 10, 800) = 10
100   pwritev2(3, [{iov_base="x"..., iov_len=7}], 1, 900, 0) = 7
100   readv(3, [{iov_base="x"..., iov_len=5}, {iov_base="x"..., iov_len=5}], 2) = 10
100   read(3, "x"..., 1) = 1
""")
    assert log.see("offset", name=("read", "readv")) == [0, 10, 20]
    assert log.see("offset", "access", name=("pread64", "preadv", "preadv2")) == [
        (500, "forward"),
        (600, "forward"),
        (700, "forward"),
    ]
    assert log.see("offset", "access", name=("pwrite64", "pwritev2")) == [
        (800, "first"),
        (900, "forward"),
    ]


def test_preadv2_with_minus_one_moves_the_position(read):
    log = read("""
100   openat(AT_FDCWD, "/data", O_RDWR) = 3
100   read(3, "x"..., 10) = 10
100   preadv2(3, [{iov_base="x"..., iov_len=33}], 1, -1, 0) = 33
100   pwritev2(3, [{iov_base="x"..., iov_len=7}], 1, -1, 0) = 7
100   read(3, "x"..., 1) = 1
""")
    assert log.see("offset", "offset_known", name=("read", "preadv2", "pwritev2")) == [
        (0, "exact"),
        (10, "exact"),
        (43, "exact"),
        (50, "exact"),
    ]


def test_append_writes_land_at_the_end(read):
    log = read("""
100   openat(AT_FDCWD, "/log", O_RDWR|O_CREAT|O_TRUNC|O_APPEND, 0644) = 3
100   write(3, "x"..., 100) = 100
100   lseek(3, 10, SEEK_SET) = 10
100   write(3, "y"..., 5) = 5
100   pwrite64(3, "z"..., 3, 0) = 3
100   openat(AT_FDCWD, "/log", O_WRONLY|O_APPEND) = 4
100   write(3, "q"..., 50) = 50
100   write(4, "r"..., 7) = 7
""")
    assert log.see("offset", name="write") == [0, 100, 108, 158]
    # Whatever its argument says.
    assert log.see("offset", name="pwrite64") == [105]
    assert log.see("offset_known", name="write") == ["exact"] * 4


def test_append_leaves_the_position_behind_the_write(read):
    log = read("""
100   openat(AT_FDCWD, "/log", O_RDWR|O_APPEND) = 3
100   fstat(3, {st_mode=S_IFREG|0644, st_size=1000, ...}) = 0
100   write(3, "x"..., 100) = 100
100   read(3, "", 10) = 0
100   lseek(3, 10, SEEK_SET) = 10
100   pwrite64(3, "x"..., 5, 0) = 5
100   read(3, "x"..., 10) = 10
""")
    assert log.see("offset", "offset_known", name="write") == [(1000, "exact")]
    assert log.see("offset", name="pwrite64") == [1100]
    assert log.see("offset", "access", name="read") == [(1100, "eof"), (10, "first")]


def test_append_can_be_set_later(read):
    """It is of the description, so the copy has it, too."""
    log = read("""
100   openat(AT_FDCWD, "/log", O_WRONLY|O_CREAT|O_TRUNC, 0644) = 3
100   dup(3) = 4
100   write(3, "x"..., 100) = 100
100   lseek(3, 10, SEEK_SET) = 10
100   fcntl(4, F_SETFL, O_WRONLY|O_APPEND) = 0
100   write(3, "x"..., 5) = 5
100   fcntl(3, F_SETFL, O_WRONLY) = 0
100   lseek(3, 10, SEEK_SET) = 10
100   write(4, "x"..., 5) = 5
""")
    assert log.see("offset", name="write") == [0, 100, 10]


def test_append_at_an_unknown_end_is_not_guessed(read):
    log = read("""
100   openat(AT_FDCWD, "/log", O_WRONLY|O_APPEND) = 3
100   write(3, "x"..., 100) = 100
100   write(3, "x"..., 100) = 100
""")
    for offset, known in log.see("offset", "offset_known", name="write"):
        assert known in {"relative", "unknown"}
        assert known == "relative" or offset is None


def test_sendfile_with_offset_leaves_the_source_position(read):
    log = read(f"""
{OPEN_TWO}
100   sendfile(4, 3, [500] => [600], 100) = 100
100   sendfile(4, 3, NULL, 70) = 70
100   read(3, "x"..., 1) = 1
100   write(4, "x"..., 1) = 1
""")
    assert log.see(*BOTH, name="sendfile") == [
        (500, 0, "exact", "first", "first"),
        (100, 100, "exact", "backward", "consecutive"),
    ]
    assert log.see("offset", name=("read", "write")) == [170, 170]
    source, destination = log.see("ofd", name="openat")
    assert log.see("ofd", "ofd2", name="sendfile") == [(source, destination)] * 2


def test_sendfile_to_a_socket(read):
    log = read("""
100   openat(AT_FDCWD, "/data", O_RDONLY) = 3
100   socket(AF_INET, SOCK_STREAM, IPPROTO_IP) = 4
100   sendfile(4, 3, NULL, 70) = 70
100   sendfile(4, 3, NULL, 70) = 0
""")
    assert log.see("offset", "offset2", "access", name="sendfile") == [
        (0, None, "first"),
        (70, None, "eof"),
    ]


def test_copy_file_range_both_forms(read):
    log = read(f"""
{OPEN_TWO}
100   copy_file_range(3, NULL, 4, NULL, 50, 0) = 50
100   copy_file_range(3, [9], 4, NULL, 60, 0) = 60
100   copy_file_range(3, NULL, 4, [1000], 70, 0) = 70
100   copy_file_range(3, [609], 4, [800], 80, 0) = 80
100   read(3, "x"..., 1) = 1
100   write(4, "x"..., 1) = 1
""")
    assert log.see(*BOTH, name="copy_file_range") == [
        (100, 0, "exact", "first", "first"),
        (9, 50, "exact", "backward", "consecutive"),
        (150, 1000, "exact", "forward", "forward"),
        (609, 800, "exact", "forward", "backward"),
    ]
    assert log.see("offset", name=("read", "write")) == [220, 110]


def test_splice_moves_the_side_without_offset(read):
    log = read(f"""
{OPEN_TWO}
100   pipe2([5, 6], 0) = 0
100   splice(3, NULL, 6, NULL, 300, 0) = 300
100   splice(3, [77], 6, NULL, 200, 0) = 200
100   splice(5, NULL, 4, NULL, 250, 0) = 250
100   splice(5, NULL, 4, [5], 250, 0) = 250
100   read(3, "x"..., 1) = 1
100   write(4, "x"..., 1) = 1
""")
    assert log.see("offset", "offset2", "offset_known", name="splice") == [
        (100, None, "exact"),
        (77, None, "exact"),
        (None, 0, "exact"),
        (None, 5, "exact"),
    ]
    assert log.see("access", "access2", name="splice") == [
        ("first", None),
        ("backward", None),
        (None, "first"),
        (None, "backward"),
    ]
    assert log.see("offset", name=("read", "write")) == [400, 250]


def test_pipes_and_sockets_have_no_offset(read):
    log = read("""
100   pipe2([3, 4], 0) = 0
100   write(4, "x"..., 10) = 10
100   read(3, "x"..., 100) = 10
100   read(3, "", 100) = 0
100   read(3, 0x7f5, 100) = -1 EAGAIN (Resource temporarily unavailable)
100   socketpair(AF_UNIX, SOCK_STREAM, 0, [5, 6]) = 0
100   recvfrom(5, "x"..., 100, 0, NULL, NULL) = 10
100   recvfrom(5, "", 100, 0, NULL, NULL) = 0
""")
    columns = ("offset", "offset_known", "access")
    assert log.see(*columns, name=("read", "write", "recvfrom")) == [
        (None, None, None),
        (None, None, None),
        (None, None, "eof"),
        (None, None, "error"),
        (None, None, None),
        (None, None, "eof"),
    ]
    read_end, write_end = log.see("ofd", "ofd2", name="pipe2")[0]
    assert log.see("ofd", name="write") == [write_end] != [read_end]


def test_lseek_every_whence(read):
    log = read("""
100   openat(AT_FDCWD, "/data", O_RDONLY) = 3
100   lseek(3, 1000, SEEK_SET) = 1000
100   read(3, "x"..., 1) = 1
100   lseek(3, 234, SEEK_CUR) = 1235
100   read(3, "x"..., 1) = 1
100   lseek(3, -100, SEEK_END) = 8092
100   read(3, "x"..., 1) = 1
100   lseek(3, 10, SEEK_DATA) = 4096
100   read(3, "x"..., 1) = 1
100   lseek(3, 10, SEEK_HOLE) = 8000
100   read(3, "x"..., 1) = 1
100   lseek(3, -5, SEEK_SET) = -1 EINVAL (Invalid argument)
100   read(3, "x"..., 1) = 1
100   _llseek(3, 42, [42], SEEK_SET) = 0
100   read(3, "x"..., 1) = 1
""")
    assert log.see("offset", name="read") == [1000, 1235, 8092, 4096, 8000, 8001, 42]
    # Only a seek from the end proves a size.
    assert log.see("size", name="lseek") == [None, None, 8192, None, None, None]


def test_fallocate_makes_the_file_longer(read):
    log = read("""
100   openat(AT_FDCWD, "/a", O_RDWR|O_CREAT|O_TRUNC, 0644) = 3
100   fallocate(3, 0, 500, 500) = 0
100   fallocate(3, FALLOC_FL_KEEP_SIZE, 0, 5000) = 0
100   openat(AT_FDCWD, "/a", O_WRONLY|O_APPEND) = 4
100   write(4, "x"..., 10) = 10
100   read(3, "x"..., 10) = 10
""")
    assert log.see("offset", "offset_known", name=("write", "read")) == [
        (1000, "exact"),
        (0, "exact"),
    ]


def test_signals_move_nothing(read):
    log = read("""
100   openat(AT_FDCWD, "/a", O_RDONLY) = 3
100   read(3, "x"..., 10) = 10
100   --- SIGUSR1 {si_signo=SIGUSR1, si_code=SI_USER, si_pid=1, si_uid=0} ---
100   rt_sigreturn({mask=[]}) = -1 EINTR (Interrupted system call)
100   read(3, "x"..., 10) = 10
""")
    assert log.reads() == [(0, "exact", "first"), (10, "exact", "consecutive")]
    assert log.see("fd", "child", "access", name="rt_sigreturn") == [(None, None, None)]


def test_truncation_leaves_the_position(read):
    log = read("""
100   openat(AT_FDCWD, "/data", O_RDWR) = 3
100   lseek(3, 5000, SEEK_SET) = 5000
100   truncate("/data", 100) = 0
100   read(3, "", 10) = 0
100   ftruncate(3, 6000) = 0
100   read(3, "x"..., 10) = 10
""")
    assert log.see("offset", "access", name="read") == [(5000, "eof"), (5000, "first")]
    assert log.see("size", name=("truncate", "ftruncate")) == [100, 6000]
    # It was not reached by reading, so the file may end anywhere before.
    assert log.see("size", name="read") == [None, None]


def test_the_end_of_a_file_proves_its_size(read):
    log = read("""
100   openat(AT_FDCWD, "/data", O_RDONLY) = 3
100   read(3, "x"..., 100) = 70
100   read(3, "", 30) = 0
""")
    assert log.see("size", name="read") == [None, 70]


@pytest.mark.parametrize(
    "cut",
    [
        "ftruncate(3, 40) = 0",
        'truncate("/data", 40) = 0',
        'openat(AT_FDCWD, "/data", O_WRONLY|O_TRUNC) = 5\n100   write(5, "x"..., 40) = 40',
        "fstat(3, {st_mode=S_IFREG|0644, st_size=40, ...}) = 0",
    ],
)
def test_the_end_of_a_file_that_was_cut_proves_no_size(read, cut):
    log = read(f"""
100   openat(AT_FDCWD, "/data", O_RDWR) = 3
100   read(3, "x"..., 100) = 100
100   {cut}
100   read(3, "", 30) = 0
100   openat(AT_FDCWD, "/data", O_WRONLY|O_APPEND) = 4
100   write(4, "x"..., 7) = 7
""")
    assert log.see("offset", "size", "access", name="read", bytes=0) == [(100, None, "eof")]
    assert log.see("offset", "offset_known", name="write", fd=4) == [(40, "exact")]


def test_a_truncation_proves_no_base(read):
    """It makes a size; where the end was before it does not tell."""
    log = read("""
100   openat(AT_FDCWD, "/log", O_RDWR|O_APPEND) = 3
100   write(3, "x"..., 141) = 141
100   ftruncate(3, 869) = 0
100   read(3, "", 136) = 0
""")
    assert log.see("line", name="offset-base") == []
    assert log.see("offset_known", name="read") in (["relative"], ["unknown"])


def test_relative_appends_follow_each_other(read):
    log = read("""
100   openat(AT_FDCWD, "/log", O_RDWR|O_APPEND) = 3
100   write(3, "x"..., 243) = 243
100   pwrite64(3, "x"..., 184, 3720) = 184
100   pwrite64(3, "x"..., 42, 3625) = 42
100   write(3, "x"..., 10) = 10
100   fstat(3, {st_mode=S_IFREG|0644, st_size=1479, ...}) = 0
100   write(3, "x"..., 10) = 10
""")
    found = log.see("offset", "offset_known", name=("write", "pwrite64"))
    assert found[-1] == (1479, "exact")
    # Or not told, but never at the same place.
    assert found[:-1] in (
        [(0, "relative"), (243, "relative"), (427, "relative"), (469, "relative")],
        [(0, "relative"), (243, "relative"), (None, "unknown"), (None, "unknown")],
        [(0, "relative"), (None, "unknown"), (None, "unknown"), (None, "unknown")],
    )


def test_io_submit_and_io_getevents(read):
    log = read("""
100   openat(AT_FDCWD, "/data", O_RDWR) = 3
100   read(3, "x"..., 10) = 10
100   io_setup(8, [0x7f9000]) = 0
100   io_submit(0x7f9000, 2, [{aio_data=0x11, aio_lio_opcode=IOCB_CMD_PREAD, aio_fildes=3, aio_buf=0x7f5, aio_nbytes=512, aio_offset=1024}, {aio_data=0x22, aio_lio_opcode=IOCB_CMD_PWRITE, aio_fildes=3, aio_str="x"..., aio_nbytes=100, aio_offset=4096}]) = 2
100   io_getevents(0x7f9000, 1, 8, [{data=0x22, obj=0x7f8200, res=100, res2=0}], NULL) = 1
100   io_getevents(0x7f9000, 1, 8, [{data=0x11, obj=0x7f8100, res=300, res2=0}], NULL) = 1
100   read(3, "x"..., 10) = 10
""")  # noqa: E501
    columns = ("name", "fd", "path", "offset", "requested", "ret", "bytes", "access", "line")
    assert log.see(*columns, kind="aio") == [
        ("pwrite", 3, "/data", 4096, 100, 100, 100, "first", 5),
        ("pread", 3, "/data", 1024, 512, 300, 300, "forward", 6),
    ]
    assert set(log.see("ofd", kind="aio")) == set(log.see("ofd", name="openat"))
    assert log.see("offset", name="read") == [0, 10]


def test_inherited_descriptors_are_relative_until_proved(read):
    log = read("""
100   read(0, "x"..., 10) = 10
100   read(0, "x"..., 20) = 20
100   lseek(0, 0, SEEK_CUR) = 1030
100   read(0, "x"..., 5) = 5
""")
    assert log.reads() == [
        (0, "relative", "first"),
        (10, "relative", "consecutive"),
        (1030, "exact", "consecutive"),
    ]
    proof = log.see("kind", "offset", "line", name="offset-base")
    assert proof == [("notice", 1000, 3)]
    assert log.see("ofd", name="offset-base") == log.see("ofd", line=1)


def test_descriptors_from_the_shell_are_inherited_too(read):
    log = read("""
100   execve("/bin/x", ["x"], 0x7ff /* 1 var */) = 0
100   read(9, "x"..., 10) = 10
100   read(9, "x"..., 10) = 10
""")
    assert log.reads() == [(0, "relative", "first"), (10, "relative", "consecutive")]


def test_a_seek_elsewhere_proves_no_base(read):
    log = read("""
100   read(0, "x"..., 10) = 10
100   lseek(0, 500, SEEK_SET) = 500
100   read(0, "x"..., 5) = 5
100   read(1, "x"..., 10) = 10
100   lseek(1, 100, SEEK_CUR) = 1110
100   read(1, "x"..., 5) = 5
""")
    assert log.see("offset", "offset_known", name="read") == [
        (0, "relative"),
        (500, "exact"),
        (0, "relative"),
        (1110, "exact"),
    ]
    # An exact offset cannot be compared with a relative end; that of 1 is proved.
    assert log.see("access", name="read", line=3) == [None]
    assert log.see("access", name="read", line=6) == ["forward"]
    assert log.see("offset", "line", name="offset-base") == [(1000, 5)]


def test_the_end_of_a_file_of_known_size_proves_the_base(read):
    log = read("""
100   fstat(0, {st_mode=S_IFREG|0644, st_size=2000, ...}) = 0
100   read(0, "x"..., 100) = 10
100   read(0, "", 100) = 0
""")
    assert log.see("offset", "offset_known", name="read")[0] == (0, "relative")
    assert log.see("offset", name="offset-base") == [1990]


def test_overlapping_reads_are_ambiguous(read):
    log = read(f"""
100   openat(AT_FDCWD, "/data", O_RDONLY) = 3
100   {THREAD} = 101
100   read(3, "x"..., 7) = 7
100   read(3,  <unfinished ...>
101   read(3, "x"..., 20) = 20
100   <... read resumed>"x"..., 10) = 10
101   read(3, "x"..., 5) = 5
""")
    assert log.reads() == [
        (0, "exact", "first"),
        (None, "ambiguous", None),
        (None, "ambiguous", None),
        # Both have happened, in whatever order.
        (37, "exact", "consecutive"),
    ]


def test_overlapping_through_copies(read):
    """By another number, in another process: it is one position."""
    log = read(f"""
100   openat(AT_FDCWD, "/data", O_RDONLY) = 3
100   dup(3) = 4
100   {FORK} = 101
100   read(3,  <unfinished ...>
101   read(4,  <unfinished ...>
100   <... read resumed>"x"..., 10) = 10
101   <... read resumed>"x"..., 20) = 20
101   read(4, "x"..., 5) = 5
""")
    assert log.see("offset", "offset_known", name="read") == [
        (None, "ambiguous"),
        (None, "ambiguous"),
        (30, "exact"),
    ]


def test_what_moves_nothing_makes_nothing_ambiguous(read):
    log = read(f"""
100   openat(AT_FDCWD, "/data", O_RDONLY) = 3
100   openat(AT_FDCWD, "/data", O_RDONLY) = 4
100   {THREAD} = 101
100   read(3,  <unfinished ...>
101   pread64(3, "x"..., 20, 90) = 20
101   read(4, "x"..., 20) = 20
101   fstat(3, {{st_mode=S_IFREG|0644, st_size=5000, ...}}) = 0
100   <... read resumed>"x"..., 10) = 10
100   read(3, "x"..., 10) = 10
""")
    assert log.see("tid", "offset", "offset_known", name="read") == [
        (101, 0, "exact"),
        (100, 0, "exact"),
        (100, 10, "exact"),
    ]
    assert log.see("offset", "offset_known", name="pread64") == [(90, "exact")]


def test_a_seek_inside_of_a_read_leaves_the_position_open(read):
    log = read(f"""
100   openat(AT_FDCWD, "/data", O_RDONLY) = 3
100   {THREAD} = 101
100   read(3,  <unfinished ...>
101   lseek(3, 500, SEEK_SET) = 500
100   <... read resumed>"x"..., 10) = 10
100   read(3, "x"..., 20) = 20
100   lseek(3, 0, SEEK_SET) = 0
100   read(3, "x"..., 20) = 20
""")
    first, second, third = log.see("offset", "offset_known", name="read")
    assert first == (None, "ambiguous")
    # At 500 or at 510.
    assert second in {(None, "ambiguous"), (None, "unknown")}
    assert third == (0, "exact")


def test_what_does_not_overlap_is_exact(read):
    """Split by lines of others, but one ends before the next begins."""
    log = read(f"""
100   openat(AT_FDCWD, "/data", O_RDONLY) = 3
100   {THREAD} = 101
100   read(3,  <unfinished ...>
101   getpid( <unfinished ...>
100   <... read resumed>"x"..., 10) = 10
101   <... getpid resumed>) = 100
101   read(3,  <unfinished ...>
100   getpid( <unfinished ...>
101   <... read resumed>"x"..., 20) = 20
100   <... getpid resumed>) = 100
100   read(3, "x"..., 5) = 5
""")
    assert log.reads() == [
        (0, "exact", "first"),
        (10, "exact", "consecutive"),
        (30, "exact", "consecutive"),
    ]


@pytest.mark.parametrize(("flags", "set_flags"), [("|O_APPEND", ""), ("", "|O_APPEND")])
def test_writes_whose_flag_changes_meanwhile_are_ambiguous(read, flags, set_flags):
    log = read(
        f"""
100   openat(AT_FDCWD, "/data", O_RDWR|O_TRUNC{flags}) = 3
100   {THREAD} = 101
100   write(3, "x"..., 10) = 10
100   pwrite64(3, "x"..., 10, 100 <unfinished ...>
101   fcntl(3, F_SETFL, O_RDWR{set_flags}) = 0
100   <... pwrite64 resumed>) = 10
100   fcntl(3, F_SETFL, O_RDWR|O_APPEND) = 0
100   write(3, "x"..., 10) = 10
"""
    )
    assert log.see("offset", "offset_known", name=("write", "pwrite64")) == [
        (0, "exact"),
        (None, "ambiguous"),
        # Nor is it known where the file ends.
        (None, "unknown"),
    ]


def test_separate_logs_overlap_by_their_times(tmp_path):
    """In `-ff` logs no line is split; what begins before another's end overlaps it.

    A read surely has ended at its task's next line, or, since strace does one thing at a time, so
    long after the next line of any task as it took.
    """
    (tmp_path / "cut.strace.1000").write_text(
        f"""
1700000000.000100 openat(AT_FDCWD, "/data", O_RDONLY) = 3 <0.000010>
1700000000.000200 {FORK} = 1001 <0.000050>
1700000000.001000 read(3, "x"..., 10) = 10 <0.000500>
1700000000.003000 read(3, "x"..., 5) = 5 <0.000010>
1700000000.003500 getpid() = 1000 <0.000010>
1700000000.009000 exit_group(0) = ?
1700000000.009100 +++ exited with 0 +++
""".lstrip()
    )
    (tmp_path / "cut.strace.1001").write_text(
        """
1700000000.000300 set_robust_list(0x7f1, 24) = 0 <0.000010>
1700000000.001200 read(3, "x"..., 20) = 20 <0.000100>
1700000000.001400 getpid() = 1001 <0.000010>
1700000000.004000 read(3, "x"..., 7) = 7 <0.000010>
1700000000.009000 exit_group(0) = ?
1700000000.009100 +++ exited with 0 +++
""".lstrip()
    )
    log = Log(truth.read_rows(tmp_path / "cut.strace"))
    assert log.see("tid", "offset", "offset_known", name="read", line=(2, 3)) == [
        (1001, None, "ambiguous"),
        (1000, None, "ambiguous"),
    ]
    assert log.see("tid", "offset", "offset_known", name="read", line=4) == [
        (1000, 30, "exact"),
        (1001, 35, "exact"),
    ]
