//! What is kept of a process that ended, and may be a worker.

use crate::tables::packed::Packed;
use crate::tables::process_tracking::launcher::StartMethod;
use crate::tables::workers::life::Ready;

/// Processes with the same maker that were started in the same way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Kin {
    /// The first task of the maker.
    pub(crate) maker: u32,
    pub(crate) method: StartMethod,
    /// The number of the form of its program; 0 of methods that have one.
    pub(crate) form: u32,
}

/// A process that may be a worker.
#[derive(Debug)]
pub(crate) struct Retired {
    /// Its first task.
    pub(crate) task: u32,
    pub(crate) kin: Kin,
    /// From the call that made it to its end, or the end of the log: times, or rows of a log without
    /// times.
    pub(crate) from: i64,
    pub(crate) to: i64,
    /// When it was ready for its first job.
    pub(crate) ready: Option<Ready>,
    /// Messages from its maker, if it has a channel for them.
    pub(crate) jobs: Option<u64>,
    /// What it got are jobs beyond doubt.
    pub(crate) sure: bool,
    pub(crate) bits: u64,
    pub(crate) listens: bool,
    /// The first tasks of others whose writing it reads, other than its maker.
    pub(crate) reads_from: Vec<u32>,
    pub(crate) wait_ns: Packed<i64>,
    pub(crate) files: u32,
    pub(crate) read_bytes: i64,
    pub(crate) shm_bytes: i64,
}
