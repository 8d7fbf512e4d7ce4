//! Records: the payload after the columns, and the row that becomes of both.

pub(crate) mod file_hints;
pub(crate) mod row;
