//! Which system calls took the time: events in, one row per name of a call out.
//!
//! [`CallTable`] folds batches of events in their order, and keeps what the table needs, exactly:
//! counters, durations with how often each occurred, the stretches of time in which a call of that
//! name was in flight. Memory grows with names (and processes, where rows are parted by them), with
//! distinct durations, and with such stretches. [`TracerCounts`] counts as strace's own summary
//! (`-c`) does.

mod durations;
mod entry;
mod fold;
mod images;
mod incarnations;
mod table;
mod tasks;
mod tracer;
mod words;

pub use fold::CallTable;
pub use table::schema;
pub use tracer::TracerCounts;

/// What a row of the table is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum By {
    /// Calls of one name.
    #[default]
    Name,
    /// Calls of one name that one process made.
    Process,
}
