//! Which processes are workers of a pool, how they were started, and what each of them did.
//!
//! [`Workers`] folds batches of events in order. [`program`] says which programs are
//! the same, [`channels`] who writes to what others read, [`framing`] where messages end, [`life`]
//! what one live process does as its [`calls`] show it, [`shared_reads`] what several of one pool read,
//! [`growth`] how their memory grew, and [`steps`] by how much with each job or with each of the
//! [`phases`] of their maker, [`batches`] which messages came from them. When a process ends, only what its row
//! needs is kept, and nothing of processes that can be no worker. At the end [`pools`] finds the
//! pools.

mod batches;
mod calls;
mod channels;
pub(crate) mod fold;
mod framing;
mod growth;
mod life;
mod phases;
mod pools;
mod program;
mod retired;
mod shared_reads;
mod steps;
pub(crate) mod table;
mod word_classes;

pub use fold::Workers;
pub use table::WorkerStarts;
