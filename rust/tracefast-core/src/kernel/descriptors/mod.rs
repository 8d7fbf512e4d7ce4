//! Descriptors and the open file descriptions that they refer to.

pub(crate) mod between_processes;
pub(crate) mod columns;
pub(crate) mod fd_table;
pub(crate) mod messages;
pub(crate) mod number_in_use;
pub(crate) mod open;
pub(crate) mod open_file_description;
