//! Descriptors and the open file descriptions that they refer to.

pub(crate) mod columns;
pub(crate) mod exchange;
pub(crate) mod fd_table;
pub(crate) mod number_in_use;
pub(crate) mod open;
pub(crate) mod scm_rights;
