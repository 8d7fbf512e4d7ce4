//! What is live: tasks, and what they share and hold.

pub(crate) mod acts;
pub(crate) mod descriptors;
pub(crate) mod ends;
pub(crate) mod epoll;
pub(crate) mod fifos;
pub(crate) mod ipc;
pub(crate) mod leases;
pub(crate) mod locks;
pub(crate) mod signals;
pub(crate) mod sockets;
pub(crate) mod spaces;
pub(crate) mod tasks;
pub(crate) mod wakes;
