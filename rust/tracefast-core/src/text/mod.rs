//! Bytes: blocks of whole lines, ends of lines, numbers, escapes, string views. Nothing about
//! Linux.

pub mod block;
pub mod escape;
pub(crate) mod number;
pub mod scan;
pub mod search;
pub mod string_view;
