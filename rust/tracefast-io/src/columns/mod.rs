//! Reads files of events back: their metadata, their batches.

pub mod metadata;
pub mod parquet_events;
