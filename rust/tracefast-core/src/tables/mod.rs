//! Folds, which turn events in order into tables. Each table has its own module; shared parts are
//! here.

pub(crate) mod argument_parts;
pub(crate) mod busy_time;
pub(crate) mod covered;
pub(crate) mod distinct;
pub mod errors;
pub(crate) mod event_columns;
pub mod files;
pub mod flow;
pub mod fold;
pub mod forks;
pub mod memory;
pub(crate) mod merge;
pub(crate) mod names;
pub(crate) mod packed;
pub mod phases;
pub mod process_tracking;
pub mod processes;
pub(crate) mod ranges;
pub(crate) mod streams;
pub mod syscalls;
pub(crate) mod table_builder;
pub mod tallies;
#[cfg(test)]
mod tests;
pub(crate) mod values;
pub mod waits;
pub mod workers;

/// Takes one out of a list that has it once at most. Those that were added first usually go first.
fn take_out(list: &mut Vec<u32>, one: u32) {
    if let Some(at) = list.iter().position(|&other| other == one) {
        list.remove(at);
    }
}
