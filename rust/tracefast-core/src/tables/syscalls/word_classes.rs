//! The meaning of words in events for the table of system calls.

use crate::linux::syscalls::{Classes, classes_of};
use crate::linux::waits;

/// Kinds of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowKind {
    /// A system call.
    Call,
    /// Any other.
    Other,
}

impl RowKind {
    pub(crate) fn from_word(word: &str) -> Self {
        match word {
            "syscall" => Self::Call,
            _ => Self::Other,
        }
    }
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// It returned, to the program or only to the tracer.
    Returned,
    /// It returned, and its start is not in the log.
    Headless,
    /// strace injected its result.
    Injected,
    /// Its end is not in the log.
    None,
}

impl End {
    pub(crate) fn from_status(status: &str) -> Self {
        match status {
            "unfinished" | "killed" | "detached" | "superseded" | "truncated" => Self::None,
            "headless" => Self::Headless,
            "injected" => Self::Injected,
            _ => Self::Returned,
        }
    }
}

/// What sees an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The program.
    Error,
    /// The kernel, which restarts the call or turns the error into `EINTR`: signal(7).
    Restart,
}

impl Fault {
    pub(crate) fn from_errno(errno: &str) -> Self {
        if errno.starts_with("ERESTART") { Self::Restart } else { Self::Error }
    }
}

/// What a call does to tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// It creates one.
    Fork,
    /// It ends one, and never returns.
    Exit,
    /// It ends a signal handler, and returns the result of the interrupted call: sigreturn(2).
    Sigreturn,
    /// None of these.
    Other,
}

/// The meaning of a call's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Meaning {
    /// The number of the name.
    pub(crate) name: u32,
    pub(crate) time: waits::CallTime,
    pub(crate) role: Role,
    /// It makes pipes or sockets.
    pub(crate) makes_stream: bool,
}

impl Meaning {
    pub(crate) fn from_name(word: &str, name: u32) -> Self {
        Self {
            name,
            time: waits::CallTime::from_name(word),
            role: Role::from_name(word),
            makes_stream: waits::makes_stream(word),
        }
    }
}

impl Role {
    pub(crate) fn from_name(name: &str) -> Self {
        let classes = classes_of(name.as_bytes());
        if classes.has(Classes::FORKS) {
            Self::Fork
        } else if classes.has(Classes::ENDS) {
            Self::Exit
        } else if classes.has(Classes::SIGRETURNS) {
            Self::Sigreturn
        } else {
            Self::Other
        }
    }
}
