"""The rules by which descriptors and tasks work: each a few lines of a log, and what they mean.

The rules of transfers are in `test_kernel_rules_transfers.py`, those of names and memory in
`test_kernel_rules_names.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from support.kernel.rules import FORK, THREAD, Reader, reader, rights

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def read(tmp_path: Path) -> Reader:
    return reader(tmp_path)


def test_fork_shares_the_offset(read):
    log = read(f"""
100   openat(AT_FDCWD, "/data", O_RDONLY) = 3
100   read(3, "x"..., 10) = 10
100   {FORK} = 101
101   read(3, "x"..., 20) = 20
100   read(3, "x"..., 5) = 5
""")
    assert log.reads() == [
        (0, "exact", "first"),
        (10, "exact", "consecutive"),
        (30, "exact", "consecutive"),
    ]
    assert len(set(log.see("ofd", name="read"))) == 1
    assert log.see("path", name="read") == ["/data"] * 3
    assert log.see("child", name="clone") == [log.see("task", tid=101)[0]]


def test_fork_copies_the_table(read):
    """What a descriptor means is each one's own business afterwards."""
    log = read(f"""
100   openat(AT_FDCWD, "/data", O_RDONLY) = 3
100   {FORK} = 101
101   close(3) = 0
101   openat(AT_FDCWD, "/other", O_RDONLY) = 3
101   read(3, "x"..., 20) = 20
100   read(3, "x"..., 5) = 5
100   openat(AT_FDCWD, "/third", O_RDONLY) = 4
101   read(4, 0x7f5, 20) = -1 EBADF (Bad file descriptor)
""")
    assert log.see("path", "offset", name="read", tid=100) == [("/data", 0)]
    assert log.see("path", "offset", name="read", tid=101) == [("/other", 0), (None, None)]
    assert log.see("ofd", name="read", tid=101)[1] is None


def test_close_takes_effect_at_entry(read):
    """The number may be given out again before strace sees the call return."""
    log = read(f"""
100   openat(AT_FDCWD, "/data", O_RDONLY) = 3
100   {THREAD} = 101
100   close(3 <unfinished ...>
101   openat(AT_FDCWD, "/other", O_RDONLY) = 3
101   read(3, "x"..., 10) = 10
100   <... close resumed>) = 0
101   read(3, "x"..., 5) = 5
""")
    assert log.see("path", name="read") == ["/other", "/other"]
    assert log.reads() == [(0, "exact", "first"), (10, "exact", "consecutive")]
    assert log.see("ofd", name="close") == log.see("ofd", name="openat", path="/data")
    assert log.see("path", name="close") == ["/data"]


def test_a_failed_close_frees_the_descriptor(read):
    log = read("""
100   openat(AT_FDCWD, "/data", O_RDONLY) = 3
100   close(3) = -1 EIO (Input/output error)
100   read(3, 0x7f5, 10) = -1 EBADF (Bad file descriptor)
""")
    assert log.see("ofd", "offset", "access", name="read") == [(None, None, "error")]


def test_in_flight_read_on_a_closed_descriptor(read):
    """A call goes on with the description that it began with."""
    log = read(f"""
100   openat(AT_FDCWD, "/data", O_RDONLY) = 3
100   {THREAD} = 101
100   read(3, "x"..., 7) = 7
100   read(3,  <unfinished ...>
101   close(3) = 0
101   openat(AT_FDCWD, "/other", O_RDONLY) = 3
101   read(3, "x"..., 30) = 30
100   <... read resumed>"x"..., 10) = 10
101   read(3, "x"..., 5) = 5
""")
    mine = log.see("path", "offset", "offset_known", "access", name="read", tid=100)
    assert mine == [("/data", 0, "exact", "first"), ("/data", 7, "exact", "consecutive")]
    assert log.see("path", "offset", name="read", tid=101) == [("/other", 0), ("/other", 30)]


