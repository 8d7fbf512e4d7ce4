//! Whether the time in a call was spent waiting for somebody, or moving data.
//!
//! It depends on what the descriptor leads to, not on the name of the call alone: a read of a pipe
//! waits for whoever writes it, a read of a file takes what the disk needs.

use crate::kernel::files::paths::is_stream;

/// What a call of some name does with its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Call {
    /// It waits until something happens: another task, a message, a time.
    Waits,
    /// It takes data from its descriptor, which may have to wait for whoever gives it.
    Takes,
    /// It gives data away, or brings it to the disk.
    Moves,
    /// Neither.
    Works,
}

impl Call {
    /// Of the system call `name`, as the event schema spells it.
    #[allow(clippy::match_same_arms)] // Each group has a reason of its own.
    pub(crate) fn of(name: &str) -> Self {
        match name {
            "read" | "readv" | "pread64" | "pread" | "preadv" | "preadv2" => Self::Takes,
            "sendfile" | "sendfile64" | "splice" | "copy_file_range" | "tee" => Self::Takes,
            "write" | "writev" | "pwrite64" | "pwrite" | "pwritev" | "pwritev2" => Self::Moves,
            "send" | "sendto" | "sendmsg" | "sendmmsg" | "vmsplice" => Self::Moves,
            "fsync" | "fdatasync" | "sync" | "syncfs" | "msync" => Self::Moves,
            "sync_file_range" | "sync_file_range2" | "arm_sync_file_range" => Self::Moves,
            "io_submit" | "io_getevents" | "io_pgetevents" | "io_pgetevents_time64" => Self::Moves,
            "futex" | "futex_time64" | "futex_wait" | "futex_waitv" => Self::Waits,
            "poll" | "ppoll" | "ppoll_time64" => Self::Waits,
            "select" | "_newselect" | "oldselect" | "osf_select" | "pselect6"
            | "pselect6_time64" => Self::Waits,
            "epoll_wait" | "epoll_wait_old" | "epoll_pwait" | "epoll_pwait2" => Self::Waits,
            "wait4" | "oldwait4" | "osf_wait4" | "waitid" | "waitpid" => Self::Waits,
            "nanosleep" | "clock_nanosleep" | "clock_nanosleep_time64" | "pause" => Self::Waits,
            "rt_sigsuspend" | "sigsuspend" | "rt_sigtimedwait" | "rt_sigtimedwait_time64" => {
                Self::Waits
            }
            // What it goes on with was one of these: the kernel restarts no other call by it.
            "restart_syscall" => Self::Waits,
            // The other end of a socket, of a queue, the holder of a lock.
            "accept" | "accept4" | "connect" => Self::Waits,
            "recv" | "recvfrom" | "recvmsg" | "recvmmsg" | "recvmmsg_time64" => Self::Waits,
            "msgrcv" | "mq_timedreceive" | "mq_timedreceive_time64" => Self::Waits,
            "semop" | "semtimedop" | "semtimedop_time64" | "flock" => Self::Waits,
            _ => Self::Works,
        }
    }
}

/// Who gives what is taken from a descriptor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Giver {
    /// Another task, the kernel, a clock, somebody at a terminal: there may be nothing yet.
    Somebody,
    /// A character device: its name tells.
    Device,
    /// Files and disks, memory: it is there.
    Storage,
    /// The log does not say.
    Unknown,
}

impl Giver {
    /// Of a descriptor of this type (column `file_type`).
    pub(crate) fn of(file_type: &str) -> Self {
        match file_type {
            "pipe" | "fifo" | "socket" | "anon" => Self::Somebody,
            "char" => Self::Device,
            "regular" | "directory" | "block" | "memfd" => Self::Storage,
            _ => Self::Unknown,
        }
    }

    /// The same, with its path where the type says too little. A device without a name is the
    /// terminal, which the program did not open itself.
    #[inline]
    #[must_use]
    pub(crate) fn known_as<'a>(self, path: impl FnOnce() -> Option<&'a str>) -> Self {
        match self {
            Self::Device => path().map_or(Self::Somebody, Self::device),
            Self::Unknown => path().map_or(Self::Unknown, Self::named),
            known => known,
        }
    }

    /// Of a character device, by its path: memory and random numbers are there at once, whatever
    /// else comes from people (terminals), machines or other programs.
    fn device(path: &str) -> Self {
        let there = matches!(
            path.strip_prefix("/dev/").unwrap_or_default(),
            "null" | "zero" | "full" | "random" | "urandom" | "mem" | "kmem" | "port"
        );
        if there { Self::Storage } else { Self::Somebody }
    }

    /// Where the type is not in the log, by its path: what has a name in the tree of files is one of
    /// these, unless that is the usual name of a device.
    fn named(path: &str) -> Self {
        if !path.starts_with('/') {
            Self::Unknown
        } else if is_stream(path.as_bytes()) {
            Self::device(path)
        } else {
            Self::Storage
        }
    }
}

impl Call {
    /// Whether the time in a call that takes from `giver` was spent waiting for somebody; `None`
    /// where the log cannot say.
    #[inline]
    pub(crate) fn waits_for(self, giver: Giver) -> Option<bool> {
        match (self, giver) {
            (Self::Waits, _) | (Self::Takes, Giver::Somebody) => Some(true),
            (Self::Moves | Self::Works, _) | (Self::Takes, Giver::Storage) => Some(false),
            (Self::Takes, Giver::Unknown | Giver::Device) => None,
        }
    }
}

/// What the time in one call was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Time {
    /// Waiting for somebody.
    Wait,
    /// Moving data.
    Io,
    /// Other work.
    Work,
}

/// What the time in a call was that takes from `giver` or gives to it. Of one that may have waited
/// it counts as moving data.
#[inline]
pub(crate) fn spent(call: Call, giver: Giver) -> Time {
    match (call, call.waits_for(giver)) {
        (Call::Works, _) => Time::Work,
        (_, Some(true)) => Time::Wait,
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
            let giver = kind.map_or(Giver::Unknown, Giver::of).known_as(|| path);
            assert_eq!(spent(Call::of(name), giver), time, "{name} {kind:?}");
        }
    }

    #[test]
    fn example_of_of() {
        use crate::linux::waits::Call;
        assert_eq!(Call::of("futex"), Call::Waits);
        assert_eq!(Call::of("read"), Call::Takes);
        assert_eq!(Call::of("fsync"), Call::Moves);
        assert_eq!(Call::of("mmap"), Call::Works);
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
        use crate::linux::waits::{Call, Giver, Time, spent};
        assert_eq!(spent(Call::of("read"), Giver::of("pipe")), Time::Wait);
        assert_eq!(spent(Call::of("read"), Giver::of("regular")), Time::Io);
        assert_eq!(spent(Call::of("mmap"), Giver::of("regular")), Time::Work);
    }
}
