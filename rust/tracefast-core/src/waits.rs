//! Whether the time in a call was spent waiting for somebody, or moving data.
//!
//! It depends on what the descriptor leads to, not on the name of the call alone: a read of a pipe
//! waits for whoever writes it, a read of a file takes what the disk needs.

/// What a call of some name does with its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call {
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
    ///
    /// # Examples
    /// ```
    /// use tracefast_core::waits::Call;
    /// assert_eq!(Call::of("futex"), Call::Waits);
    /// assert_eq!(Call::of("read"), Call::Takes);
    /// assert_eq!(Call::of("fsync"), Call::Moves);
    /// assert_eq!(Call::of("mmap"), Call::Works);
    /// ```
    #[allow(clippy::match_same_arms)] // Each group has a reason of its own.
    pub fn of(name: &str) -> Self {
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
pub enum Giver {
    /// Another task, the kernel, a clock: pipes, sockets, events.
    Somebody,
    /// A character device, perhaps a terminal at which somebody sits.
    Device,
    /// Files and disks.
    Storage,
}

impl Giver {
    /// Of a descriptor of this type (column `file_type`).
    pub fn of(file_type: &str) -> Self {
        match file_type {
            "pipe" | "fifo" | "socket" | "anon" => Self::Somebody,
            "char" => Self::Device,
            _ => Self::Storage,
        }
    }
}

/// What the time in one call was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Time {
    /// Waiting for somebody.
    Wait,
    /// Moving data.
    Io,
    /// Other work.
    Work,
}

/// What the time in a call was, by its name, the type of its descriptor, if known, and, of a
/// device, its path.
///
/// # Examples
/// ```
/// use tracefast_core::waits::{Call, Giver, Time, spent};
/// let read = |kind, path| spent(Call::Takes, Some(Giver::of(kind)), || path);
/// assert_eq!(read("pipe", None), Time::Wait);
/// assert_eq!(read("regular", None), Time::Io);
/// assert_eq!(read("char", Some("/dev/pts/3")), Time::Wait);
/// assert_eq!(read("char", Some("/dev/urandom")), Time::Io);
/// ```
#[inline]
pub fn spent<'a>(call: Call, giver: Option<Giver>, path: impl FnOnce() -> Option<&'a str>) -> Time {
    match (call, giver) {
        (Call::Works, _) => Time::Work,
        (Call::Waits, _) | (Call::Takes, Some(Giver::Somebody)) => Time::Wait,
        (Call::Takes, Some(Giver::Device)) if path().is_some_and(is_live) => Time::Wait,
        (Call::Takes | Call::Moves, _) => Time::Io,
    }
}

/// Whether what a character device of this path gives comes from people, machines or programs:
/// memory and random numbers are there at once.
fn is_live(path: &str) -> bool {
    let name = path.strip_prefix("/dev/").unwrap_or_default();
    !matches!(name, "null" | "zero" | "full" | "random" | "urandom" | "mem" | "kmem" | "port")
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
            ("read", Some("char"), None, Time::Io),
            ("read", Some("regular"), Some("/dev/pts/0"), Time::Io),
            ("read", Some("unknown"), None, Time::Io),
            ("read", None, None, Time::Io),
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
            assert_eq!(
                spent(Call::of(name), kind.map(Giver::of), || path),
                time,
                "{name} {kind:?}"
            );
        }
    }
}
