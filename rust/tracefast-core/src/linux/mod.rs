//! Facts about Linux that both grammars, the model and the tables ask for: system calls and their
//! arguments, error numbers, flags of clone, which calls wait.

pub(crate) mod bpf;
pub(crate) mod clone;
pub mod errno;
pub(crate) mod syscalls;
pub(crate) mod waits;
