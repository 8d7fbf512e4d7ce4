//! How files were used: events in, one row per file out.
//!
//! [`Uses`] folds batches of events in their order, and keeps what the table of files needs,
//! exactly: counters, values with their counts ([`Values`]), ranges in union ([`Ranges`]), where the
//! last access of each description ended. Memory grows with files, descriptions that moved data,
//! and distinct values and ranges. [`Covered`] is the union of ranges alone, by any group;
//! [`Darshan`] counts as Darshan's POSIX module does.

pub(crate) mod columns;
mod covered;
mod darshan;
mod entity;
mod fold;
mod place;
mod ranges;
mod shares;
mod streams;
mod table;
mod trails;
mod types;
mod values;
mod way;
pub(crate) mod words;

pub use covered::Covered;
pub use darshan::Darshan;
pub(crate) use fold::Names;
pub use fold::Uses;
pub use ranges::Ranges;
pub use table::schema;
pub use values::{Counted, Values};

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
