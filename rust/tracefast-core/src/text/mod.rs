//! Bytes: blocks of whole lines, where lines end, numbers, escapes, string views. Nothing of
//! Linux.

pub mod block;
pub mod escape;
pub(crate) mod number;
pub mod scan;
pub mod search;
pub mod string_view;
