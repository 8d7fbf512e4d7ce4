//! Who ran: events in, one row per process out.
//!
//! [`Processes`] folds batches of events in their order. [`process`](crate::tables::process) knows
//! the tasks, and which of them are one process; what each of them did is added up here.

pub(crate) mod fold;
pub(crate) mod table;
#[cfg(test)]
mod tests;
pub(crate) mod words;
pub(crate) mod work;

pub use fold::Processes;
