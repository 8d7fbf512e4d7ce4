//! What each system call's arguments mean: which one is the descriptor, the path, the count.
//!
//! The positions are those of the kernel's calls, so the same table serves strace's text and
//! ftrace's; names are strace's. A call that is not in the table has no known arguments.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::event::{FileType, Op};

/// Where the number of bytes asked for stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Count {
    /// Nowhere.
    None,
    /// The argument at this position.
    Arg(u8),
    /// The last argument: found from the end, without a look at the data before it.
    Last,
    /// The last but one, behind it the offset: likewise.
    LastButOne,
    /// The sum over the vector at this position.
    Vector(u8),
}

/// An argument that there is not.
pub const NONE: u8 = u8::MAX;

/// The meaning of a call's arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Position of the descriptor.
    pub fd: u8,
    /// Position of the second one.
    pub fd2: u8,
    /// Position of the path.
    pub path: u8,
    /// Position of the descriptor that the path starts from.
    pub at: u8,
    /// Position of the second path.
    pub path2: u8,
    /// Position of its starting descriptor.
    pub at2: u8,
    /// Number of bytes asked for.
    pub count: Count,
    /// Position of the offset.
    pub offset: u8,
    /// Position of the second offset.
    pub offset2: u8,
    /// Position of the flags that may hold `O_CLOEXEC` or clone flags.
    pub flags: u8,
    /// The return value is the number of bytes moved.
    pub moves: bool,
    /// The text may hold a `struct stat` or `statx`.
    pub stat: bool,
    /// The return value is a descriptor.
    pub makes_fd: bool,
    /// Effect on the traced system.
    pub op: Op,
    /// Type of the descriptors that it makes.
    pub makes: Option<FileType>,
    /// What else its text tells.
    pub special: Special,
}

/// Calls whose text tells more than the positions of their arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Special {
    /// Nothing more.
    None,
    /// The command decides what it does.
    Fcntl,
    /// A seek to the end proves the size.
    Lseek,
}

impl Shape {
    const EMPTY: Self = Self {
        fd: NONE,
        fd2: NONE,
        path: NONE,
        at: NONE,
        path2: NONE,
        at2: NONE,
        count: Count::None,
        offset: NONE,
        offset2: NONE,
        flags: NONE,
        moves: false,
        stat: false,
        makes_fd: false,
        op: Op::None,
        makes: None,
        special: Special::None,
    };

    /// A call on descriptor `fd`.
    const fn fd(fd: u8) -> Self {
        Self { fd, op: Op::Use, ..Self::EMPTY }
    }

    /// A call on the path at `path`.
    const fn path(path: u8) -> Self {
        Self { path, op: Op::Path, ..Self::EMPTY }
    }

    /// A call on the path at `path`, relative to the descriptor before it.
    const fn path_at(path: u8) -> Self {
        Self { at: path - 1, ..Self::path(path) }
    }

    /// A call that makes a descriptor of type `makes`.
    const fn makes(makes: FileType) -> Self {
        Self { makes: Some(makes), makes_fd: true, op: Op::OpenAnon, ..Self::EMPTY }
    }

    const fn op(self, op: Op) -> Self {
        Self { op, ..self }
    }

    const fn flags(self, flags: u8) -> Self {
        Self { flags, ..self }
    }

    const fn moves(self, count: Count) -> Self {
        Self { count, moves: true, ..self }
    }

    const fn offset(self, offset: u8) -> Self {
        Self { offset, ..self }
    }

    const fn stat(self) -> Self {
        Self { stat: true, ..self }
    }

    const fn path2(self, path2: u8) -> Self {
        Self { path2, ..self }
    }

    const fn path2_at(self, path2: u8) -> Self {
        Self { path2, at2: path2 - 1, ..self }
    }

    const fn opens(self) -> Self {
        Self { makes_fd: true, op: Op::Open, ..self }
    }

    const fn special(self, special: Special) -> Self {
        Self { special, ..self }
    }

    const fn both(fd: u8, fd2: u8) -> Self {
        Self { fd2, ..Self::fd(fd) }
    }
}

use Count::{Arg, Last, LastButOne, Vector};

const PAIR: Shape = Shape { op: Op::OpenPair, ..Shape::EMPTY };

