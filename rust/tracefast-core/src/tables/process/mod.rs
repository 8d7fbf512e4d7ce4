//! What a process is: which tasks are its threads, who made it, which programs it ran.
//!
//! Every table that asks this asks here, so that all of them say the same: [`tracker`] keeps a record
//! of each task, [`group`] decides which of them are one process, [`programs`] what it ran. Memory
//! grows with tasks and with the programs that they started.

pub(crate) mod group;
pub(crate) mod programs;
pub(crate) mod task;
pub(crate) mod tracker;
pub(crate) mod words;
