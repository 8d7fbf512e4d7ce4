//! What the words in events mean for the table of system calls.

use crate::linux::waits;

/// Kinds of rows that count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A system call.
    Call,
    /// The end of a task.
    Exit,
    /// Any other.
    Other,
}

impl Kind {
    pub(crate) fn of(word: &str) -> Self {
        match word {
            "syscall" => Self::Call,
            "exit" => Self::Exit,
            _ => Self::Other,
        }
    }
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
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
    pub(crate) fn of(status: &str) -> Self {
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
pub(crate) enum Fault {
    /// The program.
    Error,
    /// The kernel, which starts the call anew or turns this into `EINTR`.
    Restart,
}

impl Fault {
    pub(crate) fn of(errno: &str) -> Self {
        if errno.starts_with("ERESTART") { Self::Restart } else { Self::Error }
    }
}

/// What a call does to tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
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
pub(crate) struct Meaning {
    /// The number of the name.
    pub(crate) name: u32,
    pub(crate) time: waits::Call,
    pub(crate) role: Role,
}

impl Meaning {
    pub(crate) fn of(word: &str, name: u32) -> Self {
        Self { name, time: waits::Call::of(word), role: Role::of(word) }
    }
}

impl Role {
    pub(crate) fn of(name: &str) -> Self {
        match name {
            "clone" | "clone2" | "clone3" | "fork" | "vfork" => Self::Fork,
            "execve" | "execveat" => Self::Exec,
            "exit" | "exit_group" | "_exit" => Self::Exit,
            "rt_sigreturn" | "sigreturn" => Self::Sigreturn,
            _ => Self::Other,
        }
    }
}
