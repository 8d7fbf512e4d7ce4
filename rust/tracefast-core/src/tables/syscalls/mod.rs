//! Which system calls took the time: one row per name of a call.
//!
//! [`Syscalls`] folds batches of events in order. It keeps exactly what the table needs: counters,
//! durations with how often each occurred, and the ranges of time in which a call of that name was
//! in progress. Memory grows with names (and with processes or phases, if rows are split by them),
//! with distinct durations, and with such ranges. [`StraceCounts`] counts as strace's own summary (`-c`)
//! does.

pub(crate) mod by_phase;
pub(crate) mod durations;
pub(crate) mod fold;
pub(crate) mod row;
pub(crate) mod strace_counts;
pub(crate) mod table;
pub(crate) mod word_classes;

pub use crate::tables::syscalls::strace_counts::StraceCounts;
pub use fold::Syscalls;

/// What a row of the table is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum By {
    /// Calls of one name.
    #[default]
    Name,
    /// Calls of one name that one process made.
    Process,
    /// Calls of one name that began in phases of one name.
    Phase,
}
