//! The folds of the core as Python classes.

pub(crate) mod covered;
pub(crate) mod errors;
pub(crate) mod export;
pub(crate) mod files;
pub(crate) mod flow;
pub(crate) mod fold;
pub(crate) mod fold_threads;
pub(crate) mod forks;
pub(crate) mod memory;
pub(crate) mod processes;
pub(crate) mod syscalls;
pub(crate) mod tallies;
pub(crate) mod waits;
pub(crate) mod workers;
