//! Facts about calls that few rows have: what they do to memory, which descriptors they pass
//! through sockets, the parts of asynchronous submissions.

/// A fact that has no column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Detail {
    /// The call changed the address space of its task.
    Memory(Memory),
    /// Descriptors in the control messages that the call sends (`SCM_RIGHTS`, unix(7)), in order.
    /// Its result says whether they were sent.
    Sent(Vec<i32>),
    /// The same to an address, which may be that of any socket.
    SentTo(Vec<i32>),
    /// It sends or receives messages that the log does not show.
    UnseenMessage,
    /// Descriptors that the call received, in order. They are closed by execve if the effect's
    /// `flags` have [`open_flags::CLOEXEC`].
    ///
    /// [`open_flags::CLOEXEC`]: crate::events::vocabulary::open_flags::CLOEXEC
    Received(Vec<Received>),
    /// From here on `MSG_PEEK` need not show the oldest message of the socket (`SO_PEEK_OFF`,
    /// socket(7)).
    PeeksLater,
    /// The process will submit asynchronous transfers (`io_setup(2)`).
    AioSetup,
    /// Names refer to other files from here on (mount(2)).
    Mounted,
    /// From here on a supervisor may decide what calls of the task and its children return
    /// (`SECCOMP_FILTER_FLAG_NEW_LISTENER`).
    Supervised,
    /// A supervisor of seccomp was notified of a call (`SECCOMP_IOCTL_NOTIF_RECV`): number of the
    /// notice, and the task that waits.
    Notified(u64, i32),
    /// It has put a descriptor into the task that waits (`SECCOMP_IOCTL_NOTIF_ADDFD`,
    /// `seccomp_unotify(2)`). Its number there is what the call returned.
    Added(Added),
    /// The call may have made this descriptor, of what the log does not show: `TIOCGPTPEER`,
    /// `KVM_CREATE_VM` and others return one (ioctl(2)).
    MayMake(i32),
    /// The task enters namespaces of these kinds (clone flags), 0 for any (`setns(2)`).
    Entered(u32),
    /// Parts that were accepted by `io_submit`, in order.
    Submitted(Vec<Submission>),
    /// Parts that `io_getevents` found complete, in order.
    Collected(Vec<Completion>),
    /// Where a seek ended that does not return it (`_llseek`); `None` if the text does not say.
    Position(Option<i64>),
    /// The call around this event looked up pages of the file with this identity.
    Inode(u64),
    /// A page of a mapped file was read in during the call around this event.
    Fault,
    /// The call around this event acts on the path in this view.
    Name(u128),
    /// View of the path that was opened, where the row shows another one: that of a file without a
    /// name ([`open_flags::DELETED`]).
    ///
    /// [`open_flags::DELETED`]: crate::events::vocabulary::open_flags
    Requested(u128),
    /// View of the working directory at that moment, which an annotation gives as the start of the
    /// row's relative path.
    Directory(u128),
    /// The first half of a call shows the names that it renames or links, or the one that it makes or
    /// removes, twice: the last part of each, by its hash; `None` if the log does not show that.
    Renames([Option<u64>; 2]),
    /// The log holds what the call writes: the call and strace write into one file.
    IntoLog,
    /// The call showed which file it is about; with what [`Detail::Directory`] says, if anything.
    Numbered(FileNumber, Option<u128>),
}

/// What makes a file the same one under all its names, for as long as it is open (inode(7)).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileNumber {
    /// The device that it is on, as `major << 32 | minor`.
    pub device: u64,
    /// Its number there.
    pub inode: u64,
}

/// What the pages of a mapping hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mapping {
    /// Memory of the process alone.
    Anonymous,
    /// A file.
    File,
    /// Memory that processes share, without a file on a disk.
    Shared,
    /// A device: none of the pages are the process's.
    Device,
}

impl Mapping {
    /// That of a call of mmap(2), as far as its flags and its descriptor show.
    #[inline]
    pub(crate) fn new(private: bool, no_file: bool) -> Self {
        match (private, no_file) {
            (true, true) => Self::Anonymous,
            (false, true) => Self::Shared,
            (_, false) => Self::File,
        }
    }
}