def test_dup_shares_the_offset(read):
    log = read("""
100   openat(AT_FDCWD, "/data", O_RDONLY) = 3
100   dup(3) = 4
100   read(4, "x"..., 1) = 1
100   dup2(4, 10) = 10
100   read(10, "x"..., 2) = 2
100   dup3(10, 11, O_CLOEXEC) = 11
100   read(11, "x"..., 4) = 4
100   fcntl(11, F_DUPFD, 20) = 20
100   read(20, "x"..., 8) = 8
100   fcntl(20, F_DUPFD_CLOEXEC, 20) = 21
100   read(21, "x"..., 16) = 16
100   close(3) = 0
100   read(4, "x"..., 32) = 32
""")
    assert log.see("offset", name="read") == [0, 1, 3, 7, 15, 31]
    assert len(set(log.see("ofd", name="read"))) == 1
    ofd = log.see("ofd", name="openat")[0]
    assert log.see("ofd", "ofd2", name=("dup", "dup2", "dup3")) == [(ofd, ofd)] * 3


@pytest.mark.parametrize(
    "call", ["dup(3", "dup2(3, 4", "dup3(3, 4, O_CLOEXEC", "fcntl(3, F_DUPFD, 4"]
)
def test_dup_is_of_what_was_there_at_entry(read, call):
    name = call.partition("(")[0]
    log = read(f"""
100   openat(AT_FDCWD, "/data", O_RDONLY) = 3
100   {THREAD} = 101
100   {call} <unfinished ...>
101   close(3) = 0
101   openat(AT_FDCWD, "/other", O_RDONLY) = 3
100   <... {name} resumed>) = 4
100   read(4, "x"..., 10) = 10
""")
    assert log.see("path", name=("read", name)) == ["/data", "/data"]


def test_dup_to_the_number_it_came_from(read):
    """Another thread closed it meanwhile, so it was the lowest that is free."""
    log = read(f"""
100   openat(AT_FDCWD, "/data", O_RDONLY) = 3
100   {THREAD} = 101
100   dup(3 <unfinished ...>
101   close(3) = 0
100   <... dup resumed>) = 3
100   read(3, "x"..., 10) = 10
""")
    assert log.see("path", "offset", name="read") == [("/data", 0)]


def test_close_range_closes_at_entry(read):
    log = read(f"""
100   openat(AT_FDCWD, "/data", O_RDONLY) = 4
100   {THREAD} = 101
100   close_range(4, 4294967295, 0 <unfinished ...>
101   openat(AT_FDCWD, "/other", O_RDONLY) = 4
100   <... close_range resumed>) = 0
101   read(4, "x"..., 10) = 10
""")
    assert log.see("path", "offset", name="read") == [("/other", 0)]


def test_dup2_closes_what_was_there(read):
    log = read("""
100   openat(AT_FDCWD, "/data", O_RDONLY) = 3
100   openat(AT_FDCWD, "/other", O_RDONLY) = 4
100   read(3, "x"..., 10) = 10
100   read(4, "x"..., 5) = 5
100   dup2(3, 4) = 4
100   read(4, "x"..., 20) = 20
100   dup2(4, 4) = 4
100   dup2(9, 4) = -1 EBADF (Bad file descriptor)
100   read(4, "x"..., 1) = 1
""")
    assert log.see("path", "offset", name="read", fd=4) == [
        ("/other", 0),
        ("/data", 10),
        ("/data", 30),
    ]


def test_dup3_to_itself_is_an_error(read):
    log = read("""
100   openat(AT_FDCWD, "/data", O_RDONLY) = 3
100   read(3, "x"..., 10) = 10
100   dup3(3, 3, O_CLOEXEC) = -1 EINVAL (Invalid argument)
100   execve("/bin/true", ["true"], 0x7ff /* 1 var */) = 0
100   read(3, "x"..., 5) = 5
""")
    assert log.reads() == [(0, "exact", "first"), (10, "exact", "consecutive")]