/// Every call whose arguments are known.
static TABLE: &[(&str, Shape)] = &[
    ("read", Shape::fd(0).moves(Last)),
    ("write", Shape::fd(0).moves(Last)),
    ("pread64", Shape::fd(0).moves(LastButOne).offset(3)),
    ("pwrite64", Shape::fd(0).moves(LastButOne).offset(3)),
    ("pread", Shape::fd(0).moves(LastButOne).offset(3)),
    ("pwrite", Shape::fd(0).moves(LastButOne).offset(3)),
    ("readv", Shape::fd(0).moves(Vector(1))),
    ("writev", Shape::fd(0).moves(Vector(1))),
    ("preadv", Shape::fd(0).moves(Vector(1)).offset(3)),
    ("pwritev", Shape::fd(0).moves(Vector(1)).offset(3)),
    ("preadv2", Shape::fd(0).moves(Vector(1)).offset(3)),
    ("pwritev2", Shape::fd(0).moves(Vector(1)).offset(3)),
    ("vmsplice", Shape::fd(0).moves(Vector(1))),
    ("sendfile", Shape::both(1, 0).moves(Arg(3)).offset(2)),
    ("sendfile64", Shape::both(1, 0).moves(Arg(3)).offset(2)),
    ("splice", Shape { offset2: 3, ..Shape::both(0, 2).moves(Arg(4)).offset(1) }),
    ("copy_file_range", Shape { offset2: 3, ..Shape::both(0, 2).moves(Arg(4)).offset(1) }),
    ("tee", Shape::both(0, 1).moves(Arg(2))),
    ("recvfrom", Shape::fd(0).moves(Arg(2))),
    ("sendto", Shape::fd(0).moves(Arg(2))),
    ("recv", Shape::fd(0).moves(Arg(2))),
    ("send", Shape::fd(0).moves(Arg(2))),
    ("recvmsg", Shape::fd(0).moves(Count::None)),
    ("sendmsg", Shape::fd(0).moves(Count::None)),
    ("recvmmsg", Shape::fd(0)),
    ("sendmmsg", Shape::fd(0)),
    ("lseek", Shape::fd(0).special(Special::Lseek)),
    ("_llseek", Shape::fd(0)),
    ("fstat", Shape::fd(0).stat()),
    ("fstat64", Shape::fd(0).stat()),
    ("fstatfs", Shape::fd(0)),
    ("fstatfs64", Shape::fd(0)),
    ("ftruncate", Shape::fd(0)),
    ("ftruncate64", Shape::fd(0)),
    ("fallocate", Shape::fd(0)),
    ("fadvise64", Shape::fd(0)),
    ("fadvise64_64", Shape::fd(0)),
    ("readahead", Shape::fd(0).offset(1)),
    ("sync_file_range", Shape::fd(0)),
    ("fsync", Shape::fd(0)),
    ("fdatasync", Shape::fd(0)),
    ("syncfs", Shape::fd(0)),
    ("flock", Shape::fd(0)),
    ("ioctl", Shape::fd(0)),
    ("fcntl", Shape::fd(0).flags(1).special(Special::Fcntl)),
    ("fcntl64", Shape::fd(0).flags(1).special(Special::Fcntl)),
    ("getdents", Shape::fd(0)),
    ("getdents64", Shape::fd(0)),
    ("fchmod", Shape::fd(0)),
    ("fchown", Shape::fd(0)),
    ("fgetxattr", Shape::fd(0)),
    ("fsetxattr", Shape::fd(0)),
    ("flistxattr", Shape::fd(0)),
    ("fremovexattr", Shape::fd(0)),
    ("mmap", Shape { count: Arg(1), ..Shape::fd(4).offset(5) }),
    ("mmap2", Shape { count: Arg(1), ..Shape::fd(4).offset(5) }),
    ("connect", Shape::fd(0)),
    ("bind", Shape::fd(0)),
    ("listen", Shape::fd(0)),
    ("shutdown", Shape::fd(0)),
    ("getsockname", Shape::fd(0)),
    ("getpeername", Shape::fd(0)),
    ("getsockopt", Shape::fd(0)),
    ("setsockopt", Shape::fd(0)),
    ("epoll_ctl", Shape::both(0, 2)),
    ("epoll_wait", Shape::fd(0)),
    ("epoll_pwait", Shape::fd(0)),
    ("epoll_pwait2", Shape::fd(0)),
    ("timerfd_settime", Shape::fd(0)),
    ("timerfd_gettime", Shape::fd(0)),
    ("inotify_add_watch", Shape { path: 1, ..Shape::fd(0) }),
    ("inotify_rm_watch", Shape::fd(0)),
    ("pidfd_send_signal", Shape::fd(0)),
    ("io_uring_enter", Shape::fd(0)),
    ("io_uring_register", Shape::fd(0)),
    ("finit_module", Shape::fd(0)),
    ("setns", Shape::fd(0)),
    ("open", Shape::path(0).opens().flags(1)),
    ("openat", Shape::path_at(1).opens().flags(2)),
    ("openat2", Shape::path_at(1).opens().flags(2)),
    ("creat", Shape::path(0).opens()),
    ("memfd_create", Shape { path: 0, ..Shape::makes(FileType::Memfd).flags(1) }),
    ("memfd_secret", Shape::makes(FileType::Memfd).flags(0)),
    ("socket", Shape::makes(FileType::Socket).flags(1)),
    ("accept", Shape { fd2: 0, ..Shape::makes(FileType::Socket) }),
    ("accept4", Shape { fd2: 0, ..Shape::makes(FileType::Socket).flags(3) }),
    ("epoll_create", Shape::makes(FileType::Anon)),
    ("epoll_create1", Shape::makes(FileType::Anon).flags(0)),
    ("eventfd", Shape::makes(FileType::Anon)),
    ("eventfd2", Shape::makes(FileType::Anon).flags(1)),
    ("timerfd_create", Shape::makes(FileType::Anon).flags(1)),
    ("inotify_init", Shape::makes(FileType::Anon)),
    ("inotify_init1", Shape::makes(FileType::Anon).flags(0)),
    ("fanotify_init", Shape::makes(FileType::Anon).flags(0)),
    ("signalfd", Shape::makes(FileType::Anon)),
    ("signalfd4", Shape::makes(FileType::Anon).flags(3)),
    ("userfaultfd", Shape::makes(FileType::Anon).flags(0)),
    ("pidfd_open", Shape::makes(FileType::Anon)),
    ("pidfd_getfd", Shape::makes(FileType::Unknown)),
    ("io_uring_setup", Shape::makes(FileType::Anon)),
    ("perf_event_open", Shape::makes(FileType::Anon).flags(4)),
    ("bpf", Shape::EMPTY),
    ("pipe", Shape { makes: Some(FileType::Pipe), ..PAIR }),
    ("pipe2", Shape { makes: Some(FileType::Pipe), ..PAIR.flags(1) }),
    ("socketpair", Shape { makes: Some(FileType::Socket), ..PAIR.flags(1) }),
    ("close", Shape::fd(0).op(Op::Close)),
    ("close_range", Shape::both(0, 1).op(Op::CloseRange).flags(2)),
    ("dup", Shape { makes_fd: true, ..Shape::fd(0).op(Op::Dup) }),
    ("dup2", Shape::both(0, 1).op(Op::Dup)),
    ("dup3", Shape::both(0, 1).op(Op::Dup).flags(2)),
    ("fork", Shape::EMPTY.op(Op::Fork)),
    ("vfork", Shape::EMPTY.op(Op::Fork)),
    ("clone", Shape::EMPTY.op(Op::Fork).flags(0)),
    ("clone2", Shape::EMPTY.op(Op::Fork).flags(0)),
    ("clone3", Shape::EMPTY.op(Op::Fork).flags(0)),
    ("execve", Shape::path(0).op(Op::Exec)),
    ("execveat", Shape::path_at(1).op(Op::Exec)),
    ("exit", Shape::EMPTY.op(Op::ExitCall)),
    ("_exit", Shape::EMPTY.op(Op::ExitCall)),
    ("exit_group", Shape::EMPTY.op(Op::ExitCall)),
    ("rt_sigreturn", Shape::EMPTY),
    ("sigreturn", Shape::EMPTY),
    ("chdir", Shape::path(0).op(Op::Chdir)),
    ("fchdir", Shape::fd(0).op(Op::Fchdir)),
    ("stat", Shape::path(0).stat()),
    ("stat64", Shape::path(0).stat()),
    ("lstat", Shape::path(0).stat()),
    ("lstat64", Shape::path(0).stat()),
    ("newfstatat", Shape::path_at(1).stat()),
    ("fstatat64", Shape::path_at(1).stat()),
    ("statx", Shape::path_at(1).stat()),
    ("statfs", Shape::path(0)),
    ("statfs64", Shape::path(0)),
    ("access", Shape::path(0)),
    ("faccessat", Shape::path_at(1)),
    ("faccessat2", Shape::path_at(1)),
    ("readlink", Shape::path(0)),
    ("readlinkat", Shape::path_at(1)),
    ("unlink", Shape::path(0)),
    ("unlinkat", Shape::path_at(1)),
    ("mkdir", Shape::path(0)),
    ("mkdirat", Shape::path_at(1)),
    ("rmdir", Shape::path(0)),
    ("mknod", Shape::path(0)),
    ("mknodat", Shape::path_at(1)),
    ("chmod", Shape::path(0)),
    ("fchmodat", Shape::path_at(1)),
    ("fchmodat2", Shape::path_at(1)),
    ("chown", Shape::path(0)),
    ("lchown", Shape::path(0)),
    ("fchownat", Shape::path_at(1)),
    ("utime", Shape::path(0)),
    ("utimes", Shape::path(0)),
    ("utimensat", Shape::path_at(1)),
    ("futimesat", Shape::path_at(1)),
    ("truncate", Shape::path(0)),
    ("truncate64", Shape::path(0)),
    ("getxattr", Shape::path(0)),
    ("lgetxattr", Shape::path(0)),
    ("setxattr", Shape::path(0)),
    ("lsetxattr", Shape::path(0)),
    ("listxattr", Shape::path(0)),
    ("llistxattr", Shape::path(0)),
    ("removexattr", Shape::path(0)),
    ("lremovexattr", Shape::path(0)),
    ("chroot", Shape::path(0)),
    ("umount2", Shape::path(0)),
    ("swapon", Shape::path(0)),
    ("swapoff", Shape::path(0)),
    ("acct", Shape::path(0)),
    ("open_tree", Shape::path_at(1)),
    ("name_to_handle_at", Shape::path_at(1)),
    ("mount", Shape::path(0).path2(1)),
    ("pivot_root", Shape::path(0).path2(1)),
    ("rename", Shape::path(0).path2(1)),
    ("renameat", Shape::path_at(1).path2_at(3)),
    ("renameat2", Shape::path_at(1).path2_at(3)),
    ("link", Shape::path(0).path2(1)),
    ("linkat", Shape::path_at(1).path2_at(3)),
    ("symlink", Shape::path(1)),
    ("symlinkat", Shape::path_at(2)),
];

