//! Who waits for whom: one row per wait, who ended it, and who can never go on.
//!
//! [`Waits`] folds batches of events in order. It keeps what the live tasks share and hold
//! ([`world`]): address spaces and futexes, tables of descriptors, both ends of pipes, locks.
//! [`calls`] says what a call waits for, [`changes`] what a call changes, [`enders`] who ended a
//! wait. At the end, and when a signal ends waits by force, [`judge`] finds those that can never go
//! on, and why.

pub(crate) mod arguments;
mod calls;
mod changes;
mod connections;
mod enders;
mod fifos;
mod file_locks;
pub(crate) mod fold;
mod ipc;
mod judge;
mod off_cpu;
mod polls;
mod table;
pub(crate) mod wait;
pub(crate) mod word_classes;
mod world;

pub use fold::Waits;
