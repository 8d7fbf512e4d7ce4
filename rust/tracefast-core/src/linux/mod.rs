//! Facts about Linux that both grammars, the model and the tables need: what system calls do and
//! what their arguments mean, error numbers, kinds of clone, which calls wait.

pub(crate) mod bpf;
pub(crate) mod child_status;
pub(crate) mod clone;
pub(crate) mod devices;
pub mod errno;
pub mod machine;
pub(crate) mod memory_calls;
pub(crate) mod rings;
pub(crate) mod rss_stat;
pub mod sockets;
pub mod syscalls;
pub(crate) mod task_events;
pub(crate) mod waits;

/// Ten years: longer than any machine runs, and so than any call or process lasts.
pub(crate) const LONGEST_NS: i64 = 3653 * 24 * 3600 * 1_000_000_000;