/// Number of a call that the table does not know.
pub const UNKNOWN: u16 = u16::MAX;

/// The number of a call in the table, by name.
///
/// # Examples
/// ```
/// use tracefast_core::syscalls;
/// let read = syscalls::by_name(b"read");
/// assert_eq!(syscalls::shape(read).fd, 0);
/// assert_eq!(syscalls::by_name(b"no such call"), syscalls::UNKNOWN);
/// ```
pub fn by_name(name: &[u8]) -> u16 {
    static INDEX: LazyLock<HashMap<&[u8], u16>> = LazyLock::new(|| {
        TABLE.iter().enumerate().map(|(i, (name, _))| (name.as_bytes(), i as u16)).collect()
    });
    INDEX.get(name).copied().unwrap_or(UNKNOWN)
}

/// What the arguments of a call mean.
#[inline]
pub fn shape(sys: u16) -> &'static Shape {
    static EMPTY: Shape = Shape::EMPTY;
    TABLE.get(usize::from(sys)).map_or(&EMPTY, |(_, shape)| shape)
}

/// The name of a call of the table.
pub fn name(sys: u16) -> &'static str {
    TABLE.get(usize::from(sys)).map_or("", |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_stands_once() {
        for (i, (name, _)) in TABLE.iter().enumerate() {
            assert_eq!(usize::from(by_name(name.as_bytes())), i, "{name}");
        }
    }
}
