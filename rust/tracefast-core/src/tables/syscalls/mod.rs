//! Which system calls took the time: events in, one row per name of a call out.
//!
//! [`Syscalls`] folds batches of events in their order, and keeps what the table needs, exactly:
//! counters, durations with how often each occurred, the stretches of time in which a call of that
//! name was in flight. Memory grows with names (and processes, where rows are parted by them), with
//! distinct durations, and with such stretches. [`StraceCounts`] counts as strace's own summary
//! (`-c`) does.

pub(crate) mod durations;
pub(crate) mod fold;
pub(crate) mod row;
pub(crate) mod strace_counts;
pub(crate) mod table;
pub(crate) mod words;

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
}
