//! Text of strace and ftrace to events, events to Arrow: the pure part of tracefast.
//!
//! Nothing here opens a file, starts a thread or knows of Python. The stages of `docs/design.md`
//! are modules: a grammar ([`strace`], [`ftrace`]) makes [`events::parsed_block::Parsed`] of a [`text::block::Block`],
//! the rest puts blocks together in order.

pub mod batch;
pub mod events;
pub mod format;
pub mod ftrace;
pub(crate) mod hash;
pub(crate) mod kernel;
pub mod linux;
pub mod serial;
pub mod strace;
pub mod tables;
pub mod text;
