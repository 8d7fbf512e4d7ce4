//! Whether a call spent its time waiting for somebody, or moving data.
//!
//! That depends on what the descriptor refers to, not only on the call: a read of a pipe waits
//! until somebody writes to it, a read of a file takes as long as the disk needs. And some calls
//! seldom wait: a write to a pipe waits if the pipe is full, fcntl(2) if somebody has the lock.
//! Those take microseconds otherwise, also under a tracer, so they waited if they took a
//! millisecond ([`LONG_NS`]).

use crate::events::vocabulary::{FileType, Op};
use crate::linux::devices::is_stream_device;
use crate::linux::syscalls::{Classes, by_name, classes_of, shape};

/// Calls that seldom wait have waited if they took so long, in nanoseconds.
pub(crate) const LONG_NS: i64 = 1_000_000;

/// What a call of some name does with its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallTime {
    /// It waits until something happens: another task, a message, a time.
    Waits,
    /// It takes data from its descriptor, and may have to wait until somebody gives it.
    Takes,
    /// It gives data away: it has to wait if whoever takes it is slow.
    Gives,
    /// It moves data from one descriptor to another, and may have to wait for both: sendfile(2).
    Transfers,
    /// It writes to the disk.
    Moves,
    /// It may ask for a lock, and waits if somebody has it: `F_SETLKW` in fcntl(2).
    Locks,
    /// It opens something: it waits if that is a FIFO whose other end nobody has opened.
    Opens,
    /// None of these.
    Works,
}

impl CallTime {
    /// Of the system call `name`, as the event schema spells it.
    pub(crate) fn from_name(name: &str) -> Self {
        let classes = classes_of(name.as_bytes());
        if classes.has(Classes::WAITS.and(Classes::RECEIVES)) {
            Self::Waits
        } else if classes.has(Classes::READS) {
            Self::Takes
        } else if classes.has(Classes::TRANSFERS) {
            Self::Transfers
        } else if classes.has(Classes::WRITES.and(Classes::SENDS)) {
            Self::Gives
        } else if classes.has(MOVES) {
            Self::Moves
        } else if classes.has(Classes::OPENS) {
            Self::Opens
        } else if matches!(name, "fcntl" | "fcntl64") {
            Self::Locks
        } else {
            Self::Works
        }
    }
}

/// Whether a call makes pipes or sockets.
pub(crate) fn makes_stream(name: &str) -> bool {
    let shape = shape(by_name(name.as_bytes()));
    shape.op == Op::OpenPair || shape.makes == Some(FileType::Socket)
}

const MOVES: Classes = Classes::SYNCS.and(Classes::AIO);

/// Who gives what is taken from a descriptor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Giver {
    /// Another task, the kernel, a clock, a person at a terminal: there may be no data yet.
    Somebody,
    /// A character device: it depends on which.
    Device,
    /// A file, a disk, memory: the data is there.
    Storage,
    /// The same, but it goes to a descriptor whose other end somebody takes it from.
    StorageToSomebody,
    /// The log does not say.
    Unknown,
}

impl Giver {
    /// Of a descriptor of this type (column `file_type`).
    pub(crate) fn from_file_type(file_type: &str) -> Self {
        match file_type {
            "pipe" | "fifo" | "socket" | "anon" => Self::Somebody,
            "char" => Self::Device,
            "regular" | "directory" | "block" | "memfd" => Self::Storage,
            _ => Self::Unknown,
        }
    }

    /// The same, using its path where the type says too little. A device without a name is taken
    /// for the terminal, which the program did not open itself.
    #[inline]
    #[must_use]
    pub(crate) fn known_as<'a>(self, path: impl FnOnce() -> Option<&'a str>) -> Self {
        match self {
            Self::Device => path().map_or(Self::Somebody, Self::device),
            Self::Unknown => path().map_or(Self::Unknown, Self::named),
            known => known,
        }
    }

    /// Of a character device, by its path: memory and random numbers are there at once (mem(4),
    /// null(4), random(4)); all else comes from people, machines or other programs.
    fn device(path: &str) -> Self {
        let is_there = matches!(
            path.strip_prefix("/dev/").unwrap_or_default(),
            "null" | "zero" | "full" | "random" | "urandom" | "mem" | "kmem" | "port"
        );
        if is_there { Self::Storage } else { Self::Somebody }
    }

    /// By its path, where the type is not in the log: what has an absolute path is a file, unless
    /// that is the usual name of a device.
    fn named(path: &str) -> Self {
        if !path.starts_with('/') {
            Self::Unknown
        } else if is_stream_device(path.as_bytes()) {
            Self::device(path)
        } else {
            Self::Storage
        }
    }
}

