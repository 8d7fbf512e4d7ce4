//! Descriptors, and the open file descriptions that they refer to.
//!
//! `fd_table.rs` leads from number to description, `open_file_description.rs` is what is known of
//! one. Descriptors are made in `open.rs` and `between_processes.rs` (with the queue in
//! `messages.rs`). `same_description.rs` is about those that may be one, `number_in_use.rs` about
//! logs in several files, `rings.rs` about what `io_uring` does unseen. `columns.rs` shows
//! descriptions in rows, and checks annotations.

pub(crate) mod between_processes;
pub(crate) mod columns;
pub(crate) mod fd_table;
pub(crate) mod messages;
pub(crate) mod number_in_use;
pub(crate) mod open;
pub(crate) mod open_file_description;
pub(crate) mod rings;
pub(crate) mod same_description;
