//! How files were used: one row per file.
//!
//! [`Files`] folds batches of events in order. It keeps exactly what the table needs: counters,
//! values with their counts ([`Values`]), unions of ranges ([`Ranges`]), and the end of each
//! description's last access. Memory grows with files, descriptions that moved data, and distinct
//! values and ranges. [`Covered`] computes unions of ranges alone, for any groups. [`Darshan`]
//! counts as Darshan's POSIX module does.

pub(crate) mod bursts;
pub(crate) mod by_phase;
pub(crate) mod darshan;
pub(crate) mod descriptions;
pub(crate) mod direction;
pub(crate) mod file_types;
pub(crate) mod fold;
pub(crate) mod index;
pub(crate) mod position;
pub(crate) mod row;
pub(crate) mod shared_bytes;
pub(crate) mod streams;
pub(crate) mod table;
pub(crate) mod word_classes;

pub use crate::tables::covered::Covered;
pub use crate::tables::ranges::Ranges;
pub use crate::tables::values::{Counted, Values};
pub use darshan::Darshan;
pub use fold::Files;

/// What a row of the table is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum By {
    /// A file.
    #[default]
    File,
    /// A file, as one process used it.
    Process,
    /// An open file description.
    Open,
    /// A file, as it was used in phases of one name.
    Phase,
}

/// Which access counts as the previous one when an access is classified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scope {
    /// The previous access through the same description, as in the events: what the program did.
    #[default]
    Stream,
    /// The previous access in the same row of the table, of any description: what the file saw.
    File,
}

/// Options of the table of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// What a row is about.
    pub by: By,
    /// Which access counts as the previous one.
    pub scope: Scope,
    /// How many bytes an access may skip and still be near.
    pub near: i64,
    /// Keep each size and duration, not only their sums. Without, medians, percentiles, the largest
    /// of them, the commonest request and the time in which calls overlapped are null where there
    /// were calls.
    pub distributions: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { by: By::File, scope: Scope::Stream, near: 131_072, distributions: true }
    }
}
