//! The meaning of words in events for the flow of data.

use crate::events::vocabulary::Op;
use crate::linux::syscalls::{Classes, NONE, Special, by_name, shape};
use crate::tables::waits::word_classes::Act as Call;

/// What a call does to data and to the names of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Act {
    /// Takes data from its descriptor.
    Take,
    /// Gives data to its descriptor.
    Give,
    /// Moves data from one descriptor to another.
    Transfer,
    /// Opens a file; the position of its flags.
    Open(u8),
    Map,
    /// Unmaps, also what shmat(2) mapped.
    Unmap,
    /// mremap(2).
    Remap,
    /// Makes or finds shared memory of System V: shmget(2).
    Segment,
    /// Maps it: shmat(2).
    Attach,
    /// Makes a task.
    Fork,
    Exec,
    Rename,
    Link,
    /// Makes a name that leads to another one.
    Symlink,
    Unlink,
    Pipe,
    SocketPair,
    Bind,
    Connect,
    Accept,
    /// getsockname(2).
    OwnAddress,
    /// ioctl(2), which may copy a file.
    Control,
    Other,
}

impl Act {
    pub(crate) fn from_name(name: &str) -> Self {
        let shape = shape(by_name(name.as_bytes()));
        match (shape.op, Call::from_name(name)) {
            _ if name == "symlink" || name == "symlinkat" => Self::Symlink,
            _ if name == "shmget" => Self::Segment,
            _ if name == "shmat" => Self::Attach,
            _ if name == "shmdt" => Self::Unmap,
            _ if shape.special == Special::Mremap => Self::Remap,
            (Op::Rename, _) => Self::Rename,
            (Op::Link, _) => Self::Link,
            (Op::Unlink, _) => Self::Unlink,
            (_, Call::Open) => Self::Open(shape.flags),
            (_, Call::Map) => Self::Map,
            (_, Call::Unmap) => Self::Unmap,
            (_, Call::Fork) => Self::Fork,
            (_, Call::Exec) => Self::Exec,
            (_, Call::Pipe) => Self::Pipe,
            (_, Call::SocketPair) => Self::SocketPair,
            (_, Call::Bind) => Self::Bind,
            (_, Call::Connect) => Self::Connect,
            (_, Call::Accept) => Self::Accept,
            (_, Call::OwnAddress) => Self::OwnAddress,
            (_, Call::Ioctl) => Self::Control,
            _ if shape.classes.has(Classes::TRANSFERS) => Self::Transfer,
            _ if shape.classes.has(Classes::READS.and(Classes::RECEIVES)) => Self::Take,
            _ if shape.classes.has(Classes::WRITES.and(Classes::SENDS)) => Self::Give,
            _ => Self::Other,
        }
    }

    /// The position of the flags with which a file is opened.
    pub(crate) fn flags(self) -> Option<usize> {
        match self {
            Self::Open(at) if at != NONE => Some(at.into()),
            _ => None,
        }
    }
}

/// What a descriptor refers to, by `file_type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holds {
    /// A file, or what is used like one.
    File,
    Directory,
    /// A device.
    Device,
    Pipe,
    /// A pipe with a name.
    Fifo,
    Socket,
    /// Memory with a name: `memfd_create`(2).
    Memory,
    /// What moves no data: an eventfd, an epoll set.
    Anonymous,
    Unknown,
}

impl Holds {
    pub(crate) fn from_file_type(file_type: &str) -> Self {
        match file_type {
            "regular" => Self::File,
            "directory" => Self::Directory,
            "char" | "block" => Self::Device,
            "pipe" => Self::Pipe,
            "fifo" => Self::Fifo,
            "socket" => Self::Socket,
            "memfd" => Self::Memory,
            "anon" => Self::Anonymous,
            _ => Self::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls() {
        for (name, act) in [
            ("pread64", Act::Take),
            ("recvmsg", Act::Take),
            ("sendto", Act::Give),
            ("copy_file_range", Act::Transfer),
            ("renameat2", Act::Rename),
            ("linkat", Act::Link),
            ("unlinkat", Act::Unlink),
            ("mmap", Act::Map),
            ("munmap", Act::Unmap),
            ("shmdt", Act::Unmap),
            ("mremap", Act::Remap),
            ("vfork", Act::Fork),
            ("getpid", Act::Other),
        ] {
            assert_eq!(Act::from_name(name), act, "{name}");
        }
        assert_eq!(Act::from_name("openat").flags(), Some(2));
        assert_eq!(Act::from_name("creat").flags(), None);
    }
}
