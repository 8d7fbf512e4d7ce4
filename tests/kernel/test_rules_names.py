"""The rules of names, identities, memory, and of ftrace's text: each a few lines of a log."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from support.kernel.rules import FORK, THREAD, Reader, reader

if TYPE_CHECKING:
    from pathlib import Path

MIB = 1 << 20


@pytest.fixture
def read(tmp_path: Path) -> Reader:
    return reader(tmp_path)


@pytest.fixture
def read_ftrace(tmp_path: Path) -> Reader:
    return reader(tmp_path, "made.ftrace")


def test_cwd_and_dirfd(read):
    log = read(f"""
100   chdir("/srv") = 0
100   openat(AT_FDCWD, "data", O_RDONLY) = 3
100   openat(AT_FDCWD, "inner", O_RDONLY|O_DIRECTORY) = 4
100   openat(4, "data", O_RDONLY) = 5
100   {FORK} = 101
101   chdir("inner") = 0
101   openat(AT_FDCWD, "data", O_RDONLY) = 6
100   openat(AT_FDCWD, "data", O_RDONLY) = 6
100   {THREAD} = 102
102   fchdir(4) = 0
100   openat(AT_FDCWD, "data", O_RDONLY) = 7
100   openat(4, "/data", O_RDONLY) = 8
100   chdir("/nowhere") = -1 ENOENT (No such file or directory)
100   openat(AT_FDCWD, "data", O_RDONLY) = 9
100   read(5, "x"..., 10) = 10
""")
    assert log.see("path", name="openat") == [
        "/srv/data",
        "/srv/inner",
        "/srv/inner/data",
        "/srv/inner/data",
        "/srv/data",
        "/srv/inner/data",
        "/data",
        "/srv/inner/data",
    ]
    assert log.see("path", name="read") == ["/srv/inner/data"]
    # One file, whoever opened it, and from where.
    files = log.see("path", "file", name="openat")
    assert len({file for _, file in files}) == len({path for path, _ in files})


def test_chroot_and_pivot_root_move_the_root(read):
    log = read("""
100   openat(AT_FDCWD, "/f", O_RDONLY) = 3
100   chroot("/jail") = 0
100   openat(AT_FDCWD, "/f", O_RDONLY) = 4
100   openat(AT_FDCWD, "/jails/f", O_RDONLY) = 5
100   chroot("/none") = -1 ENOENT (No such file or directory)
100   openat(AT_FDCWD, "/f", O_RDONLY) = 6
100   chdir("/new") = 0
100   pivot_root(".", ".") = 0
100   chdir("/") = 0
100   openat(AT_FDCWD, "/f", O_RDONLY) = 7
100   openat(AT_FDCWD, "f", O_RDONLY) = 8
""")
    assert log.see("path", name="openat") == [
        "/f",
        "/jail/f",
        "/jail/jails/f",
        "/jail/f",
        "/jail/new/f",
        "/jail/new/f",
    ]


def test_directory_entries_are_no_data(read):
    log = read("""
100   openat(AT_FDCWD, "/d", O_RDONLY|O_DIRECTORY) = 3
100   getdents64(3, 0x55 /* 5 entries */, 32768) = 120
100   getdents64(3, 0x55 /* 0 entries */, 32768) = 0
""")
    assert (
        log.see("bytes", "offset", "offset_known", "access", name="getdents64")
        == [(None, None, None, None)] * 2
    )


def test_getcwd_tells_the_folder(read):
    log = read("""
100   openat(AT_FDCWD, "data", O_RDONLY) = 3
100   getcwd("/srv", 4096) = 5
100   openat(AT_FDCWD, "data", O_RDONLY) = 4
""")
    assert log.see("path", name="openat")[1] == "/srv/data"


def test_unlinked_name_opened_anew_is_another_file(read):
    log = read("""
100   openat(AT_FDCWD, "/data", O_RDONLY) = 3
100   openat(AT_FDCWD, "/data", O_RDONLY) = 4
100   unlink("/data") = 0
100   openat(AT_FDCWD, "/data", O_RDWR|O_CREAT, 0644) = 5
100   read(3, "x"..., 10) = 10
100   unlink("/nothing") = -1 ENOENT (No such file or directory)
100   unlink("/data") = -1 EPERM (Operation not permitted)
100   openat(AT_FDCWD, "/data", O_RDONLY) = 6
""")
    first, again, anew, last = log.see("file", name="openat")
    assert first == again != anew == last
    assert log.see("file", name="read") == [first]


def test_rename_keeps_the_identity(read):
    log = read("""