def test_close_on_exec_is_of_the_descriptor(read):
    """It is no property of the description: the copy survives."""
    log = read("""
100   openat(AT_FDCWD, "/data", O_RDONLY|O_CLOEXEC) = 3
100   dup(3) = 4
100   fcntl(4, F_DUPFD_CLOEXEC, 0) = 5
100   fcntl(4, F_DUPFD_CLOEXEC, 0) = 6
100   fcntl(6, F_SETFD, 0) = 0
100   dup3(4, 7, O_CLOEXEC) = 7
100   read(3, "x"..., 10) = 10
100   execve("/bin/true", ["true"], 0x7ff /* 1 var */) = 0
100   read(3, 0x7f5, 1) = -1 EBADF (Bad file descriptor)
100   read(4, "x"..., 1) = 1
100   read(5, 0x7f5, 1) = -1 EBADF (Bad file descriptor)
100   read(6, "x"..., 1) = 1
100   read(7, 0x7f5, 1) = -1 EBADF (Bad file descriptor)
""")
    after = log.see("fd", "path", "offset", name="read")[1:]
    assert after == [
        (3, None, None),
        (4, "/data", 10),
        (5, None, None),
        (6, "/data", 11),
        (7, None, None),
    ]


def test_close_range_closes(read):
    log = read("""
100   openat(AT_FDCWD, "/data", O_RDONLY) = 3
100   openat(AT_FDCWD, "/other", O_RDONLY) = 4
100   openat(AT_FDCWD, "/third", O_RDONLY) = 5
100   close_range(4, 4294967295, 0) = 0
100   read(3, "x"..., 1) = 1
100   read(4, 0x7f5, 1) = -1 EBADF (Bad file descriptor)
100   read(5, 0x7f5, 1) = -1 EBADF (Bad file descriptor)
""")
    assert log.see("path", name="read") == ["/data", None, None]


def test_close_range_marks_cloexec(read):
    log = read("""
100   openat(AT_FDCWD, "/data", O_RDONLY) = 3
100   openat(AT_FDCWD, "/other", O_RDONLY) = 4
100   close_range(4, 4294967295, CLOSE_RANGE_CLOEXEC) = 0
100   read(4, "x"..., 1) = 1
100   execve("/bin/true", ["true"], 0x7ff /* 1 var */) = 0
100   read(3, "x"..., 1) = 1
100   read(4, 0x7f5, 1) = -1 EBADF (Bad file descriptor)
""")
    assert log.see("path", name="read") == ["/other", "/data", None]


def test_close_range_unshares_the_table(read):
    log = read(f"""
100   openat(AT_FDCWD, "/data", O_RDONLY) = 3
100   {THREAD} = 101
101   close_range(3, 4294967295, CLOSE_RANGE_UNSHARE) = 0
101   openat(AT_FDCWD, "/other", O_RDONLY) = 3
101   read(3, "x"..., 2) = 2
100   read(3, "x"..., 1) = 1
""")
    assert log.see("path", name="read") == ["/other", "/data"]


def test_vfork_copies_the_table(read):
    """It shares the memory, not the descriptors."""
    log = read("""
100   openat(AT_FDCWD, "/data", O_RDONLY) = 3
100   vfork( <unfinished ...>
101   read(3, "x"..., 10) = 10
101   close(3) = 0
101   openat(AT_FDCWD, "/other", O_RDONLY) = 3
101   chdir("/srv") = 0
101   execve("/bin/true", ["true"], 0x7ff /* 1 var */ <unfinished ...>
100   <... vfork resumed>) = 101
101   <... execve resumed>) = 0
100   read(3, "x"..., 5) = 5
101   read(3, "x"..., 7) = 7
""")
    assert log.see("path", "offset", name="read") == [("/data", 0), ("/data", 10), ("/other", 0)]


