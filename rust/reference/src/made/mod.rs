//! Logs made from bytes: each choice is a byte, and what every row must say is known.

pub(crate) mod ftrace;
pub(crate) mod strace;