impl Giver {
    /// Of a call that takes from `self` and gives to a descriptor whose other end is `taker`.
    #[must_use]
    pub(crate) fn to(self, taker: Self) -> Self {
        match (self, taker) {
            (Self::Somebody, _) => Self::Somebody,
            (_, Self::Somebody) => Self::StorageToSomebody,
            (giver, _) => giver,
        }
    }
}

impl CallTime {
    /// Whether it matters who is at the other end of the descriptor, for a call that took `ns`.
    #[inline]
    pub(crate) fn asks_for_giver(self, ns: Option<i64>) -> bool {
        match self {
            Self::Takes | Self::Transfers => true,
            Self::Gives | Self::Opens => is_long(ns),
            Self::Waits | Self::Moves | Self::Locks | Self::Works => false,
        }
    }

    /// Whether a call that takes from `giver`, or gives to it, and took `ns`, spent its time waiting
    /// for somebody; `None` if the log does not say.
    #[inline]
    pub(crate) fn waits_for(self, giver: Giver, ns: Option<i64>) -> Option<bool> {
        match (self, giver) {
            (Self::Waits, _) | (Self::Takes | Self::Transfers, Giver::Somebody) => Some(true),
            (Self::Gives | Self::Opens, Giver::Somebody)
            | (Self::Transfers, Giver::StorageToSomebody)
            | (Self::Locks, _) => Some(is_long(ns)),
            (Self::Moves | Self::Works | Self::Gives | Self::Opens, _)
            | (Self::Takes | Self::Transfers, Giver::Storage | Giver::StorageToSomebody) => {
                Some(false)
            }
            (Self::Takes | Self::Transfers, Giver::Unknown | Giver::Device) => None,
        }
    }
}

#[inline]
fn is_long(ns: Option<i64>) -> bool {
    ns.is_some_and(|ns| ns >= LONG_NS)
}

/// What one call spent its time on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Time {
    /// Waiting for somebody.
    Wait,
    /// Moving data.
    Io,
    /// Other work.
    Work,
}

