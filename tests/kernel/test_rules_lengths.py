"""The rules of how long files are, where calls overlap: each a few lines of a log.

Where an append lands shows what the model holds for the end of the file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from support.kernel.rules import THREAD, Reader, reader

if TYPE_CHECKING:
    from pathlib import Path

# Two tasks; 3 appends to a file of 1000 bytes, 4 and 5 do not.
START = f"""
100   openat(AT_FDCWD, "/log", O_RDWR|O_APPEND) = 3
100   openat(AT_FDCWD, "/log", O_RDWR) = 4
100   openat(AT_FDCWD, "/log", O_RDWR) = 5
100   fstat(3, {{st_mode=S_IFREG|0644, st_size=1000, ...}}) = 0
100   {THREAD} = 101
"""
APPEND = """
100   write(3, "end"..., 3) = 3
"""


@pytest.fixture
def read(tmp_path: Path) -> Reader:
    return reader(tmp_path)


def ends(read: Reader, text: str, start: str = START) -> list[tuple[int | None, str]]:
    """Where the appends of three bytes land that follow."""
    log = read(start + text.lstrip("\n") + APPEND.lstrip("\n"))
    return log.see("offset", "offset_known", name="write", bytes=3)


def exact(*offsets: int) -> list[tuple[int, str]]:
    return [(offset, "exact") for offset in offsets]


def test_the_end_is_known_in_the_first_place(read):
    assert ends(read, "") == exact(1000)


OVERLAPS = {
    "a truncation, an append": """
100   ftruncate(4, 500 <unfinished ...>
101   write(3, "x"..., 7) = 7
100   <... ftruncate resumed>) = 0
""",
    "an append, a truncation": """
100   write(3, "x"..., 7 <unfinished ...>
101   ftruncate(4, 500) = 0
100   <... write resumed>) = 7
""",
    "two truncations": """
100   ftruncate(4, 500 <unfinished ...>
101   ftruncate(5, 600) = 0
100   <... ftruncate resumed>) = 0
""",
    "two truncations, half and half": """
100   ftruncate(4, 500 <unfinished ...>
101   ftruncate(5, 600 <unfinished ...>
100   <... ftruncate resumed>) = 0
101   <... ftruncate resumed>) = 0
""",
    "a truncation by name": """
100   write(3, "x"..., 7 <unfinished ...>
101   truncate("/log", 500) = 0
100   <... write resumed>) = 7
""",
    "around a truncation by name": """
100   truncate("/log", 500 <unfinished ...>
101   write(3, "x"..., 7) = 7
100   <... truncate resumed>) = 0
""",
    "an open file is emptied": """
100   openat(AT_FDCWD, "/log", O_WRONLY|O_TRUNC <unfinished ...>
101   write(3, "x"..., 7) = 7
100   <... openat resumed>) = 6
""",
    "a write past the end, an append": """
100   pwrite64(4, "x"..., 7, 5000 <unfinished ...>
101   write(3, "x"..., 7) = 7
100   <... pwrite64 resumed>) = 7
""",
    "room, an append": """
100   fallocate(4, 0, 0, 5000 <unfinished ...>
101   write(3, "x"..., 7) = 7
100   <... fallocate resumed>) = 0
""",
    "a call whose end is missing": """
