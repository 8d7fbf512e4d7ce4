//! Who ran: events in, one row per process out.
//!
//! [`Processes`] folds batches of events in their order. It keeps a record of each task; which of
//! them are threads of one process, and who made whom, is decided when all is known, as a child may
//! show itself before the call that made it returns. Memory grows with tasks and with the programs
//! that they started.

pub(crate) mod fold;
pub(crate) mod group;
pub(crate) mod images;
pub(crate) mod table;
pub(crate) mod task;
#[cfg(test)]
mod tests;
pub(crate) mod words;

pub use fold::Processes;