/// What a call that takes from `giver`, or gives to it, and took `ns`, spent its time on. If it may
/// have waited, its time counts as moving data.
#[inline]
pub(crate) fn spent(call: CallTime, giver: Giver, ns: Option<i64>) -> Time {
    match (call, call.waits_for(giver, ns)) {
        (_, Some(true)) => Time::Wait,
        (CallTime::Works | CallTime::Locks | CallTime::Opens, _) => Time::Work,
        _ => Time::Io,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_name_and_descriptor() {
        for (name, kind, path, time) in [
            ("read", Some("pipe"), None, Time::Wait),
            ("read", Some("fifo"), Some("/run/f"), Time::Wait),
            ("read", Some("socket"), None, Time::Wait),
            ("read", Some("anon"), Some("anon_inode:[eventfd]"), Time::Wait),
            ("read", Some("anon"), Some("anon_inode:inotify"), Time::Wait),
            ("read", Some("char"), Some("/dev/tty"), Time::Wait),
            ("readv", Some("char"), Some("/dev/pts/0"), Time::Wait),
            ("read", Some("char"), Some("/dev/null"), Time::Io),
            ("read", Some("char"), Some("/dev/urandom"), Time::Io),
            ("read", Some("char"), Some("/dev/fuse"), Time::Wait),
            ("read", Some("char"), None, Time::Wait),
            ("read", Some("regular"), Some("/dev/pts/0"), Time::Io),
            ("read", Some("unknown"), None, Time::Io),
            ("read", None, None, Time::Io),
            ("read", None, Some("/etc/passwd"), Time::Io),
            ("read", None, Some("/dev/tty"), Time::Wait),
            ("read", None, Some("pipe:[7]"), Time::Io),
            ("pread64", Some("block"), None, Time::Io),
            ("splice", Some("pipe"), None, Time::Wait),
            ("sendfile", Some("regular"), None, Time::Io),
            ("write", Some("pipe"), None, Time::Io),
            ("fsync", Some("regular"), None, Time::Io),
            ("recvmsg", None, None, Time::Wait),
            ("poll", None, None, Time::Wait),
            ("wait4", None, None, Time::Wait),
            ("openat", Some("regular"), None, Time::Work),
        ] {
            let giver = kind.map_or(Giver::Unknown, Giver::from_file_type).known_as(|| path);
            assert_eq!(
                spent(CallTime::from_name(name), giver, Some(LONG_NS - 1)),
                time,
                "{name} {kind:?}"
            );
        }
    }

    #[test]
    fn calls_that_seldom_wait_have_waited_if_they_took_long() {
        for (name, giver, waits) in [
            ("write", Giver::Somebody, true),
            ("sendto", Giver::Somebody, true),
            ("vmsplice", Giver::Somebody, true),
            ("openat", Giver::Somebody, true),
            ("fcntl", Giver::Unknown, true),
            ("write", Giver::Storage, false),
            ("fsync", Giver::Storage, false),
            ("openat", Giver::Storage, false),
            ("mmap", Giver::Storage, false),
        ] {
            let call = CallTime::from_name(name);
            assert_eq!(call.waits_for(giver, Some(LONG_NS)), Some(waits), "{name}");
            assert_eq!(call.waits_for(giver, Some(LONG_NS - 1)), Some(false), "{name}");
            assert_eq!(call.waits_for(giver, None), Some(false), "{name}");
        }
    }

    #[test]
    fn a_file_into_a_full_pipe_waits_for_its_reader() {
        let call = CallTime::from_name("sendfile");
        let file = Giver::Storage.to(Giver::Somebody);
        assert_eq!(spent(call, file, Some(LONG_NS)), Time::Wait);
        assert_eq!(spent(call, file, Some(LONG_NS - 1)), Time::Io);
        assert_eq!(spent(call, Giver::Storage.to(Giver::Storage), Some(LONG_NS)), Time::Io);
        assert_eq!(spent(call, Giver::Somebody.to(Giver::Storage), Some(700)), Time::Wait);
        assert!(makes_stream("pipe2") && makes_stream("accept4") && !makes_stream("openat"));
    }

    #[test]
    fn example_of_from_name() {
        use crate::linux::waits::CallTime;
        assert_eq!(CallTime::from_name("futex"), CallTime::Waits);
        assert_eq!(CallTime::from_name("read"), CallTime::Takes);
        assert_eq!(CallTime::from_name("fsync"), CallTime::Moves);
        assert_eq!(CallTime::from_name("mmap"), CallTime::Works);
    }

    #[test]
    fn example_of_known_as() {
        use crate::linux::waits::Giver;
        assert_eq!(Giver::Device.known_as(|| Some("/dev/urandom")), Giver::Storage);
        assert_eq!(Giver::Device.known_as(|| Some("/dev/pts/3")), Giver::Somebody);
        assert_eq!(Giver::Unknown.known_as(|| Some("/etc/passwd")), Giver::Storage);
        assert_eq!(Giver::Unknown.known_as(|| None), Giver::Unknown);
    }

    #[test]
    fn example_of_spent() {
        use crate::linux::waits::{CallTime, Giver, Time, spent};
        let (pipe, file) = (Giver::from_file_type("pipe"), Giver::from_file_type("regular"));
        assert_eq!(spent(CallTime::from_name("read"), pipe, Some(700)), Time::Wait);
        assert_eq!(spent(CallTime::from_name("write"), pipe, Some(5_000_000)), Time::Wait);
        assert_eq!(spent(CallTime::from_name("read"), file, Some(700)), Time::Io);
        assert_eq!(spent(CallTime::from_name("mmap"), file, Some(700)), Time::Work);
    }
}
