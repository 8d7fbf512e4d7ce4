//! Which calls failed: counts by program, call, error and path.
//!
//! [`FailedCalls`] folds batches of events in order. Which program a process ran last is known at the
//! end of the log. Until then, calls are counted by task, and failed ones also by error and path:
//! memory grows with tasks and with what each of them failed at; [`paths`] bounds the paths.

pub(crate) mod fold;
pub(crate) mod paths;

pub use fold::FailedCalls;