@pytest.mark.parametrize(
    "call",
    [
        "clone(child_stack=0x7f2, flags=CLONE_VM|CLONE_VFORK|SIGCHLD <unfinished ...>",
        "clone3({flags=CLONE_VM|CLONE_VFORK, exit_signal=SIGCHLD, stack=0x7}, 88 <unfinished ...>",
    ],
)
def test_posix_spawn_copies_the_table(read, call):
    name = call.partition("(")[0]
    log = read(f"""
100   openat(AT_FDCWD, "/data", O_RDONLY) = 3
100   {call}
101   close(3) = 0
101   execve("/bin/true", ["true"], 0x7ff /* 1 var */ <unfinished ...>
100   <... {name} resumed>) = 101
101   <... execve resumed>) = 0
100   read(3, "x"..., 5) = 5
""")
    assert log.see("path", "offset", name="read") == [("/data", 0)]
    assert log.see("pid", name="execve") == [101]


def test_clone_files_shares_the_table(read):
    """Of another process, too: CLONE_FILES decides, not CLONE_THREAD."""
    log = read("""
100   openat(AT_FDCWD, "/data", O_RDONLY) = 3
100   clone(child_stack=0x7f2, flags=CLONE_FILES|SIGCHLD) = 101
101   close(3) = 0
101   openat(AT_FDCWD, "/other", O_RDONLY) = 3
100   read(3, "x"..., 5) = 5
101   read(3, "x"..., 6) = 6
101   unshare(CLONE_FILES) = 0
101   close(3) = 0
100   read(3, "x"..., 7) = 7
""")
    assert log.see("path", "offset", name="read") == [("/other", 0), ("/other", 5), ("/other", 11)]
    assert log.see("pid", name="read") == [100, 101, 100]


def test_child_runs_before_parent_returns(read):
    """Its lines may stand before the call's end, which alone names it."""
    log = read(
        f"""
100   openat(AT_FDCWD, "/data", O_RDONLY) = 3
100   read(3, "x"..., 10) = 10
100   {FORK.removesuffix(")")} <unfinished ...>
101   read(3, "x"..., 20) = 20
101   close(3) = 0
100   <... clone resumed>) = 101
100   read(3, "x"..., 5) = 5
""".replace(", child_tidptr=0x7f1 <", " <")
    )
    assert log.see("offset", name="read") == [0, 10, 30]
    parent, child = log.see("task", name="read", tid=(100, 101))[:2]
    assert log.see("child", name="clone") == [child] != [parent]


def test_pid_reuse(read):
    log = read(f"""
100   openat(AT_FDCWD, "/data", O_RDONLY) = 3
100   {FORK} = 101
101   read(3, "x"..., 10) = 10
101   exit_group(0) = ?
101   +++ exited with 0 +++
100   close(3) = 0
100   openat(AT_FDCWD, "/other", O_RDONLY) = 3
100   {FORK} = 101
101   read(3, "x"..., 20) = 20
""")
    assert log.see("path", "offset", name="read") == [("/data", 0), ("/other", 0)]
    first, second = log.see("task", name="read")
    assert log.see("child", name="clone") == [first, second]
    assert first != second


def test_exec_closes_cloexec_and_unshares(read):
    log = read("""
100   openat(AT_FDCWD, "/data", O_RDONLY) = 3
100   openat(AT_FDCWD, "/other", O_RDONLY|O_CLOEXEC) = 4
100   clone(child_stack=0x7f2, flags=CLONE_FILES|SIGCHLD) = 101
101   execve("/nowhere", ["nowhere"], 0x7ff /* 1 var */) = -1 ENOENT (No such file or directory)
101   read(4, "x"..., 10) = 10
101   execve("/bin/true", ["true"], 0x7ff /* 1 var */) = 0
101   read(4, 0x7f5, 10) = -1 EBADF (Bad file descriptor)
101   close(3) = 0
100   read(4, "x"..., 20) = 20
100   read(3, "x"..., 30) = 30
""")
    assert log.see("tid", "path", "offset", name="read") == [
        (101, "/other", 0),
        (101, None, None),
        (100, "/other", 10),
        (100, "/data", 0),
    ]


