//! Reads files of events back: their metadata, their batches.

pub(crate) mod arrow_layout;
pub mod metadata;
pub mod parquet_events;
