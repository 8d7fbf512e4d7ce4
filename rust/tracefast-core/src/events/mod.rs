//! The event: its schema, its vocabularies, and the rows of one block before they become Arrow
//! arrays.

pub(crate) mod details;
pub(crate) mod dictionary;
pub mod file_id;
pub(crate) mod function_graph;
pub mod line_counts;
pub(crate) mod model_columns;
pub(crate) mod model_rows;
pub(crate) mod open_calls;
pub mod parsed_block;
pub mod rows;
pub mod schema;
pub mod split_calls;
pub mod vocabulary;
