//! The pure part of tracefast: logs of strace and ftrace to events, events to Arrow, events to
//! tables. Nothing here opens a file, starts a thread or knows of Python.
//!
//! # From a line to a table
//!
//! 1. A [`text::block::Block`] holds whole lines of one log, padded so that vectors can be loaded
//!    at its ends.
//! 2. [`format::Format::detect`] finds out from the first lines what the log looks like.
//! 3. A worker parses each block without knowing the blocks before it. [`format::Grammar`] hands it
//!    to [`strace`] or [`ftrace`], which fill one [`events::parsed_block::Parsed`]: a row for each
//!    event ([`events::rows`]), and what only the order of the blocks can settle
//!    ([`events::split_calls`]).
//! 4. [`serial::stream::Stream`] takes the blocks in order. It joins calls whose halves are in
//!    different blocks, and runs the model of the kernel (`kernel`): tasks, descriptors, files and
//!    offsets as they were at each call. The result is a [`serial::resolved_block::ResolvedBlock`].
//! 5. [`batch::assemble`] makes an Arrow batch of parts of such blocks; texts stay where they are.
//! 6. The folds in [`tables`] read such batches, and make one table each.
//!
//! ```
//! use std::sync::Arc;
//!
//! use arrow_array::cast::AsArray;
//! use arrow_array::types::Int64Type;
//! use tracefast_core::batch::{Part, Projection, assemble};
//! use tracefast_core::format::{Format, Grammar};
//! use tracefast_core::serial::{pool::Pool, stream::Stream};
//! use tracefast_core::text::block::Block;
//!
//! let log = b"7 1700000000.000001 close(3) = 0 <0.000017>\n";
//! let format = Format::detect(log, None).expect("lines of strace");
//!
//! // In parallel:
//! let pool = Arc::new(Pool::default());
//! let (mut block, mut parsed) = (Block::from_text(log), pool.parsed());
//! Grammar::default().parse(&format, &mut block, &mut parsed);
//!
//! // In order:
//! let mut stream = Stream::new(pool);
//! stream.begin("log", format);
//! let block = Arc::new(stream.resolve(block, parsed));
//! let values = stream.values();
//!
//! // In parallel:
//! let parts: Vec<Part> =
//!     block.runs.iter().map(|rows| Part::new(Arc::clone(&block), rows.clone())).collect();
//! let batch = assemble(&parts, &Projection::default(), &values);
//! assert_eq!(batch["dur_ns"].as_primitive::<Int64Type>().value(0), 17_000);
//! ```
//!
//! The crate `tracefast-io` does this for files, with threads; `docs/design.md` says why it is
//! built this way.
//!
//! # The rooms
//!
//! A room uses only rooms above it in this list.
//!
//! | room | what it holds |
//! |---|---|
//! | [`text`] | bytes: blocks, ends of lines, numbers, escapes, string views |
//! | [`events`] | the event: schema, vocabularies, rows, dictionaries, what a parsed block has |
//! | [`linux`] | facts about Linux: what system calls do, errors, flags of clone, waiting |
//! | [`strace`], [`ftrace`] | the grammars; neither uses the other |
//! | `kernel` | the model of the kernel |
//! | [`format`] | one interface to the two grammars |
//! | [`other_tools`] | names what is no log of strace or ftrace |
//! | [`serial`] | what can only be done in the order of the log |
//! | [`batch`] | resolved blocks to Arrow batches, projections, predicates |
//! | [`tables`] | batches of events to tables: files, forks, syscalls, processes |
//! | [`export`] | events to timelines and flame graphs |

pub mod batch;
pub mod events;
pub mod export;
pub mod format;
pub mod ftrace;
pub(crate) mod hash;
pub(crate) mod kernel;
pub mod linux;
pub mod other_tools;
pub mod second_log;
pub mod serial;
pub mod strace;
pub mod tables;
pub mod text;
pub(crate) mod thin_vec;
