//! The lines of the `function_graph` tracer: columns, then a function, its end, or a comment.
//!
//! Which columns there are is the reader's choice (`funcgraph-abstime`, `-cpu`, `-proc`,
//! `-duration`, `latency-format` …), so each line is read by what it shows.

pub(crate) mod body;
pub(crate) mod line;
pub(crate) mod rows;
pub(crate) mod separators;
#[cfg(test)]
mod tests;
pub(crate) mod trace_cmd;

#[cfg(test)]
pub(crate) use body::GraphEvent;
pub(crate) use line::parse;
pub(crate) use separators::{Separator, separator};
pub(crate) use trace_cmd::parse as parse_record;

/// Longest name of a function: twice what the kernel's table of symbols holds (`KSYM_NAME_LEN`), so
/// that repeating a caller's name after each of its functions cannot turn little text into much.
const NAME: usize = 1024;
