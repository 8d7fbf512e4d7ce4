//! The one table of system calls: what each call does ([`Classes`]) and what its arguments mean
//! ([`Shape`]: which one is the descriptor, the path, the count).
//!
//! The positions are those of the kernel's calls, so the same table serves strace's text and
//! ftrace's; the names are strace's. A call that is not in the table has no classes and no known
//! arguments; its line becomes a row all the same.

pub(crate) mod classes;
pub(crate) mod flags;
mod other_names;
pub(crate) mod strace_names;
mod table;
#[cfg(test)]
mod tests;

use std::sync::LazyLock;

use crate::events::vocabulary::{FileType, Motion, Op};
use crate::hash::HashMap;
use crate::linux::machine::printed_by_number;
use crate::linux::syscalls::other_names::NAMES;
use crate::linux::syscalls::table::TABLE;

pub use crate::linux::syscalls::classes::Classes;

/// Where the number of bytes asked for is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Count {
    /// Nowhere.
    None,
    /// The argument at this position.
    Arg(u8),
    /// The last argument: found from the end, without reading the data before it.
    Last,
    /// The last but one, before the offset; found in the same way.
    LastButOne,
    /// The sum over the vector (`struct iovec`) at this position.
    Vector(u8),
    /// The sum over the vector of the `struct msghdr` at this position.
    Message(u8),
    /// The sum over all vectors of the `struct mmsghdr` at this position. It holds the bytes moved
    /// too, as the return value counts messages: sendmmsg(2).
    Messages(u8),
    /// The sum over the `struct iocb` at this position.
    Submission(u8),
}

/// What makes execve close a descriptor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cloexec {
    /// This bit of the flags, whose name ends with `CLOEXEC`.
    Bit(u32),
    /// The call itself: execve always closes its descriptors.
    Always,
}

/// Close on exec, in the numbering of all architectures but alpha, parisc and sparc. Sockets,
/// epoll, eventfd, timerfd, signalfd and inotify use the same bit.
pub(crate) const O_CLOEXEC: u32 = 0x8_0000;

/// Position of an argument that the call does not have.
pub(crate) const NONE: u8 = u8::MAX;

/// The meaning of a call's arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
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
    /// Where the number of bytes asked for is.
    pub count: Count,
    /// Position of the offset.
    pub offset: u8,
    /// Position of the second offset.
    pub offset2: u8,
    /// Position of the flags that decide what the call does.
    pub flags: u8,
    /// Whether execve closes the descriptors that the call makes.
    pub cloexec: Cloexec,
    /// The return value is the number of bytes moved.
    pub moves: bool,
    /// In which direction the call moves data.
    pub motion: Motion,
    /// It only moves data between pipes, sockets and queues, which have no positions.
    pub streams: bool,
    /// Position of the `struct stat` or `statx`.
    pub stat: u8,
    /// That is of a symbolic link, if the path is one.
    pub of_link: bool,
    /// Position of the length that the file has after the call.
    pub length: u8,
    /// Prefix of names in a namespace without directories, as /proc/PID/fd shows them.
    pub prefix: &'static str,
    /// The return value is a descriptor.
    pub makes_fd: bool,
    /// Effect on the traced system.
    pub op: Op,
    /// Type of the descriptors that the call makes.
    pub makes: Option<FileType>,
    /// What else the text of its arguments says.
    pub special: Special,
    /// What the call does.
    pub classes: Classes,
}

