//! What the names of calls mean to the table of processes.

use crate::linux::waits;
use crate::tables::files::words::Act;

/// The meaning of a name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Meaning {
    /// How it moves data.
    pub(crate) act: Act,
    /// What it spends its time on.
    pub(crate) spent: waits::Call,
}

impl Meaning {
    pub(crate) fn of(word: &str) -> Self {
        Self { act: Act::of(word), spent: waits::Call::from_name(word) }
    }
}
