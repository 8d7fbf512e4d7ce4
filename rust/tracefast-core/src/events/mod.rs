//! The event: its schema and vocabularies, and what a parsed block has before its rows become Arrow
//! arrays.
//!
//! The types that pass from a grammar to the serial stage are here, so that neither needs to know
//! the other: [`parsed_block`] has all of them together.

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
