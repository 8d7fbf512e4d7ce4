//! Reads logs into batches and writes them to files: the part of tracefast that needs an operating
//! system.
//!
//! [`input`] opens the logs (files, pipes, compressed logs, the logs of one run cut by task) and
//! cuts them into blocks of whole lines. [`pipeline`] has the threads: N workers parse blocks with
//! the grammars of `tracefast-core`, one at a time runs the stages that need the order of the log,
//! and all encode rows. [`sink`] writes them: Parquet or Arrow IPC, a whole file or none.
//! [`parse`](mod@parse) puts these together into a file, [`read`] into a stream of batches.
//! [`columns`] reads files of events back. [`report`] says what was read, [`explain`] what was
//! expected on lines that were not understood.

pub mod columns;
pub mod error;
pub mod explain;
pub mod input;
pub mod open;
pub mod parse;
pub mod pipeline;
pub mod read;
pub mod report;
pub mod sink;

pub use error::{Error, ErrorKind, Result};