/// A change of an address space. Addresses and lengths are in bytes, as printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Memory {
    /// `start..start + len` was mapped over whatever was there.
    Map {
        /// Address.
        start: u64,
        /// Length.
        len: u64,
        /// What its pages hold.
        mapping: Mapping,
        /// It may be written to.
        writable: bool,
    },
    /// Nothing is mapped there from now on.
    Unmap {
        /// Address.
        start: u64,
        /// Length.
        len: u64,
    },
    /// Whether it may be written to was changed.
    Protect {
        /// Address.
        start: u64,
        /// Length.
        len: u64,
        /// It may be written to.
        writable: bool,
    },
    /// It was moved, made longer or shorter.
    Remap {
        /// Address before.
        start: u64,
        /// Length before.
        len: u64,
        /// Address after.
        new_start: u64,
        /// Length after.
        new_len: u64,
        /// The old range stays mapped (`MREMAP_DONTUNMAP`, mremap(2)).
        stays: bool,
    },
    /// The heap ends here.
    Break {
        /// Address.
        end: u64,
    },
}

/// A descriptor that came through a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Received {
    /// Its number in the receiver.
    pub fd: i32,
    /// View of its name in the annotation.
    pub path: Option<u128>,
}

/// A descriptor that is put into another process; `None` where the text does not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Added {
    /// Number of the notice.
    pub notice: Option<u64>,
    /// The descriptor of the supervisor.
    pub fd: Option<i32>,
    /// It is closed by execve.
    pub cloexec: bool,
}

/// Part of a submission (`struct iocb`, `io_submit(2)`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Submission {
    /// The program's own tag for it.
    pub data: u64,
    /// What it does.
    pub call: AioCall,
    /// Descriptor.
    pub fd: i32,
    /// Where it starts in the file.
    pub offset: Option<i64>,
    /// Bytes requested.
    pub requested: Option<i64>,
}

/// A completed part (`struct io_event`, `io_getevents(2)`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completion {
    /// The tag of the submission.
    pub data: u64,
    /// Address of the submission's `struct iocb`.
    pub object: u64,
    /// Bytes moved, or a negative error number.
    pub result: i64,
}

/// What a part of a submission does (`IOCB_CMD_…`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum AioCall {
    /// Reads.
    Pread,
    /// Writes.
    Pwrite,
    /// Waits for the data to be on the device.
    Fsync,
    /// Waits for the data, but not all metadata, to be on the device.
    Fdsync,
    /// Waits for a descriptor.
    Poll,
    /// Does nothing.
    Noop,
    /// Reads into a vector.
    Preadv,
    /// Writes a vector.
    Pwritev,
}

impl AioCall {
    const ALL: [Self; 8] = [
        Self::Pread,
        Self::Pwrite,
        Self::Fsync,
        Self::Fdsync,
        Self::Poll,
        Self::Noop,
        Self::Preadv,
        Self::Pwritev,
    ];

    /// The call with this number (`IOCB_CMD_…` in the kernel's `include/uapi/linux/aio_abi.h`).
    pub fn by_number(number: i64) -> Option<Self> {
        Some(match number {
            0 => Self::Pread,
            1 => Self::Pwrite,
            2 => Self::Fsync,
            3 => Self::Fdsync,
            5 => Self::Poll,
            6 => Self::Noop,
            7 => Self::Preadv,
            8 => Self::Pwritev,
            _ => return None,
        })
    }

    /// The call of this name, in small letters or capitals.
    pub fn by_name(name: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|call| name.eq_ignore_ascii_case(call.text().as_bytes()))
    }

    /// Name, as strace prints it without `IOCB_CMD_`.
    pub fn text(self) -> &'static str {
        match self {
            Self::Pread => "pread",
            Self::Pwrite => "pwrite",
            Self::Fsync => "fsync",
            Self::Fdsync => "fdsync",
            Self::Poll => "poll",
            Self::Noop => "noop",
            Self::Preadv => "preadv",
            Self::Pwritev => "pwritev",
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn example_of_by_name() {
        use crate::events::details::AioCall;
        assert_eq!(AioCall::by_name(b"PREADV"), Some(AioCall::Preadv));
        assert_eq!(AioCall::by_name(b"pread"), Some(AioCall::Pread));
        assert_eq!(AioCall::by_name(b"preadx"), None);
    }
}
