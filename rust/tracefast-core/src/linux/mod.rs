//! Facts about Linux that both grammars, the model and the tables ask for: system calls and their
//! arguments, error numbers, flags of clone, which calls wait.

pub mod clone;
pub mod errno;
pub mod syscalls;
pub mod waits;
