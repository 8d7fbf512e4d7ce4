//! What each system call's arguments mean: which one is the descriptor, the path, the count.
//!
//! The positions are those of the kernel's calls, so the same table serves strace's text and
//! ftrace's; names are strace's. A call that is not in the table has no known arguments.

pub(crate) mod flags;
pub(crate) mod other_names;
pub(crate) mod table;

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::linux::syscalls::table::TABLE;

use crate::events::vocabulary::{FileType, Motion, Op};

/// Where the number of bytes asked for stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Count {
    /// Nowhere.
    None,
    /// The argument at this position.
    Arg(u8),
    /// The last argument: found from the end, without a look at the data before it.
    Last,
    /// The last but one, behind it the offset: likewise.
    LastButOne,
    /// The sum over the vector (`struct iovec`) at this position.
    Vector(u8),
    /// The sum over the vector of the `struct msghdr` at this position.
    Message(u8),
    /// The sum over all vectors of the `struct mmsghdr` at this position, where the bytes moved
    /// stand too: the return value counts messages.
    Messages(u8),
    /// The sum over the `struct iocb` at this position.
    Submission(u8),
}

/// What says that a descriptor is closed by execve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cloexec {
    /// This bit of the flags, whose name ends with `CLOEXEC`.
    Bit(u32),
    /// The call itself: its descriptors always are.
    Always,
}

/// Close on exec, in the numbering of all architectures but alpha, parisc and sparc. Sockets,
/// epoll, eventfd, timerfd, signalfd and inotify use the same bit.
pub(crate) const O_CLOEXEC: u32 = 0x8_0000;

/// An argument that there is not.
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
    /// Number of bytes asked for.
    pub count: Count,
    /// Position of the offset.
    pub offset: u8,
    /// Position of the second offset.
    pub offset2: u8,
    /// Position of the flags that decide what it does.
    pub flags: u8,
    /// Whether the descriptors that it makes are closed by execve.
    pub cloexec: Cloexec,
    /// The return value is the number of bytes moved.
    pub moves: bool,
    /// Which way it moves data.
    pub way: Motion,
    /// It does so between pipes, sockets, queues only, which have no positions.
    pub streams: bool,
    /// Position of the `struct stat` or `statx`.
    pub stat: u8,
    /// Position of the length that the file has after the call.
    pub length: u8,
    /// What stands before the name in a namespace that has no directories, as the kernel shows it.
    pub prefix: &'static str,
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
    /// The path that it finds is the working directory.
    Getcwd,
    /// Some commands mark the descriptor.
    Ioctl,
    /// Moves the position; a seek to the end proves the size.
    Lseek,
    /// The same, with the position in an argument.
    Llseek,
    /// Makes the file, or empties it.
    Creat,
    /// The flags are in a structure.
    How,
    /// An offset of −1 stands for the description's own position.
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
    /// What is mounted is a path, or only a word.
    Mount,
    /// A success moved all that was asked for.
    Whole,
    /// All parts may have the same descriptor.
    Submission,
    /// The same, of a part that is not to be done any more.
    Cancel,
    /// Ends of parts of submissions.
    Events,
    /// The first argument says whether the second is a descriptor.
    Waitid,
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
        way: Motion::None,
        streams: false,
        stat: NONE,
        length: NONE,
        prefix: "",
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

    /// Moves data between what has no positions.
    const fn streams(self, way: Motion) -> Self {
        Self { way, streams: true, ..self }
    }

    const fn way(self, way: Motion) -> Self {
        Self { way, ..self }
    }

    const fn offset(self, offset: u8) -> Self {
        Self { offset, ..self }
    }

    const fn count(self, count: Count) -> Self {
        Self { count, ..self }
    }

    const fn stat(self, stat: u8) -> Self {
        Self { stat, ..self }
    }

    const fn length(self, length: u8) -> Self {
        Self { length, ..self }
    }

    const fn cloexec(self, cloexec: Cloexec) -> Self {
        Self { cloexec, ..self }
    }

    /// Acts on a path while `fd` is a descriptor of another kind.
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
        Self { makes_fd: true, op: Op::Open, ..self }
    }

    const fn special(self, special: Special) -> Self {
        Self { special, ..self }
    }

    const fn both(fd: u8, fd2: u8) -> Self {
        Self { fd2, ..Self::fd(fd) }
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

/// What the arguments of a call mean.
#[inline]
pub(crate) fn shape(sys: u16) -> &'static Shape {
    static EMPTY: Shape = Shape::EMPTY;
    TABLE.get(usize::from(sys)).map_or(&EMPTY, |(_, shape)| shape)
}

/// What the arguments of the call with this number in the table mean, for other tables.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_stands_once() {
        for (i, (name, _)) in TABLE.iter().enumerate() {
            assert_eq!(usize::from(by_name(name.as_bytes())), i, "{name}");
        }
    }

    #[test]
    fn example_of_by_name() {
        let read = by_name(b"read");
        assert_eq!(shape(read).fd, 0);
        assert_eq!(by_name(b"no such call"), UNKNOWN);
    }
}
