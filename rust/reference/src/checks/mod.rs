//! What the fuzz targets check, as plain functions of bytes: each panics where a promise is broken.
//!
//! `accounting`, `blocks` and `pipeline` take any log; the others make a log from the bytes, so
//! that they know what every row must say.

mod accounting;
mod blocks;
mod ftrace_calls;
mod ftrace_fields;
mod ftrace_functions;
mod ftrace_headers;
mod ftrace_logs;
mod pipeline;
mod rows;
mod strace_arguments;
mod strace_escapes;
mod strace_halves;
mod strace_lines;
mod tables;

pub use accounting::{accounting, invariants};
pub use blocks::blocks;
pub use ftrace_calls::ftrace_calls;
pub use ftrace_fields::ftrace_fields;
pub use ftrace_functions::ftrace_functions;
pub use ftrace_headers::ftrace_headers;
pub use ftrace_logs::{ftrace_logs, made as made_ftrace_log};
pub use pipeline::pipeline;
pub use strace_arguments::strace_arguments;
pub use strace_escapes::strace_escapes;
pub use strace_halves::strace_halves;
pub use strace_lines::strace_lines;
