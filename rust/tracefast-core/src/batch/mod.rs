//! Arrow record batches of events, made of resolved blocks.

mod assemble;
mod error;
mod part;
pub mod predicate;
mod projection;
mod shared_arrays;
mod validity;

pub use assemble::{assemble, assemble_selected};
pub use error::ColumnError;
pub use part::Part;
pub use projection::Projection;

/// Rows of a full batch.
pub const BATCH_ROWS: usize = 8_192;
