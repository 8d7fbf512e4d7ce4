//! What is done in the order of the blocks, and what prepares it or follows from it.

pub mod counts;
pub(crate) mod function_graph;
pub(crate) mod model_rows;
pub mod stream;
pub(crate) mod task_columns;
pub(crate) mod traced_tasks;
pub(crate) mod unfinished;
