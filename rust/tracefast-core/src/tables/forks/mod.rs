//! Tasks that were made: events in, one row per created task out.
//!
//! [`Forks`] folds batches of events in their order. A child may run, start a program and end
//! before the call that made it returns, so what is known of it is kept by task, and joined to the
//! call when that is known. Memory grows with tasks, not with events.

pub(crate) mod arguments;
pub(crate) mod births;
pub(crate) mod fold;
pub(crate) mod hints;
pub(crate) mod lives;
pub(crate) mod pipes;
pub(crate) mod startup;
pub(crate) mod table;
pub(crate) mod task;
pub(crate) mod tracer;
pub(crate) mod words;

pub use fold::Forks;
