//! Which way data goes: who read what, who wrote what, and what part each file has in the run.
//!
//! Two tables come out of one fold. The nodes ([`nodes`]) are files, pipes, sockets and shared memory
//! by their names; the edges ([`edges`]) lead from nodes to processes and back, or from one name of a
//! file to another. What a row does is decided in [`graph`] and [`file_calls`], with the addresses of
//! sockets in [`sockets`], and memory without a file in [`shared_memory`]. At the end [`table`] names
//! the processes, and [`roles`] says what each file was for.

pub(crate) mod edges;
pub(crate) mod file_calls;
pub(crate) mod file_names;
pub(crate) mod fold;
pub(crate) mod graph;
pub(crate) mod nodes;
pub(crate) mod process_names;
pub(crate) mod roles;
pub(crate) mod shared_memory;
pub(crate) mod sockets;
pub(crate) mod table;
pub(crate) mod word_classes;

pub use fold::{Flow, Roles};

/// What the processes of the table are called by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum By {
    /// Each process is one.
    #[default]
    Process,
    /// All processes that ran one program are one.
    Image,
    /// All processes of one phase are one.
    Phase,
}
