//! Sources, the pipeline and the sinks.

pub mod columns;
pub mod error;
pub mod explain;
pub mod input;
pub mod pipeline;
pub mod report;
pub mod run;
pub mod sink;

pub use error::{Error, ErrorKind, Result};
