//! What is done in the order of the blocks, and what prepares it or follows from it.

pub mod counts;
pub(crate) mod function_graph;
pub mod pool;
pub mod resolved_block;
pub(crate) mod source_clock;
pub mod stream;
pub(crate) mod traced_tasks;
pub(crate) mod unfinished;
