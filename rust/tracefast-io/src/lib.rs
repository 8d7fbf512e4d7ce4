//! Sources, the pipeline and the sinks.

pub mod error;
pub mod explain;
pub mod footer;
mod groups;
pub mod merge;
pub mod packed;
pub mod pipeline;
pub mod report;
pub mod run;
pub mod saved;
pub mod seam;
pub mod sink;
pub mod source;
pub mod split;

pub use error::{Error, ErrorKind, Result};