def test_exec_from_a_thread(read):
    """The thread goes on as the leader, with the table that they shared; the others are gone."""
    log = read(f"""
100   openat(AT_FDCWD, "/data", O_RDONLY) = 3
100   openat(AT_FDCWD, "/other", O_RDONLY|O_CLOEXEC) = 4
100   {THREAD} = 101
100   read(3, "x"..., 10) = 10
101   read(3, "x"..., 20) = 20
101   execve("/bin/true", ["true"], 0x7ff /* 1 var */ <pid changed to 100 ...>
100   +++ superseded by execve in pid 101 +++
100   <... execve resumed>) = 0
100   read(3, "x"..., 30) = 30
100   read(4, 0x7f5, 10) = -1 EBADF (Bad file descriptor)
""")
    assert log.see("path", "offset", name="read") == [
        ("/data", 0),
        ("/data", 10),
        ("/data", 30),
        (None, None),
    ]
    assert log.see("pid", name="read") == [100] * 4
    leader, thread, after, _ = log.see("task", name="read")
    assert after == thread != leader


def test_scm_rights(read):
    """A descriptor sent over a socket is another number for the same description."""
    log = read(f"""
100   openat(AT_FDCWD, "/data", O_RDONLY) = 3
100   openat(AT_FDCWD, "/other", O_RDONLY) = 4
100   socketpair(AF_UNIX, SOCK_STREAM, 0, [5, 6]) = 0
100   {FORK} = 101
101   openat(AT_FDCWD, "/third", O_RDONLY) = 7
100   read(3, "x"..., 10) = 10
100   sendmsg(5, {rights(3)}, 0) = 1
100   sendmsg(5, {rights(4)}, 0) = 1
100   close(3) = 0
101   close(3) = 0
101   recvmsg(6, {rights(8)}, 0) = 1
101   recvmsg(6, {rights(3)}, 0) = 1
101   read(8, "x"..., 20) = 20
101   read(3, "x"..., 5) = 5
100   read(4, "x"..., 5) = 5
""")
    assert log.see("path", "offset", name="read") == [
        ("/data", 0),
        ("/data", 10),
        ("/other", 0),
        ("/other", 5),
    ]


def test_pidfd_getfd(read):
    log = read(f"""
100   openat(AT_FDCWD, "/data", O_RDONLY) = 3
100   {FORK} = 101
101   close(3) = 0
101   openat(AT_FDCWD, "/other", O_RDONLY) = 3
101   read(3, "x"..., 10) = 10
100   pidfd_open(101, 0) = 4
100   pidfd_getfd(4, 3, 0) = 5
100   read(5, "x"..., 20) = 20
100   pidfd_open(100, 0) = 6
100   pidfd_getfd(6, 3, 0) = 7
100   read(7, "x"..., 5) = 5
100   read(3, "x"..., 6) = 6
""")
    assert log.see("path", "offset", name="read") == [
        ("/other", 0),
        ("/other", 10),
        ("/data", 0),
        ("/data", 5),
    ]


def test_proc_self_fd_opens_a_new_description(read):
    log = read("""
100   openat(AT_FDCWD, "/data", O_RDONLY) = 3
100   read(3, "x"..., 10) = 10
100   openat(AT_FDCWD, "/proc/self/fd/3", O_RDONLY) = 4
100   read(4, "x"..., 20) = 20
100   openat(AT_FDCWD, "/dev/fd/3", O_RDONLY) = 5
100   read(5, "x"..., 30) = 30
100   read(3, "x"..., 40) = 40
""")
    assert log.see("offset", name="read") == [0, 0, 0, 10]
    assert len(set(log.see("ofd", name="read"))) == 3
    # The file is the same.
    assert len(set(log.see("file", name="read"))) == 1
    assert set(log.see("path", name="read")) == {"/data"}