100   openat(AT_FDCWD, "/data", O_RDONLY) = 3
100   openat(AT_FDCWD, "/other", O_RDONLY) = 4
100   rename("/data", "/other") = 0
100   read(3, "x"..., 10) = 10
100   read(4, "x"..., 10) = 10
100   openat(AT_FDCWD, "/other", O_RDONLY) = 5
100   openat(AT_FDCWD, "/data", O_RDWR|O_CREAT, 0644) = 6
""")
    data, other, renamed, anew = log.see("file", name="openat")
    assert len({data, other, anew}) == 3
    assert renamed == data
    # Rows keep the name by which it was opened.
    assert log.see("path", "file", name="read") == [("/data", data), ("/other", other)]


def test_rename_exchange(read):
    log = read("""
100   openat(AT_FDCWD, "/data", O_RDONLY) = 3
100   openat(AT_FDCWD, "/other", O_RDONLY) = 4
100   renameat2(AT_FDCWD, "/data", AT_FDCWD, "/other", RENAME_EXCHANGE) = 0
100   openat(AT_FDCWD, "/other", O_RDONLY) = 5
100   openat(AT_FDCWD, "/data", O_RDONLY) = 6
""")
    data, other, first, second = log.see("file", name="openat")
    assert (first, second) == (data, other)


def test_a_file_is_the_same_in_every_description(read):
    log = read("""
100   openat(AT_FDCWD, "/data", O_RDONLY) = 3
100   close(3) = 0
100   openat(AT_FDCWD, "/data", O_RDONLY) = 3
100   stat("/data", {st_mode=S_IFREG|0644, st_size=10, ...}) = 0
""")
    assert len(set(log.see("file", name="openat"))) == 1
    assert len(set(log.see("ofd", name="openat"))) == 2
    assert log.see("size", "file_type", name="stat") == [(10, "regular")]


def test_annotations_never_rename(read):
    """`-y` shows the name of the moment, and marks what is deleted."""
    log = read("""
100   openat(AT_FDCWD</srv>, "data", O_RDONLY) = 3</srv/data>
100   rename("/srv/data", "/srv/moved") = 0
100   read(3</srv/moved>, "x"..., 10) = 10
100   unlink("/srv/moved") = 0
100   read(3</srv/moved>(deleted), "x"..., 10) = 10
""")
    assert log.see("path", "offset", name="read") == [("/srv/data", 0), ("/srv/data", 10)]
    assert len(set(log.see("file", name=("openat", "read")))) == 1


ANONYMOUS = "PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0"


def test_anon_bytes_are_private_and_writable(read):
    log = read(f"""
