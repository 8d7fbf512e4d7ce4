//! The model of the traced system: tasks, tables of descriptors, open file descriptions, files,
//! working directories, private memory.
//!
//! It knows rows, not text: whatever grammar filled them. Rows come in the order of the log, with
//! the entries of split calls between them, so that each effect happens where the kernel let it
//! happen: descriptors are held and closed at entry, made at exit; transfers move the position of
//! their description at exit.

mod block_order;
mod block_rows;
mod calls;
mod common_rows;
pub(crate) mod descriptors;
pub(crate) mod files;
#[cfg(test)]
mod rules;
mod tasks;
pub(crate) mod transfers;

use crate::kernel::descriptors::messages::Messages;
use crate::kernel::descriptors::number_in_use::{Occupants, Waiting};
use crate::kernel::descriptors::open_file_description::DescriptionRef;
use crate::kernel::tasks::Tasks;
use crate::kernel::tasks::comm::Comms;
use crate::kernel::transfers::aio::Aio;

/// What the descriptors of a row lead to.
type Bound = [Option<DescriptionRef>; 2];

/// State of the system that one source's log tells of.
#[derive(Debug, Default)]
pub(crate) struct Kernel {
    tasks: Tasks,
    comms: Comms,
    messages: Messages,
    aio: Aio,
    block: u64,
    /// Pairs of sockets made so far.
    pairs: u32,
    /// The log shows files being closed, renamed: where it does not, it may be that only other
    /// calls were traced.
    closed: bool,
    renamed: bool,
    /// The logs of several tasks: ends of calls are known by their times only.
    cut: bool,
    waiting: Vec<Waiting>,
    occupants: Occupants,
}

impl Kernel {
    /// For a log, or with `cut` for those of several tasks that are one.
    pub(crate) fn new(cut: bool) -> Self {
        Self { cut, ..Self::default() }
    }
}
