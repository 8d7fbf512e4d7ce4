//! The row of a record, and the file that an event within a call hints at.

pub(crate) mod file_hints;
pub(crate) mod row;
