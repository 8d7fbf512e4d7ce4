//! Tasks that were made: events in, one row per created task out.
//!
//! [`Spawns`] folds batches of events in their order. A child may run, start a program and end
//! before the call that made it returns, so what is known of it is kept by task, and joined to the
//! call when that is known. Memory grows with tasks, not with events.

mod births;
mod fold;
mod hints;
mod lives;
mod names;
mod pipes;
mod startup;
mod table;
mod task;
mod text;
mod tracer;
mod words;

pub use fold::Spawns;
pub use table::{hinted_schema, schema};
