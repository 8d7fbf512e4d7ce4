//! Records: the payload after the columns, and the row that becomes of both.

pub mod file_hints;
pub mod function;
pub mod payload;
pub(crate) mod payload_cache;
pub(crate) mod row;
pub mod scheduler;