101   write(3, "x"..., 7 <unfinished ...>
101   +++ killed by SIGKILL +++
""",
    "a file is emptied that somebody had open meanwhile": """
100   close(3) = 0
100   close(4) = 0
100   close(5) = 0
100   openat(AT_FDCWD, "/log", O_RDWR|O_APPEND|O_TRUNC <unfinished ...>
101   openat(AT_FDCWD, "/log", O_WRONLY) = 4
101   write(4, "x"..., 7) = 7
101   close(4) = 0
100   <... openat resumed>) = 3
""",
    "a range is taken out": """
100   fallocate(4, FALLOC_FL_COLLAPSE_RANGE, 0, 512) = 0
""",
    "of what overlaps, the order is not told later": """
100   ftruncate(4, 500 <unfinished ...>
101   ftruncate(5, 600) = 0
100   <... ftruncate resumed>) = 0
100   write(3, "x"..., 7) = 7
""",
}


@pytest.mark.parametrize("overlap", OVERLAPS)
def test_calls_that_overlap_leave_the_end_open(read, overlap):
    ((offset, known),) = ends(read, OVERLAPS[overlap])
    assert (offset, known) == (None, "unknown")


@pytest.mark.parametrize(
    ("around", "within"),
    [
        ("ftruncate(4, 500 <unfinished ...>", 'write(3, "x"..., 7) = 7'),
        ("fallocate(4, 0, 0, 5000 <unfinished ...>", 'write(3, "x"..., 7) = 7'),
        ('write(3, "x"..., 7 <unfinished ...>', "ftruncate(4, 500) = 0"),
        ('write(3, "x"..., 7 <unfinished ...>', 'truncate("/log", 500) = 0'),
    ],
)
def test_an_append_that_overlaps_a_change_is_ambiguous(read, around, within):
    """Whether the other one is split or on a line of its own."""
    name = around.partition("(")[0]
    ret = 7 if name == "write" else 0
    log = read(f"{START}100   {around}\n101   {within}\n100   <... {name} resumed>) = {ret}\n")
    assert log.see("offset", "offset_known", name="write") == [(None, "ambiguous")]


def test_appends_at_an_unknown_end_overlap_a_truncation(read):
    """They do not count from where none of them began."""
    log = read(f"""
100   openat(AT_FDCWD, "/log", O_RDWR|O_APPEND) = 3
100   {THREAD} = 101
101   write(3, "x"..., 242 <unfinished ...>
100   ftruncate(3, 3918) = 0
101   <... write resumed>) = 242
100   pwrite64(3, "x"..., 363, 1333) = 363
""")
    assert log.see("offset", "offset_known", name=("write", "pwrite64")) == [
        (None, "ambiguous"),
        (None, "unknown"),
    ]


NO_HARM = {
    "appends, whatever their order": (
        """
100   write(3, "x"..., 7 <unfinished ...>
101   write(3, "x"..., 5) = 5
100   <... write resumed>) = 7
""",
        1012,
    ),
    "writes at offsets of their own": (
        """
100   pwrite64(4, "x"..., 100, 2000 <unfinished ...>
101   pwrite64(5, "x"..., 100, 3000) = 100
100   <... pwrite64 resumed>) = 100
""",
        3100,
    ),
    "a truncation that fails": (
        """
100   ftruncate(4, 500 <unfinished ...>
101   write(3, "x"..., 7) = 7
100   <... ftruncate resumed>) = -1 EINTR (Interrupted system call)
""",
        1007,
    ),
    "a truncation that fails and overlaps nothing": (
        """
100   ftruncate(4, 500 <unfinished ...>
101   getpid() = 100
100   <... ftruncate resumed>) = -1 EPERM (Operation not permitted)
""",
        1000,
    ),
    "a truncation after all": (
        """
100   ftruncate(4, 500 <unfinished ...>
101   ftruncate(5, 600) = 0
100   <... ftruncate resumed>) = 0
100   ftruncate(4, 700) = 0
""",
        700,
    ),
    "a file that is made, while another one is left": (
        """
100   close(3) = 0
100   close(4) = 0
100   close(5) = 0
100   openat(AT_FDCWD, "/other", O_RDWR) = 6
100   openat(AT_FDCWD, "/log", O_RDWR|O_TRUNC|O_APPEND <unfinished ...>
101   write(6, "x"..., 9) = 9
101   close(6) = 0
101   truncate("/third", 100) = 0
100   <... openat resumed>) = 3
""",
        0,
    ),
    "a file that is made, with other calls meanwhile": (
        """
100   openat(AT_FDCWD, "/log", O_RDWR|O_TRUNC <unfinished ...>
101   openat(AT_FDCWD, "/other", O_RDWR|O_CREAT|O_TRUNC, 0644) = 7
101   write(7, "x"..., 9) = 9
100   <... openat resumed>) = 6
""",
        0,
    ),
    "a file that is emptied, and opened meanwhile": (
        """
100   close(3) = 0
100   close(4) = 0
100   close(5) = 0
100   openat(AT_FDCWD, "/log", O_RDWR|O_TRUNC <unfinished ...>
101   openat(AT_FDCWD, "/log", O_RDWR|O_APPEND) = 3
100   <... openat resumed>) = 4
""",
        0,
    ),
    "room that keeps the size": (
        """
100   fallocate(4, FALLOC_FL_KEEP_SIZE|FALLOC_FL_PUNCH_HOLE, 0, 512 <unfinished ...>
101   getpid() = 100
100   <... fallocate resumed>) = 0
""",
        1000,
    ),
}


@pytest.mark.parametrize("case", NO_HARM)
def test_what_the_log_implies_is_known(read, case):
    text, end = NO_HARM[case]
    assert ends(read, text) == exact(end)


# Each shows a length that was true before the write, or after it.
GLIMPSES = [
    "fstat(5, {{st_mode=S_IFREG|0644, st_size={size}, ...}}) = 0",
    'stat("/log", {{st_mode=S_IFREG|0644, st_size={size}, ...}}) = 0',
    "lseek(5, 0, SEEK_END) = {size}",
]


@pytest.mark.parametrize("size", [1000, 1007])
@pytest.mark.parametrize("glimpse", GLIMPSES)
def test_a_length_seen_while_it_changes_is_of_no_moment(read, glimpse, size):
    """Split around the change, or inside of it."""
    head, _, tail = glimpse.format(size=size).partition(", ")
    name = head.partition("(")[0]
    around = f"""
100   {head},  <unfinished ...>
101   write(3, "x"..., 7) = 7
100   <... {name} resumed>{tail}
"""
    within = f"""
100   write(3, "x"..., 7 <unfinished ...>
101   {head}, {tail}
100   <... write resumed>) = 7
"""
    assert ends(read, around) == exact(1007)
    assert ends(read, within) == exact(1007)


def test_a_seek_to_an_end_that_is_cut_meanwhile(read):
    log = read(f"""
{START}
100   lseek(5, 125, SEEK_END <unfinished ...>
101   ftruncate(4, 4356) = 0
100   <... lseek resumed>) = 1125
100   write(3, "x"..., 9) = 9
100   write(5, "x"..., 9) = 9
""")
    assert log.see("offset", "offset_known", name="write") == exact(4356, 1125)


def test_the_end_of_the_file_found_while_it_grows(read):
    """A read at the end overlaps a write, which comes after it, or before."""
    log = read(f"""
100   openat(AT_FDCWD, "/log", O_RDWR|O_APPEND) = 3
100   {THREAD} = 101
101   read(3, "x"..., 400) = 194
100   pwrite64(3, "x"..., 349, 2392 <unfinished ...>
101   read(3, "", 279) = 0
100   <... pwrite64 resumed>) = 349
100   write(3, "x"..., 3) = 3
""")
    # It was so long when it was read.
    assert log.see("size", name="read") == [None, 194]
    assert log.see("offset", "offset_known", name=("pwrite64", "write")) != exact(194, 543)
    assert "exact" not in log.see("offset_known", name=("pwrite64", "write"))


def test_the_end_of_a_file_of_open_length_that_was_cut(read):
    log = read(f"""
100   openat(AT_FDCWD, "/log", O_RDWR|O_APPEND) = 3
100   {THREAD} = 101
100   read(3, "x"..., 1250) = 1250
101   write(3, "x"..., 194 <unfinished ...>
100   ftruncate(3, 1171) = 0
101   <... write resumed>) = 194
100   lseek(3, 1250, SEEK_SET) = 1250
100   read(3, "", 159) = 0
100   write(3, "x"..., 3) = 3
""")
    assert log.see("size", name="read") == [None, None]
    assert log.see("offset_known", bytes=3) == ["unknown"]


def test_what_was_read_since_it_was_cut_proves_the_end_again(read):
    log = read("""
100   openat(AT_FDCWD, "/log", O_RDWR) = 3
100   read(3, "x"..., 100) = 100
100   ftruncate(3, 150) = 0
100   read(3, "x"..., 100) = 50
100   read(3, "", 100) = 0
""")
    assert log.see("size", name="read") == [None, None, 150]


def test_a_file_that_is_longer_than_it_was_told(read):
    """Somebody outside of the log wrote to it: what was told of its end does not hold."""
    log = read("""
100   openat(AT_FDCWD, "/log", O_RDWR|O_APPEND) = 3
100   fstat(3, {st_mode=S_IFREG|0644, st_size=10, ...}) = 0
100   read(3, "x"..., 100) = 40
100   write(3, "x"..., 3) = 3
""")
    assert log.see("offset_known", name="write") == ["unknown"]


def test_a_file_that_is_shorter_than_it_was_told(read):
    log = read("""
100   openat(AT_FDCWD, "/log", O_RDWR|O_APPEND) = 3
100   fstat(3, {st_mode=S_IFREG|0644, st_size=100, ...}) = 0
100   read(3, "x"..., 200) = 40
100   read(3, "", 200) = 0
100   write(3, "x"..., 3) = 3
""")
    assert log.see("size", name="read") == [None, None]
    assert log.see("offset_known", name="write") == ["unknown"]


@pytest.mark.parametrize("whole", ["write", "fcntl"])
def test_a_write_while_appending_is_switched_may_be_anywhere(read, whole):
    """Whichever of the two is split around the other one."""
    switch = "fcntl(4, F_SETFL, O_RDWR|O_APPEND"
    write = 'write(4, "x"..., 5'
    if whole == "fcntl":
        lines = f"""
100   {write} <unfinished ...>
101   {switch}) = 0
100   <... write resumed>) = 5
"""
    else:
        lines = f"""
