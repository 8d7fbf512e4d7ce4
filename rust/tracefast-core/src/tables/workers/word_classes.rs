//! The meaning of words in events for the table of workers.

use crate::linux::waits::{CallTime, Giver};
use crate::tables::waits::word_classes::Act;

/// The meaning of the name of a call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Meaning {
    /// What it does.
    pub(crate) act: Act,
    /// What its time is spent on.
    pub(crate) time: CallTime,
    /// It is the event of a page fault.
    pub(crate) faults: bool,
    /// One of 64 groups of calls, so that a set of them fits into a word.
    pub(crate) bit: u64,
}

impl Meaning {
    pub(crate) fn from_name(name: &str) -> Self {
        use std::hash::BuildHasher;
        Self {
            act: Act::from_name(name),
            time: CallTime::from_name(name),
            faults: matches!(name, "page_fault_user" | "page_fault_kernel"),
            bit: 1 << (crate::hash::Hasher::default().hash_one(name) % 64),
        }
    }

    /// Whether it waits on several descriptors until one of them has something.
    pub(crate) fn watches(self) -> bool {
        matches!(self.act, Act::Poll | Act::Select | Act::EpollWait)
    }
}

/// What a descriptor refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Held {
    pub(crate) giver: Giver,
    /// It is a character device, which is no file with contents of its own.
    pub(crate) device: bool,
}

impl Held {
    pub(crate) fn from_file_type(file_type: &str) -> Self {
        let giver = Giver::from_file_type(file_type);
        Self { giver, device: giver == Giver::Device }
    }
}
