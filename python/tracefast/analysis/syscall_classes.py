"""System calls by what they do, under the names that the events use."""

from typing import Final

# Data calls that take from their one descriptor, and that give to it.
READS: Final = ("read", "readv", "pread64", "preadv", "preadv2")
WRITES: Final = ("write", "writev", "pwrite64", "pwritev", "pwritev2")
RECEIVES: Final = ("recv", "recvfrom", "recvmsg", "recvmmsg")
SENDS: Final = ("send", "sendto", "sendmsg", "sendmmsg")
# From the file in `fd`, `path`, `file` to the one in `fd2`, `path2`, `file2`.
TRANSFERS: Final = ("sendfile", "sendfile64", "splice", "copy_file_range", "tee")

# Calls that open something by a name.
OPENS: Final = (
    "open",
    "openat",
    "openat2",
    "creat",
    "open_by_handle_at",
    "memfd_create",
    "mq_open",
)
# Calls that ask for the size and times of a file, under the names of all architectures.
STATS: Final = (
    "stat",
    "stat64",
    "newstat",
    "lstat",
    "lstat64",
    "newlstat",
    "fstat",
    "fstat64",
    "newfstat",
    "fstatat64",
    "newfstatat",
    "statx",
    "oldstat",
    "oldlstat",
    "oldfstat",
)
MMAPS: Final = ("mmap", "mmap2", "old_mmap")

# Calls that create a task, start a program, and collect a child.
FORKS: Final = ("clone", "clone3", "fork", "vfork")
EXECS: Final = ("execve", "execveat")
WAITS: Final = ("wait4", "waitpid", "waitid")
ENDS: Final = ("exit", "exit_group")
