//! Which processes ran: one row per process.
//!
//! [`Processes`] folds batches of events in order. [`process`](crate::tables::process_tracking)
//! knows the tasks, and which of them are one process; this module adds up what each of them did.

pub(crate) mod fold;
pub(crate) mod table;
#[cfg(test)]
mod tests;
pub(crate) mod word_classes;
pub(crate) mod work;

pub use fold::Processes;
