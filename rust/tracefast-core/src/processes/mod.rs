//! Who ran: events in, one row per process out.
//!
//! [`Processes`] folds batches of events in their order. It keeps a record of each task; which of
//! them are threads of one process, and who made whom, is decided when all is known, as a child may
//! show itself before the call that made it returns. Memory grows with tasks and with the programs
//! that they started.

mod fold;
mod group;
mod images;
mod table;
mod task;
mod told;
mod words;

#[cfg(test)]
mod tests;

pub use fold::Processes;
pub use table::schema;