100   {switch} <unfinished ...>
101   {write}) = 5
100   <... fcntl resumed>) = 0
"""
    log = read(START + lines.lstrip("\n") + lines.lstrip("\n"))
    # The second time nothing is switched.
    (first, second) = log.see("offset", "offset_known", name="write")
    assert first == (None, "ambiguous")
    assert second == (None, "unknown")
    log = read(f"{START}100   {switch}) = 0\n{lines}".replace("\n\n", "\n"))
    assert log.see("offset", "offset_known", name="write") == exact(1000)


def test_a_description_has_one_base(read):
    """Its position counts from the first read, so an append at an open end cannot count as well."""
    log = read("""
100   fcntl(3, F_SETFL, O_RDWR|O_APPEND) = 0
100   fstat(5</b>, {st_mode=S_IFREG|0644, st_size=9, ...}) = 0
100   pwrite64(3</a>, "x"..., 5, 0) = 5
100   read(3</a>, "x"..., 5) = 5
100   fstat(3</a>, {st_mode=S_IFREG|0644, st_size=500, ...}) = 0
100   read(3</a>, "x"..., 5) = 5
""")
    assert log.see("offset", "offset_known", name="pwrite64") == [(None, "unknown")]
    assert log.see("offset", "offset_known", name="read") == [(0, "relative"), (5, "relative")]
    assert log.see("offset", kind="notice") == []


def test_a_submitted_write_is_under_way_until_it_is_collected(read):
    part = (
        'aio_data=0x1, aio_lio_opcode=IOCB_CMD_PWRITE, aio_fildes=4, aio_str="x"..., '
        "aio_nbytes=4096, aio_offset=8192"
    )
    log = read(f"""
{START}
100   io_submit(0x7f1, 1, [{{{part}}}]) = 1
101   write(3, "x"..., 7) = 7
100   io_getevents(0x7f1, 1, 1, [{{data=0x1, obj=0x7f8, res=4096, res2=0}}], NULL) = 1
100   write(3, "x"..., 7) = 7
""")
    assert log.see("offset_known", name="write") == ["ambiguous", "unknown"]


def test_a_group_that_ends_late_leaves_what_came_since(read):
    """The last of them moves nothing: a read at an offset of its own came after the others."""
    log = read(f"""
