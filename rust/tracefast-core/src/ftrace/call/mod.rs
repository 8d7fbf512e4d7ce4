//! System calls: entry and exit, paired to one row, with their arguments.

pub(crate) mod arguments;
pub(crate) mod callee;
pub(crate) mod entry_exit;
pub(crate) mod row;