100   execve("/bin/x", ["x"], 0x7ff /* 1 var */) = 0
100   brk(NULL) = 0x100000
100   brk(0x140000) = 0x140000
100   mmap(NULL, {8 * MIB}, {ANONYMOUS}) = 0x7f0000000000
100   mmap(NULL, {MIB}, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x7f1000000000
100   mmap(NULL, {MIB}, PROT_READ|PROT_WRITE, MAP_SHARED|MAP_ANONYMOUS, -1, 0) = 0x7f2000000000
100   mmap(NULL, {MIB}, PROT_READ, MAP_PRIVATE, 3, 0) = 0x7f3000000000
100   mmap(NULL, {MIB}, {ANONYMOUS}) = -1 ENOMEM (Cannot allocate memory)
100   {FORK} = 101
100   munmap(0x7f0000000000, {2 * MIB}) = 0
100   brk(0x120000) = 0x120000
100   {FORK} = 102
101   mmap(NULL, {MIB}, {ANONYMOUS}) = 0x7f4000000000
101   execve("/bin/true", ["true"], 0x7ff /* 1 var */) = 0
101   mmap(NULL, {MIB}, {ANONYMOUS}) = 0x7f4000000000
101   vfork() = 103
""")
    before = 8 * MIB + 0x40000
    assert log.see("anon_bytes", name="clone") == [before, 6 * MIB + 0x20000]
    # What the exec takes down is the image before it; what is behind it starts from nothing.
    assert log.see("anon_bytes", name="execve") == [None, before + MIB]
    assert log.see("anon_bytes", name="vfork") == [MIB]
    assert log.see("anon_bytes", name=("mmap", "munmap", "brk")) == [None] * 11


def ftrace(*records: tuple[int, str]) -> str:
    """Lines as tracefs prints them, one µs apart."""
    lines = [
        f"         program-{pid:<7} [000] ..... {100 + number / 1_000_000:.6f}: {text}"
        for number, (pid, text) in enumerate(records)
    ]
    return "\n".join(["# tracer: nop", "#", *lines, ""])


def call(pid: int, entry: str, result: int) -> list[tuple[int, str]]:
    name = entry.partition("(")[0]
    return [(pid, entry), (pid, f"{name} -> {result & (1 << 64) - 1:#x}")]


def test_ftrace_fills_the_same_columns(read_ftrace):
    """Without names; descriptors, positions and classes are the same."""
    log = read_ftrace(
        ftrace(
            *call(100, "sys_openat(dfd: 0xffffff9c, filename: 0x7f5, flags: 0x0, mode: 0x0)", 3),
            *call(100, "sys_read(fd: 3, buf: 0x7f5, count: 0xa)", 10),
            *call(100, "sys_dup(fildes: 3)", 4),
            *call(100, "sys_read(fd: 4, buf: 0x7f5, count: 0x14)", 20),
            *call(100, "sys_lseek(fd: 3, offset: 0x64, whence: 0)", 100),
            *call(100, "sys_pread64(fd: 3, buf: 0x7f5, count: 0xa, pos: 0x7)", 10),
            *call(100, "sys_read(fd: 4, buf: 0x7f5, count: 0x14)", 20),
            *call(100, "sys_read(fd: 3, buf: 0x7f5, count: 0x14)", 0),
            *call(100, "sys_read(fd: 3, buf: 0x8, count: 0x14)", -14),
            *call(100, "sys_close(fd: 3)", 0),
            *call(100, "sys_read(fd: 3, buf: 0x8, count: 0x14)", -9),
        )
    )
    assert log.reads() == [
        (0, "exact", "first"),
        (10, "exact", "consecutive"),
        (7, "exact", "backward"),
        (100, "exact", "forward"),
        (120, "exact", "eof"),
        (None, None, "error"),
        (None, None, "error"),
    ]
    assert set(log.see("ofd", name="read")[:-1]) == set(log.see("ofd", name="openat"))
    assert log.see("ofd", name="read")[-1] is None


def test_ftrace_overlaps_are_ambiguous(read_ftrace):
    entry = "sys_read(fd: 3, buf: 0x7f5, count: 0xa)"
    log = read_ftrace(
        ftrace(
            *call(100, "sys_openat(dfd: 0xffffff9c, filename: 0x7f5, flags: 0x0, mode: 0x0)", 3),
            (100, "task_newtask: pid=101 comm=program clone_flags=3d0f00 oom_score_adj=0"),
            (100, entry),
            (101, entry),
            (101, "sys_read -> 0xa"),
            (100, "sys_read -> 0x5"),
            *call(101, entry, 10),
        )
    )
    assert log.see("tid", "offset", "offset_known", name="read") == [
        (101, None, "ambiguous"),
        (100, None, "ambiguous"),
        (101, 15, "exact"),
    ]


def test_memory_that_mremap_leaves_mapped(read):
    """With MREMAP_DONTUNMAP pages move, and the range that they leave stays."""
    log = read(f"""
100   execve("/bin/x", ["x"], 0x7ff /* 1 var */) = 0
100   mmap(NULL, {MIB}, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x7f0000000000
100   mremap(0x7f0000000000, {MIB}, {MIB}, MREMAP_MAYMOVE|MREMAP_DONTUNMAP) = 0x7f1000000000
100   {FORK} = 101
100   munmap(0x7f1000000000, {MIB}) = 0
100   {FORK} = 102
""")
    assert log.see("anon_bytes", name="clone") == [2 * MIB, MIB]


@pytest.mark.parametrize(
    "question",
    [
        "TCGETS, {c_iflag=ICRNL|IXON, c_oflag=NL0|CR0, ...}",
        "TCGETS, {B38400 opost isig icanon echo ...}",
        "SNDCTL_TMR_TIMEBASE or TCGETS, {B38400 opost isig icanon echo ...}",
        "TIOCGWINSZ, {ws_row=24, ws_col=80, ws_xpixel=0, ws_ypixel=0}",
        "0x5401 /* TCGETS */, 0x7ffd",
    ],
)
def test_a_terminal_is_known_by_what_it_answers(read, question):
    """It has no positions, so what is read from it then has no offset."""
    log = read(f"""
100   ioctl(0, {question}) = 0
100   read(0, "x"..., 1024) = 2
100   ioctl(1, {question.partition(",")[0]}, 0x7ffd) = -1 ENOTTY (Inappropriate ioctl for device)
100   write(1, "x"..., 10) = 10
""")
    assert log.see("file_type", name="ioctl") == ["char", None]
    assert log.see("file_type", "offset", "offset_known", name=("read", "write")) == [
        ("char", None, None),
        (None, 0, "relative"),
    ]


def test_the_type_that_an_annotation_tells_of_a_terminal_stays(read):
    log = read("""
100   ioctl(0</dev/pts/0<char 136:0>>, TCGETS, {c_iflag=ICRNL, ...}) = 0
100   ioctl(1</dev/pts/0>, TCGETS, {c_iflag=ICRNL, ...}) = 0
100   write(1</dev/pts/0>, "x"..., 10) = 10
""")
    assert log.see("file_type", "offset", name=("ioctl", "write")) == [("char", None)] * 3