/// Calls whose text says more than the positions of their arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Special {
    /// Nothing more.
    None,
    /// The address of a socket may be a path.
    Address,
    /// Some commands make a descriptor.
    Bpf,
    /// The mode decides whether the file grows.
    Fallocate,
    /// The command decides what it does.
    Fcntl,
    /// The path that it returns is the working directory.
    Getcwd,
    /// Some commands mark the descriptor.
    Ioctl,
    /// Moves the position; a seek to the end gives the size.
    Lseek,
    /// The same, with the position in an argument.
    Llseek,
    /// Creates the file, or truncates it.
    Creat,
    /// The flags are in a structure.
    How,
    /// An offset of −1 means the position of the open file description.
    Current,
    /// The end of the heap.
    Brk,
    /// Maps memory.
    Mmap,
    /// Changes what may be done to it.
    Mprotect,
    /// Moves it.
    Mremap,
    /// Ends the mapping.
    Munmap,
    /// The mode says what kind of file it makes.
    MakeNode,
    /// The source is a path, or only a word.
    Mount,
    /// If it succeeds, it has moved all that was asked for.
    Whole,
    /// All parts may have the same descriptor.
    Submission,
    /// The same, for a part that is cancelled.
    Cancel,
    /// Ends of parts of submissions.
    Events,
    /// The first argument says whether the second is a descriptor.
    Waitid,
    /// Names refer to other files after it.
    Unmount,
    /// Asynchronous transfers will follow.
    AioSetup,
    /// It enters a namespace, whose kind the second argument says.
    Setns,
    /// The flags of a new ring of `io_uring` are in a structure.
    RingSetup,
    /// It submits what is in the ring.
    RingEnter,
    /// Some commands give the ring descriptions to keep.
    RingRegister,
    /// It makes a symbolic link, to what the first argument says.
    Symlink,
    /// It may make a descriptor for a supervisor.
    Seccomp,
    /// One of the options decides which message `MSG_PEEK` shows.
    SocketOption,
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
        cloexec: Cloexec::Bit(O_CLOEXEC),
        moves: false,
        motion: Motion::None,
        streams: false,
        stat: NONE,
        of_link: false,
        length: NONE,
        prefix: "",
        makes_fd: false,
        op: Op::None,
        makes: None,
        special: Special::None,
        classes: Classes::NONE,
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

    const fn does(self, classes: Classes) -> Self {
        Self { classes: self.classes.and(classes), ..self }
    }

    /// Has this effect, and the class that follows from it.
    const fn op(self, op: Op) -> Self {
        Self { op, ..self }.does(Classes::from_op(op))
    }

    const fn flags(self, flags: u8) -> Self {
        Self { flags, ..self }
    }

    const fn moves(self, count: Count) -> Self {
        Self { count, moves: true, ..self }
    }

    /// Moves data in this direction between what has no positions.
    const fn streams(self, motion: Motion) -> Self {
        Self { motion, streams: true, ..self }.does(Classes::from_motion(motion, true))
    }

    /// Moves data in this direction, and has the class that follows from it.
    const fn motion(self, motion: Motion) -> Self {
        Self { motion, ..self }.does(Classes::from_motion(motion, false))
    }

    const fn offset(self, offset: u8) -> Self {
        Self { offset, ..self }
    }

    const fn count(self, count: Count) -> Self {
        Self { count, ..self }
    }

    const fn stat(self, stat: u8) -> Self {
        Self { stat, ..self }.does(Classes::STATS.and(Classes::LOOKS))
    }

    const fn lstat(self, stat: u8) -> Self {
        Self { of_link: true, ..self.stat(stat) }
    }

    const fn length(self, length: u8) -> Self {
        Self { length, ..self }
    }

    const fn cloexec(self, cloexec: Cloexec) -> Self {
        Self { cloexec, ..self }
    }

    /// Acts on a path; `fd` is a descriptor of another kind.
    const fn with(self, fd: u8) -> Self {
        Self { fd, ..self }
    }

    const fn with2(self, fd2: u8) -> Self {
        Self { fd2, ..self }
    }

    const fn path2(self, path2: u8) -> Self {
        Self { path2, ..self }
    }

    const fn path2_at(self, path2: u8) -> Self {
        Self { path2, at2: path2 - 1, ..self }
    }

    const fn opens(self) -> Self {
        Self { makes_fd: true, op: Op::Open, ..self }.does(Classes::OPENS)
    }

    const fn special(self, special: Special) -> Self {
        Self { special, ..self }
    }

    const fn both(fd: u8, fd2: u8) -> Self {
        Self { fd2, ..Self::fd(fd) }
    }

    /// It opens a file by its path: not by a handle, and not in a namespace of its own.
    pub(crate) const fn opens_path(&self) -> bool {
        self.classes.has(Classes::OPENS) && self.path != NONE && self.prefix.is_empty()
    }

    /// None of its arguments fills a column, and it has no effect.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self { classes: self.classes, ..Self::EMPTY }
    }
}

/// Number of a call that the table does not know.
pub(crate) const UNKNOWN: u16 = u16::MAX;

/// The number of a call in the table, by name.
pub(crate) fn by_name(name: &[u8]) -> u16 {
    static INDEX: LazyLock<HashMap<&[u8], u16>> = LazyLock::new(|| {
        TABLE.iter().enumerate().map(|(i, (name, _))| (name.as_bytes(), i as u16)).collect()
    });
    INDEX.get(name).copied().unwrap_or(UNKNOWN)
}

/// The row of a call: what it does, and what its arguments mean.
#[inline]
pub(crate) fn shape(sys: u16) -> &'static Shape {
    static EMPTY: Shape = Shape::EMPTY;
    TABLE.get(usize::from(sys)).map_or(&EMPTY, |(_, shape)| shape)
}

/// The same in a constant, for a call of the table.
pub(crate) const fn shape_at(sys: usize) -> &'static Shape {
    &TABLE[sys].1
}

/// How many calls the table has.
pub(crate) const fn count() -> usize {
    TABLE.len()
}

/// The name of a call of the table.
pub(crate) fn name(sys: u16) -> &'static str {
    TABLE.get(usize::from(sys)).map_or("", |(name, _)| name)
}

/// What the call of this name does.
pub fn classes_of(name: &[u8]) -> Classes {
    shape(by_name(name)).classes
}

/// The number in the table of the call that strace prints so: by its name, or by its number if strace
/// does not know it.
pub(crate) fn by_printed_name(name: &[u8]) -> u16 {
    by_name(printed_by_number(name).map_or(name, str::as_bytes))
}

/// What the call does that strace prints so.
pub fn classes_as_printed(name: &[u8]) -> Classes {
    shape(by_printed_name(name)).classes
}

/// The names of all calls of a class, which is given by its word, such as `reads`.
pub fn syscalls_that(word: &str) -> Option<impl Iterator<Item = &'static str>> {
    let &(_, class) = Classes::NAMED.iter().find(|(known, _)| *known == word)?;
    Some(TABLE.iter().filter(move |(_, shape)| shape.classes.has(class)).map(|&(name, _)| name))
}

/// `name` is that of a system call.
pub(crate) fn is_syscall(name: &[u8]) -> bool {
    by_name(name) != UNKNOWN || NAMES.binary_search_by(|known| known.as_bytes().cmp(name)).is_ok()
}
