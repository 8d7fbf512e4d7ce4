//! How tasks were created: one row per created task.
//!
//! [`Forks`] folds batches of events in order. A child may run, start a program and exit before
//! the call that created it returns. So everything about a child is kept by task, and joined to the
//! call once that is known. Memory grows with tasks, not with events.

pub(crate) mod arguments;
pub(crate) mod births;
pub(crate) mod fold;
pub(crate) mod hints;
pub(crate) mod lives;
pub(crate) mod parents;
pub(crate) mod pids;
pub(crate) mod pipes;
pub(crate) mod startup;
pub(crate) mod table;
pub(crate) mod task;
pub(crate) mod tracer;
pub(crate) mod word_classes;

pub use fold::Forks;
