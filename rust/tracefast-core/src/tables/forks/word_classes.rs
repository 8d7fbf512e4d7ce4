//! The meaning of words in events for the table of forks.

use crate::linux::clone::is_unnamed_clone3;
use crate::linux::syscalls::{self, Classes, Special};
use crate::tables::names::Names;

/// A call that creates tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Maker(u16);

impl Maker {
    pub(crate) fn text(self) -> &'static str {
        syscalls::name(self.0)
    }

    pub(crate) fn is_clone3(self) -> bool {
        self.text() == "clone3"
    }
}

/// What a row does, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Act {
    /// Creates a task.
    Make(Maker),
    /// Starts a program.
    Exec,
    /// Waits for children and returns the id of one: `wait4`, `waitpid`.
    Wait,
    /// `waitid`.
    WaitId,
    /// Asks to end: `exit`, `exit_group`.
    End,
    /// `pipe2`.
    Pipe,
    /// `close`.
    Close,
    /// `dup`, `dup2`, `dup3`, `fcntl`.
    Dup,
    /// `read`.
    Read,
    /// Maps memory.
    Map,
    /// Unmaps memory.
    Unmap,
    /// Changes the protection of memory.
    Protect,
    /// `set_robust_list`.
    Robust,
    /// Another call that dynamic linkers make.
    Loader,
    /// `exited`: an end with a status.
    Exited,
    /// A signal, or an end by one; the number of its name.
    Signal(u32),
    /// `SIGCHLD`: a child changed its state.
    Chld,
    /// `task_newtask`.
    NewTask,
    /// `sched_process_fork`.
    Forked,
    /// `sched_process_exit`.
    Ended,
    /// `rss_stat`.
    Rss,
    /// Something else.
    Other,
}

impl Act {
    /// From the name of a row. Names of signals get numbers.
    pub(crate) fn from_name(name: &str, names: &mut Names) -> Self {
        let sys = match name {
            _ if is_unnamed_clone3(name) => syscalls::by_name(b"clone3"),
            _ => syscalls::by_name(name.as_bytes()),
        };
        if sys == syscalls::UNKNOWN {
            Self::from_event(name, names)
        } else {
            Self::from_syscall(sys)
        }
    }

    fn from_syscall(sys: u16) -> Self {
        let shape = syscalls::shape(sys);
        let is = |class| shape.classes.has(class);
        match syscalls::name(sys) {
            _ if is(Classes::FORKS) => Self::Make(Maker(sys)),
            _ if is(Classes::EXECS) => Self::Exec,
            "waitid" => Self::WaitId,
            _ if is(Classes::COLLECTS) => Self::Wait,
            _ if is(Classes::ENDS) => Self::End,
            "pipe2" => Self::Pipe,
            _ if is(Classes::CLOSES) => Self::Close,
            _ if is(Classes::DUPS) || shape.special == Special::Fcntl => Self::Dup,
            "read" => Self::Read,
            _ if is(Classes::MAPS) => Self::Map,
            _ if is(Classes::UNMAPS) => Self::Unmap,
            _ if is(Classes::PROTECTS) => Self::Protect,
            "set_robust_list" => Self::Robust,
            _ if is(Classes::LINKS) => Self::Loader,
            _ => Self::Other,
        }
    }

    /// From any name that is not a system call.
    fn from_event(name: &str, names: &mut Names) -> Self {
        match name {
            "exited" => Self::Exited,
            "SIGCHLD" => Self::Chld,
            "task_newtask" => Self::NewTask,
            "sched_process_fork" => Self::Forked,
            "sched_process_exit" => Self::Ended,
            "rss_stat" => Self::Rss,
            _ if name.starts_with("SIG") => Self::Signal(names.number(name)),
            _ => Self::Other,
        }
    }

    /// Whether dynamic linkers call it before the program starts.
    pub(crate) fn links(self) -> bool {
        matches!(
            self,
            Self::Map
                | Self::Unmap
                | Self::Protect
                | Self::Robust
                | Self::Loader
                | Self::Read
                | Self::Close
        )
    }
}

/// Why a call failed: the number of the error's name, and what matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Errno {
    pub(crate) name: u32,
    /// The kernel restarts it.
    pub(crate) restarts: bool,
    /// `ENOENT`.
    pub(crate) missing: bool,
}

impl Errno {
    pub(crate) fn from_name(word: &str, names: &mut Names) -> Self {
        Self {
            name: names.number(word),
            restarts: word.starts_with("ERESTART"),
            missing: word == "ENOENT",
        }
    }
}
