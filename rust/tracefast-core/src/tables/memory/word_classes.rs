//! The meaning of the names of rows for the table of memory.

use crate::linux::syscalls::{Classes, Special, by_printed_name, shape};

/// What a row with a name is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// A call that changes an address space.
    Maps(Special),
    /// A call that makes a task.
    Forks,
    /// A call that starts a program.
    Execs,
    /// An event: a program was started.
    ExecEvent,
    /// An event: a task ended.
    ExitEvent,
    /// `rss_stat`.
    Rss,
    /// Another thread took the place of the task: no end of a process.
    Superseded,
    Other,
}

impl Meaning {
    pub(crate) fn from_name(word: &str) -> Self {
        let shape = shape(by_printed_name(word.as_bytes()));
        match (word, shape.special) {
            ("rss_stat", _) => Self::Rss,
            ("sched_process_exec", _) => Self::ExecEvent,
            ("sched_process_exit", _) => Self::ExitEvent,
            ("superseded", _) => Self::Superseded,
            (
                _,
                special @ (Special::Brk
                | Special::Mmap
                | Special::Mprotect
                | Special::Mremap
                | Special::Munmap),
            ) => Self::Maps(special),
            _ if shape.classes.has(Classes::FORKS) => Self::Forks,
            _ if shape.classes.has(Classes::EXECS) => Self::Execs,
            _ => Self::Other,
        }
    }
}
