//! Text of strace and ftrace to events, events to Arrow: the pure part of tracefast.
//!
//! Nothing here opens a file, starts a thread or knows of Python. The stages of `docs/design.md`
//! are modules: a grammar ([`strace`], [`ftrace`]) makes [`parsed::Parsed`] of a [`block::Block`],
//! the rest puts blocks together in order.

mod alive;
pub mod batch;
pub mod block;
pub mod call_table;
pub mod calls;
pub mod detail;
pub mod dict;
pub mod errno;
pub mod event;
pub mod file_id;
pub mod fill;
pub mod find;
pub mod fold;
pub mod format;
pub mod ftrace;
pub mod graph;
pub mod kernel;
pub mod num;
pub mod parsed;
pub mod predicate;
pub mod processes;
pub mod rows;
pub mod scan;
pub mod schema;
pub mod spawns;
pub mod spawns_kind;
pub mod stitch;
pub mod strace;
pub mod stream;
pub mod survey;
pub mod syscall_names;
pub mod syscalls;
pub mod tally;
pub mod text;
pub mod uses;
pub mod view;
pub mod waits;
