//! Bytes: blocks of whole lines, ends of lines, numbers, escapes, string views. Nothing about
//! Linux.

pub mod block;
pub(crate) mod colour;
pub mod escape;
pub(crate) mod number;
pub(crate) mod parts;
pub mod prefix;
pub mod scan;
pub mod search;
pub(crate) mod stamp;
pub mod string_view;
pub(crate) mod typeset;
