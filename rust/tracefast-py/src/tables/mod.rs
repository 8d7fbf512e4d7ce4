//! The folds of the core as Python objects: batches of events in, one table out.

pub(crate) mod files;
pub(crate) mod forks;
pub(crate) mod held;
pub(crate) mod processes;
pub(crate) mod syscalls;
