//! Lines that are not system calls: signals, exits, strace's messages, summary tables.

pub(crate) mod classify;
pub(crate) mod lines;
pub(crate) mod message;
pub(crate) mod summary_table;
