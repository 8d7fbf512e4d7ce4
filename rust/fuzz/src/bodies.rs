//! The bodies that need nothing but the pure part of tracefast.

#![allow(clippy::format_push_string)] // Nothing here is fast, all of it plain.

mod accounting;
mod agree;
mod agree_ftrace;
mod arguments;
mod decode_ftrace;
mod ftrace;
mod grammar;
mod graph_ftrace;
mod header_ftrace;
mod join;
mod join_ftrace;
mod log;
mod made;
mod made_ftrace;
pub mod mutants;
pub mod mutants_ftrace;
pub mod reference;
pub mod reference_ftrace;
mod unescape;

pub use accounting::accounting;
pub use agree::{Row, differs, pair, rows};
pub use agree_ftrace::compared as compared_ftrace;
pub use arguments::arguments;
pub use decode_ftrace::decode as ftrace_decode;
pub use ftrace::{ftrace, made as made_ftrace};
pub use grammar::grammar;
pub use graph_ftrace::graph as ftrace_graph;
pub use header_ftrace::header as ftrace_header;
pub use join::join;
pub use join_ftrace::join as ftrace_join;
pub use log::parse;
pub use unescape::unescape;
