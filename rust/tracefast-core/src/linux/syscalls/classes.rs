//! Classes of system calls by what they do, in the words of their man pages.
//!
//! Each call has its classes in its line of [`crate::linux::syscalls::table`]; most follow from
//! what the line says about the arguments. Code that needs to know what a call does asks here and
//! keeps no list of names.

use crate::events::vocabulary::{Motion, Op};

/// A set of classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Classes(u32);

macro_rules! classes {
    ($($(#[doc = $doc:literal])+ $name:ident $word:literal = $bit:literal,)+) => {
        impl Classes {
            $($(#[doc = $doc])+ pub const $name: Self = Self(1 << $bit);)+

            /// Each class with the word that Python knows it by.
            pub(crate) const NAMED: &[(&str, Self)] = &[$(($word, Self::$name),)+];
        }
    };
}

classes! {
    /// Takes data out of its descriptor: read(2), pread(2), readv(2).
    READS "reads" = 0,
    /// Puts data into its descriptor: write(2), pwrite(2), writev(2).
    WRITES "writes" = 1,
    /// Moves data from one descriptor to another: sendfile(2), splice(2), `copy_file_range`(2).
    TRANSFERS "transfers" = 2,
    /// Takes data out of a socket or a queue, which have no positions: recv(2), `mq_receive`(3).
    RECEIVES "receives" = 3,
    /// Puts data into a socket, a queue or a pipe: send(2), `mq_send`(3), vmsplice(2).
    SENDS "sends" = 4,
    /// Brings what was written to the disk: fsync(2), sync(2), msync(2).
    SYNCS "syncs" = 5,
    /// Submits asynchronous I/O, or collects its results: `io_submit`(2), `io_getevents`(2).
    AIO "does-aio" = 6,
    /// Opens something by its name, to use what is in it: open(2), `memfd_create`(2), `mq_open`(3).
    OPENS "opens" = 7,
    /// Closes a descriptor: close(2).
    CLOSES "closes" = 8,
    /// Closes a range of descriptors: `close_range`(2).
    CLOSES_RANGE "closes-range" = 9,
    /// Duplicates a descriptor, whatever its arguments: dup(2). fcntl(2) is not one of them.
    DUPS "dups" = 10,
    /// Moves the position: lseek(2).
    SEEKS "seeks" = 11,
    /// Asks for the size and times of a file: stat(2), statx(2).
    STATS "stats" = 12,
    /// Lists a directory: getdents(2).
    LISTS "lists" = 13,
    /// Changes the size of a file: truncate(2), fallocate(2).
    RESIZES "resizes" = 14,
    /// Gives a file another name: rename(2).
    RENAMES "renames" = 15,
    /// Maps memory: mmap(2).
    MAPS "maps" = 16,
    /// Unmaps memory: munmap(2).
    UNMAPS "unmaps" = 17,
    /// Changes what may be done to memory: mprotect(2).
    PROTECTS "protects" = 18,
    /// Makes a task: fork(2), vfork(2), clone(2).
    FORKS "forks" = 19,
    /// Starts a program: execve(2).
    EXECS "execs" = 20,
    /// Ends the task: `_exit`(2), `exit_group`(2).
    ENDS "ends" = 21,
    /// Ends all tasks of the process: `exit_group`(2).
    ENDS_GROUP "ends-group" = 22,
    /// Waits for a child, and may say how it ended: wait(2), wait4(2).
    COLLECTS "collects" = 23,
    /// Returns from the handler of a signal: sigreturn(2).
    SIGRETURNS "sigreturns" = 24,
    /// Waits for another task, a message or a time, whatever its descriptor leads to: futex(2),
    /// poll(2), nanosleep(2). A read of a pipe waits as well, but a read of a file does not.
    WAITS "waits" = 25,
    /// Called by dynamic linkers (ld.so(8)) and by the start of the C library, before `main`.
    LINKS "links" = 26,
    /// Looks at a file without opening it or using what is in it, or at what a descriptor refers
    /// to: stat(2), access(2), readlink(2), statfs(2), getxattr(2).
    LOOKS "looks" = 27,
    /// Waits until one of many descriptors is ready: poll(2), select(2), `epoll_wait`(2).
    POLLS "polls" = 28,
}

impl Classes {
    /// No class.
    pub(crate) const NONE: Self = Self(0);

    /// Both together.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// One of `any` is among them.
    #[inline]
    pub const fn has(self, any: Self) -> bool {
        self.0 & any.0 != 0
    }

    /// What follows from the effect of a call.
    pub(crate) const fn from_op(op: Op) -> Self {
        match op {
            Op::Close => Self::CLOSES,
            Op::CloseRange => Self::CLOSES_RANGE,
            Op::Dup => Self::DUPS,
            Op::Seek => Self::SEEKS,
            Op::Truncate => Self::RESIZES,
            Op::Rename => Self::RENAMES,
            Op::Fork => Self::FORKS,
            Op::Exec => Self::EXECS,
            Op::ExitCall => Self::ENDS,
            _ => Self::NONE,
        }
    }

    /// What follows from the way in which a call moves data, between what has positions or not.
    pub(crate) const fn from_motion(motion: Motion, streams: bool) -> Self {
        match (motion, streams) {
            (Motion::None, _) => Self::NONE,
            (Motion::Read, false) => Self::READS,
            (Motion::Read, true) => Self::RECEIVES,
            (Motion::Write, false) => Self::WRITES,
            (Motion::Write, true) => Self::SENDS,
            (Motion::Copy, _) => Self::TRANSFERS,
        }
    }
}
