//! What is done in the order of the blocks, and what prepares it or follows from it.

pub mod counts;
pub mod function_graph;
pub mod model_rows;
pub mod stream;
pub mod task_columns;
pub(crate) mod traced_tasks;
pub mod unfinished;
