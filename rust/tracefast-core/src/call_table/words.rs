//! What the words in events mean for the table of system calls.

use crate::kernel::paths::is_stream;

/// Kinds of rows that count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A system call.
    Call,
    /// The end of a task.
    Exit,
    /// Any other.
    Other,
}

impl Kind {
    pub(super) fn of(word: &str) -> Self {
        match word {
            "syscall" => Self::Call,
            "exit" => Self::Exit,
            _ => Self::Other,
        }
    }
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// It returned, to the program or to the tracer alone.
    Returned,
    /// As before; the beginning is not in the log.
    Headless,
    /// Its result was made up by the tracer.
    Injected,
    /// The log has no end of it.
    None,
}

impl End {
    pub(super) fn of(status: &str) -> Self {
        match status {
            "unfinished" | "killed" | "detached" | "superseded" | "truncated" => Self::None,
            "headless" => Self::Headless,
            "injected" => Self::Injected,
            _ => Self::Returned,
        }
    }
}

/// Who is told of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// The program.
    Error,
    /// The kernel, which starts the call anew or turns this into `EINTR`.
    Restart,
}

impl Fault {
    pub(super) fn of(errno: &str) -> Self {
        if errno.starts_with("ERESTART") { Self::Restart } else { Self::Error }
    }
}

/// Whether a call's time is spent waiting for somebody.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wait {
    /// Whatever it acts on.
    Always,
    /// It depends on what is behind its descriptor.
    ByFile,
    /// It works, or the disk does.
    Never,
}

/// What a call does to tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// It makes one.
    Fork,
    /// It starts a program.
    Exec,
    /// It ends one, and never returns.
    Exit,
    /// It ends the handler of a signal: what it returns is the result of what was interrupted.
    Sigreturn,
    /// Nothing of this.
    Other,
}

/// The meaning of a call's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Meaning {
    /// The number of the name.
    pub(super) name: u32,
    pub(super) wait: Wait,
    pub(super) role: Role,
}

impl Meaning {
    pub(super) fn of(word: &str, name: u32) -> Self {
        Self { name, wait: Wait::of(word), role: Role::of(word) }
    }
}

/// Calls that wait for somebody, whatever they act on.
static WAITS: [&str; 42] = [
    // A thread that lets go, a process that ends, a signal, the time.
    "futex",
    "futex_time64",
    "futex_wait",
    "futex_waitv",
    "flock",
    "semop",
    "semtimedop",
    "semtimedop_time64",
    "wait4",
    "waitpid",
    "waitid",
    "pause",
    "sigsuspend",
    "rt_sigsuspend",
    "rt_sigtimedwait",
    "rt_sigtimedwait_time64",
    "nanosleep",
    "clock_nanosleep",
    "clock_nanosleep_time64",
    // A descriptor that becomes ready.
    "poll",
    "ppoll",
    "ppoll_time64",
    "select",
    "_newselect",
    "pselect6",
    "pselect6_time64",
    "epoll_wait",
    "epoll_wait_old",
    "epoll_pwait",
    "epoll_pwait2",
    // It goes on with one of these, and with no other call.
    "restart_syscall",
    // The other end of a socket or of a queue.
    "accept",
    "accept4",
    "connect",
    "recv",
    "recvfrom",
    "recvmsg",
    "recvmmsg",
    "recvmmsg_time64",
    "msgrcv",
    "mq_timedreceive",
    "mq_timedreceive_time64",
];

/// Calls that do if somebody else has to write first what they take.
static TAKES: [&str; 9] =
    ["read", "readv", "pread64", "preadv", "preadv2", "sendfile", "sendfile64", "splice", "tee"];

impl Wait {
    fn of(name: &str) -> Self {
        if WAITS.contains(&name) {
            Self::Always
        } else if TAKES.contains(&name) {
            Self::ByFile
        } else {
            Self::Never
        }
    }
}

impl Role {
    pub(super) fn of(name: &str) -> Self {
        match name {
            "clone" | "clone2" | "clone3" | "fork" | "vfork" => Self::Fork,
            "execve" | "execveat" => Self::Exec,
            "exit" | "exit_group" | "_exit" => Self::Exit,
            "rt_sigreturn" | "sigreturn" => Self::Sigreturn,
            _ => Self::Other,
        }
    }
}

/// What is behind a descriptor from which data are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Behind {
    /// Somebody else, who has to write first.
    Somebody,
    /// A device: its name tells.
    Device,
    /// Data that are there.
    Data,
    /// It is not known.
    Unknown,
}

impl Behind {
    pub(super) fn of(file_type: &str) -> Self {
        match file_type {
            "pipe" | "fifo" | "socket" | "anon" => Self::Somebody,
            "char" => Self::Device,
            "regular" | "directory" | "block" | "memfd" => Self::Data,
            _ => Self::Unknown,
        }
    }

    /// Of a character device, by its path: memory and random numbers are there at once, whatever
    /// else comes from people (terminals), machines or other programs.
    pub(super) fn device(path: &str) -> Self {
        let data = matches!(
            path.strip_prefix("/dev/").unwrap_or_default(),
            "null" | "zero" | "full" | "random" | "urandom" | "mem" | "kmem" | "port"
        );
        if data { Self::Data } else { Self::Somebody }
    }

    /// Where the type is not in the log, by its path: what has a name in the tree of files is one of
    /// these, unless that is the usual name of a device.
    pub(super) fn named(path: &str) -> Self {
        if !path.starts_with('/') {
            Self::Unknown
        } else if is_stream(path.as_bytes()) {
            Self::device(path)
        } else {
            Self::Data
        }
    }
}
