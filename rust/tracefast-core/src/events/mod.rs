//! The event: its schema, its vocabularies, and the rows of one block before they become Arrow
//! arrays.

pub mod details;
pub mod dictionary;
pub mod file_id;
pub mod open_calls;
pub mod parsed_block;
pub mod rows;
pub mod schema;
pub mod vocabulary;