def test_restarted_calls_count_once(read):
    log = read(f"""
100   openat(AT_FDCWD, "/data", O_RDONLY) = 3
100   read(3, "x"..., 10) = 10
100   read(3, 0x7f5, 20) = ? ERESTARTSYS (To be restarted if SA_RESTART is set)
100   --- SIGCHLD {{si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=99, si_uid=0, si_status=0}} ---
100   read(3, "x"..., 20) = 20
100   {FORK} = ? ERESTARTNOINTR (To be restarted)
100   {FORK} = 101
101   read(3, "x"..., 5) = 5
""")
    assert log.see("offset", "access", name="read") == [
        (0, "first"),
        (None, None),
        (10, "consecutive"),
        (30, "consecutive"),
    ]
    assert log.see("child", name="clone") == [None, log.see("task", tid=101)[0]]


def test_injected_results_change_nothing(read):
    log = read("""
100   openat(AT_FDCWD, "/data", O_RDONLY) = 3
100   read(3, "x"..., 10) = 10
100   read(3, 0x7f5, 20) = 20 (INJECTED)
100   close(3) = 0 (INJECTED)
100   lseek(3, 5, SEEK_SET) = 5 (INJECTED)
100   openat(AT_FDCWD, "/other", O_RDONLY) = 3 (INJECTED)
100   dup2(9, 3) = 3 (INJECTED)
100   read(3, "x"..., 30) = 30 (DELAYED)
100   read(3, "x"..., 5) = 5
""")
    assert log.see("path", name="read") == ["/data"] * 4
    assert log.see("offset", "offset_known", "access", name="read") == [
        (0, "exact", "first"),
        (None, None, None),
        (10, "exact", "consecutive"),
        (40, "exact", "consecutive"),
    ]


def test_filtered_log_without_close(read):
    """A number that is given out again has been closed in between."""
    log = read("""
100   openat(AT_FDCWD, "/data", O_RDONLY) = 3
100   read(3, "x"..., 10) = 10
100   openat(AT_FDCWD, "/other", O_RDONLY) = 3
100   read(3, "x"..., 20) = 20
100   read(7, "x"..., 30) = 30
100   read(7, "x"..., 40) = 40
""")
    assert log.reads() == [
        (0, "exact", "first"),
        (0, "exact", "first"),
        (0, "relative", "first"),
        (30, "relative", "consecutive"),
    ]
    assert len(set(log.see("ofd", name="read"))) == 3
    assert log.see("path", name="read") == ["/data", "/other", None, None]


def test_io_uring_is_counted(read):
    """What it does cannot be seen: no bytes, no positions, and no change of others'."""
    log = read("""
100   openat(AT_FDCWD, "/data", O_RDONLY) = 3
100   io_uring_setup(8, {flags=0, sq_thread_cpu=0, sq_thread_idle=0}) = 4
100   read(3, "x"..., 10) = 10
100   io_uring_enter(4, 2, 1, IORING_ENTER_GETEVENTS, NULL, 8) = 2
100   read(3, "x"..., 5) = 5
""")
    assert log.see("access", "bytes", "offset", name="io_uring_enter") == [(None, None, None)]
    assert log.see("offset", name="read") == [0, 10]
    assert log.see("ofd", name="io_uring_enter") == log.see("ofd", name="io_uring_setup")


def test_mmap_is_counted_not_read(read):
    log = read("""
100   openat(AT_FDCWD, "/data", O_RDONLY) = 3
100   mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, 3, 0x1000) = 0x7f9000
100   read(3, "x"..., 5) = 5
100   munmap(0x7f9000, 8192) = 0
""")
    ofd = log.see("ofd", name="openat")
    assert log.see("ofd", name="mmap") == ofd
    assert log.see("path", "bytes", "access", "offset_known", name="mmap") == [
        ("/data", None, None, None)
    ]
    assert log.reads() == [(0, "exact", "first")]
