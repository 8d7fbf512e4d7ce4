//! Logs of strace cut by task (`-ff`), read as the one log that they are.

pub(crate) mod effect_time;
pub(crate) mod open_files;
pub(crate) mod reader;
pub(crate) mod task_logs;

pub use crate::input::merge::task_logs::{Input, Inputs, Set, inputs};
pub(crate) use reader::Merge;
