//! Lines that are not system calls: signals, exits, messages of strace, summary tables.

pub(crate) mod classify;
pub(crate) mod lines;
pub(crate) mod message;
pub(crate) mod summary_table;
