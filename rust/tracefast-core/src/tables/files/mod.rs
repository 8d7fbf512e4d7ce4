//! How files were used: events in, one row per file out.
//!
//! [`Files`] folds batches of events in their order, and keeps what the table of files needs,
//! exactly: counters, values with their counts ([`Values`]), ranges in union ([`Ranges`]), where the
//! last access of each description ended. Memory grows with files, descriptions that moved data,
//! and distinct values and ranges. [`Covered`] is the union of ranges alone, by any group;
//! [`Darshan`] counts as Darshan's POSIX module does.

pub(crate) mod darshan;
pub(crate) mod descriptions;
pub(crate) mod direction;
pub(crate) mod file_types;
pub(crate) mod fold;
pub(crate) mod position;
pub(crate) mod row;
pub(crate) mod shared_bytes;
pub(crate) mod streams;
pub(crate) mod table;
pub(crate) mod words;

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
}

/// Which access is the one before, when an access is classified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scope {
    /// That of the same description, as the events say: what the program did.
    #[default]
    Stream,
    /// That of the same row of the table, whatever the description: what the file saw.
    File,
}

/// How the table of files is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// What a row is about.
    pub by: By,
    /// Which access is the one before.
    pub scope: Scope,
    /// Bytes that an access may skip and still be near.
    pub near: i64,
}

impl Default for Options {
    fn default() -> Self {
        Self { by: By::File, scope: Scope::Stream, near: 131_072 }
    }
}
