//! Folds: events in their order in, one table out. Each table has a room; what they share is here.

pub(crate) mod covered;
pub(crate) mod event_columns;
pub mod files;
pub mod fold;
pub mod forks;
pub mod processes;
pub(crate) mod ranges;
pub mod syscalls;
pub(crate) mod texts;
pub(crate) mod values;
