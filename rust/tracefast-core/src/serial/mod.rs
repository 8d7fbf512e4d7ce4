//! The serial stage: what can only be done in the order of the log.
//!
//! [`stream::Stream`] takes parsed blocks in order. It moves their times to the clock of the log
//! (`source_clock`), joins system calls whose halves are in different blocks (`join_across_blocks`,
//! with `traced_tasks` for lines without a pid), joins functions (`function_graph`), runs the model
//! of the kernel, and gives names their keys. The result is a [`resolved_block::ResolvedBlock`].

pub mod counts;
pub(crate) mod function_graph;
pub(crate) mod join_across_blocks;
pub mod pool;
pub mod resolved_block;
pub(crate) mod source_clock;
pub mod stream;
pub(crate) mod traced_tasks;