100   openat(AT_FDCWD, "/data", O_RDONLY) = 3
100   {THREAD} = 101
101   write(3, "x"..., 261 <unfinished ...>
100   read(3, "x"..., 108) = 108
100   pread64(3, "x"..., 373, 2579) = 373
101   <... write resumed>) = -1 EBADF (Bad file descriptor)
100   pread64(3, "x"..., 10, 2952) = 10
100   read(3, "x"..., 188) = 188
""")
    assert log.reads() == [
        (None, "ambiguous", None),
        (2579, "exact", None),
        (2952, "exact", "consecutive"),
        (108, "exact", "backward"),
    ]


def test_a_call_of_which_the_offset_shows_late_moves_nothing(read):
    """Whether preadv2 has an offset of its own, its second half tells."""
    log = read(f"""
100   openat(AT_FDCWD, "/data", O_RDONLY) = 3
100   {THREAD} = 101
101   preadv2(3,  <unfinished ...>
100   read(3, "x"..., 10) = 10
101   <... preadv2 resumed>[{{iov_base="x"..., iov_len=50}}], 1, 700, 0) = 50
100   read(3, "x"..., 5) = 5
""")
    assert log.see("offset", "offset_known", name=("preadv2",)) == [(700, "exact")]
    assert log.see("offset", "offset_known", name=("read",)) == [
        (None, "ambiguous"),
        (10, "exact"),
    ]
