//! Folds: events in their order in, one table out. Each table has a room; what they share is here.

pub(crate) mod covered;
pub(crate) mod event_columns;
pub mod files;
pub mod fold;
pub mod forks;
pub(crate) mod names;
pub(crate) mod process;
pub mod processes;
pub(crate) mod ranges;
pub mod syscalls;
pub(crate) mod table_builder;
#[cfg(test)]
mod tests;
pub(crate) mod values;
