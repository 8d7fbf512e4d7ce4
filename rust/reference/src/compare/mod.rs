//! Rows of the parsers, and where they differ from those of the reference.

mod ftrace;
mod parsed_log;
mod strace;

pub use ftrace::compared as ftrace_differences;
pub use parsed_log::parse;
pub use strace::{Row, differs, pair, rows};
